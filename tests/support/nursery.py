"""Runs of trainform that can be killed: each is forked from one process that has everything imported."""

from __future__ import annotations

import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from support.inject import Calls, Fault, arm, disarm, obey_modes

KILLED = -signal.SIGKILL
PATIENCE = 60
"""Seconds after which a run counts as one that never ends, and is ended by SIGALRM."""
STEPS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link")
"""Audit events of what changes a disk. `open` counts where it is for writing."""


_PATH = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
"""The runs import what this process imports, although they start in another folder."""
PATIENCE = 60
"""Seconds that a run may take; then SIGALRM ends it."""


class Ended(NamedTuple):
    """Exit code (negative: the signal) and everything that was printed. `calls`: how many system calls the fault could
    have hit; unknown after a kill."""

    code: int
    output: str
    calls: int = 0


class Nursery:
    """`run` forks a run in a folder; it is killed before the `kill_at`th change of the disk, or after `kill_after`
    seconds, where those are given. `swap` False takes renameat2 away from it, `fault` needs the library of
    `support.inject`, and `modes` makes root obey the modes of files."""

    def __init__(self, library: Path | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
            env=os.environ | _PATH | ({"LD_PRELOAD": str(library)} if library else {}),
        )

    def __enter__(self) -> Nursery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def run(
        self,
        folder: Path,
        *arguments: str,
        kill_at: int = 0,
        kill_after: float = 0,
        swap: bool = True,
        fault: Fault | None = None,
        modes: bool = False,
    ) -> Ended:
        order = {"arguments": arguments, "folder": str(folder), "at": kill_at, "after": kill_after, "swap": swap}
        order |= {"fault": fault, "modes": modes}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Ended(*json.loads(self._process.stdout.readline()))


def _serve() -> None:
    from trainform.cli.main import run

    _warm_up()
    for line in sys.stdin:
        order = json.loads(line)
        reading, writing = os.pipe()
        calls = mmap.mmap(-1, _NUMBER.size)
        child = os.fork()
        if child == 0:
            _child(order, run, writing, calls)
        os.close(writing)
        if order["after"]:
            time.sleep(order["after"])
            os.kill(child, signal.SIGKILL)
        with open(reading, encoding="utf-8", errors="replace") as output:
            text = output.read()
        _, status = os.waitpid(child, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), text, *_NUMBER.unpack(calls)]), flush=True)


def _warm_up() -> None:
    """Imports, and makes once, what every run needs."""
    from support.repositories import environment, job, runtime
    from trainform import compile_stream
    from trainform.cli.commands import check, diff, render, upgrade, validate  # noqa: F401
    from trainform.workspace.build import build  # noqa: F401
    from trainform.workspace.verify.verification import verify  # noqa: F401

    compile_stream("---\n".join([environment(naming="content-hash"), runtime(), job("llm")]))


_NUMBER = struct.Struct("q")


def _child(order: dict[str, Any], run: Any, output: int, calls: mmap.mmap) -> None:
    signal.alarm(PATIENCE)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(order["folder"])
    signal.alarm(PATIENCE)
    if not order["swap"]:
        from trainform.io import exchange

        exchange._renameat2 = lambda: None  # type: ignore[assignment]
    if order["at"]:
        _kill_before(order["at"])
    if order["modes"]:
        obey_modes()
    if order["fault"]:
        arm(_fault(*order["fault"]))
    code = run(order["arguments"])
    if order["fault"]:
        calls[:] = _NUMBER.pack(disarm())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _fault(below: str, calls: int, at: int, error: int, stays: bool) -> Fault:
    return Fault(below, Calls(calls), at, error, stays)


def _kill_before(step: int) -> None:
    left = [step]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in STEPS or (event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            return
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


if __name__ == "__main__":
    _serve()
