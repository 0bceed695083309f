"""Runs of trainform that can be killed: each is forked from one process that has everything imported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

KILLED = -signal.SIGKILL
PATIENCE = 60
"""Seconds after which a run counts as one that never ends, and is ended by SIGALRM."""
STEPS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link")
"""Audit events of what changes a disk. `open` counts where it is for writing."""


class Ended(NamedTuple):
    """Exit code (negative: the signal) and everything that was printed."""

    code: int
    output: str


class Nursery:
    """`run` forks a run in a folder; it is killed before the `kill_at`th change of the disk, or after
    `kill_after` seconds, where those are given. `swap` False takes renameat2 away from it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
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
    ) -> Ended:
        order = {"arguments": arguments, "folder": str(folder), "at": kill_at, "after": kill_after, "swap": swap}
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
        child = os.fork()
        if child == 0:
            _child(order, run, writing)
        os.close(writing)
        if order["after"]:
            time.sleep(order["after"])
            os.kill(child, signal.SIGKILL)
        with open(reading, encoding="utf-8", errors="replace") as output:
            text = output.read()
        _, status = os.waitpid(child, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), text]), flush=True)


def _warm_up() -> None:
    """Imports, and makes once, what every run needs."""
    from support.repositories import environment, job, runtime
    from trainform import compile_stream
    from trainform.cli.commands import check, render, upgrade  # noqa: F401
    from trainform.workspace.build import build  # noqa: F401
    from trainform.workspace.verify.verification import verify  # noqa: F401

    compile_stream("---\n".join([environment(naming="content-hash"), runtime(), job("llm")]))


def _child(order: dict[str, Any], run: Any, output: int) -> None:
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(order["folder"])
    signal.alarm(PATIENCE)
    if not order["swap"]:
        from trainform.io import exchange

        exchange._renameat2 = lambda: None  # type: ignore[assignment]
    if order["at"]:
        _kill_before(order["at"])
    code = run(order["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


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
