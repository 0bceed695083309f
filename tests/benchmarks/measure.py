"""Whole processes, measured in rounds: all of a group take turns, and the best of each counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launcher.py")
REFERENCE = "reference loop"
SETTINGS_OF_PYTHON = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")


@dataclass(frozen=True, slots=True)
class Taken:
    """What a process took: `wall` and `cpu` in seconds, `memory` in bytes.

    `cpu` is user and system time with that of all children; `memory` is the peak of the largest single process,
    children included. `loops` is `cpu` in reference loops that ran just before and just after; 0 where none did.
    """

    wall: float
    cpu: float
    memory: int = 0
    loops: float = 0


# What was measured: by group (such as "mixed-1000") and by name.
Figures = dict[str, dict[str, Taken]]


class MeasuredProcessFailed(Exception):
    """A process that is measured ended with an exit code that is not right; the message holds what it said."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where measured processes run: the interpreter that trainform is installed for, and a folder for files."""

    python: Path
    scratch: Path

    def trainform(self, root: Path, *arguments: str, codes: Sequence[int] = (0,)) -> Taken:
        return self.run([str(self.python.with_name("trainform")), *arguments], root, codes=codes)

    def reference_loop(self) -> Taken:
        return self.run([str(self.python), str(Path(__file__).with_name("reference_loop.py"))], self.scratch)

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        stdin: Path = Path(os.devnull),
        stdout: Path | None = None,
        codes: Sequence[int] = (0,),
    ) -> Taken:
        """Runs a command in a folder, its output going to a file; `command[0]` is a path."""
        printed, told = stdout or self.scratch / "stdout", self.scratch / "stderr"
        files = {"stdin": str(stdin), "stdout": str(printed), "stderr": str(told)}
        request = json.dumps({"command": list(command), "folder": str(folder), "codes": list(codes), **files})
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), request]
        ran = subprocess.run(launcher, capture_output=True, text=True, check=False, env=environment())
        if ran.returncode:
            said = told.read_text(errors="replace")[-2000:] if told.exists() else ""
            raise MeasuredProcessFailed(f"{' '.join(command)}: {ran.stderr.strip()}\n{said}")
        return Taken(**json.loads(ran.stdout))


def environment() -> dict[str, str]:
    """The variables of a measured process: nothing that changes Python, and no configuration of git."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS_OF_PYTHON}
    return {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def in_turns(rounds: int, steps: Mapping[str, Callable[[], Taken]], title: str = "") -> dict[str, Taken]:
    """All steps once in each round, and the best of each: what disturbs one disturbs all."""
    return best([one_round(steps, f"{title}, round {number + 1} of {rounds}") for number in range(rounds)])


def one_round(steps: Mapping[str, Callable[[], Taken]], title: str) -> dict[str, Taken]:
    """All steps once. Where the reference loop is the first of them, it runs again after each: the speed of a shared
    machine changes within seconds, so only what ran beside a step is a measure of it."""
    taken: dict[str, Taken] = {}
    loops = []
    for name, step in steps.items():
        taken[name] = step()
        tell(f"{title}: {name}: {taken[name].wall * 1000:,.0f} ms")
        if REFERENCE in taken:
            loops.append(taken[name] if name == REFERENCE else steps[REFERENCE]())
            beside = [loop.cpu for loop in loops[-2:]]
            taken[name] = replace(taken[name], loops=taken[name].cpu / (sum(beside) / len(beside)))
    return {**taken, **({REFERENCE: _best(loops)} if loops else {})}


def best(rounds: Sequence[Mapping[str, Taken]]) -> dict[str, Taken]:
    """The least wall time, the least CPU time, also in loops, and the most memory of each name."""
    names = dict.fromkeys(name for each in rounds for name in each)
    return {name: _best([each[name] for each in rounds if name in each]) for name in names}


def _best(taken: Sequence[Taken]) -> Taken:
    wall, cpu, memory, loops = ([getattr(each, name) for each in taken] for name in ("wall", "cpu", "memory", "loops"))
    return Taken(min(wall), min(cpu), max(memory), min(filter(None, loops), default=0))


def tell(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)
