"""A command that goes on until somebody ends it, as a process in a session of its own, like in a terminal."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

PATIENCE = 120
"""Seconds to wait for a line: machines may be busy."""


@contextmanager
def _interrupts_heard() -> Iterator[None]:
    """A shell that starts tests in the background makes them ignore Ctrl-C, and with them whatever they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Watch:
    """`output` is what it printed so far, standard error included."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.output = ""
        self._lines: queue.Queue[str | None] = queue.Queue()
        with _interrupts_heard():
            self._process = subprocess.Popen(
                [sys.executable, "-m", "trainform", *arguments],
                cwd=folder,
                env=os.environ | {"PYTHONUNBUFFERED": "1"} | environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="surrogateescape",
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join(PATIENCE)

    def wait_for(self, text: str) -> str:
        """What is printed from now on, up to and with the line that has this text."""
        told, end = "", time.monotonic() + PATIENCE
        while text not in told:
            line = self._next(end, told)
            assert line is not None, f"ended without {text!r}:\n{self.output}"
            told += line
        return told

    def press_ctrl_c(self) -> tuple[int, str]:
        """As a terminal does it: every process of the foreground hears of it. See `ended`."""
        os.killpg(self._process.pid, signal.SIGINT)
        return self.ended()

    def interrupt(self) -> tuple[int, str]:
        """As `kill -INT` does it. See `ended`."""
        self._process.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """The exit code, and what else was printed, once all processes that could print have ended."""
        told, end = "", time.monotonic() + PATIENCE
        while (line := self._next(end, told)) is not None:
            told += line
        return self._process.wait(PATIENCE), told

    def _next(self, end: float, told: str) -> str | None:
        try:
            line = self._lines.get(timeout=max(0, end - time.monotonic()))
        except queue.Empty:
            raise AssertionError(f"nothing more within {PATIENCE} s:\n{self.output}") from None
        self.output += line or ""
        return line

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(None)
