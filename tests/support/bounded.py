"""The command line in a process of its own, with what it takes."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, NamedTuple

SECONDS = 10
MEGABYTES = 500
_KILLED_AT = 30
"""Seconds of processor time: a quadratic run need not end."""


class Taken(NamedTuple):
    code: int
    out: bytes
    err: bytes
    seconds: float
    """Processor time, so that a busy machine changes nothing."""
    megabytes: float

    @property
    def is_bounded(self) -> bool:
        return self.seconds <= SECONDS and self.megabytes <= MEGABYTES


def trainform(*arguments: str | bytes, stdin: str | bytes = b"", folder: Path | None = None) -> Taken:
    """Run a command line; `folder` is the current folder."""
    data = stdin.encode(errors="surrogatepass") if isinstance(stdin, str) else stdin
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(data)
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", "trainform", *arguments],
            cwd=folder,
            stdin=given,
            stdout=out,
            stderr=err,
            preexec_fn=_limit,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        return Taken(process.returncode, _read(out), _read(err), seconds, megabytes)


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_KILLED_AT, _KILLED_AT))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
