"""The command line in a process of its own, with what it takes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, NamedTuple

from fuzz.process import Machine

SECONDS = 10
PROCESSORS = 2
"""Streams are compiled by one process per processor: ten seconds are those of two."""

MEGABYTES = 500
_KILLED_AT = 60
"""Seconds of processor time: a quadratic run need not end."""


_LIMITED = f"""
import json, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, ({_KILLED_AT}, {_KILLED_AT}))
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
code = subprocess.run([sys.executable, "-m", "trainform", *sys.argv[2:]]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024], file)
"""
"""Runs the command in a small process: the kernel counts the memory of whoever starts a process as that process's."""


class Taken(NamedTuple):
    code: int
    out: bytes
    err: bytes
    seconds: float
    """Processor time, as on the machine whose reference loop takes REFERENCE: a busy one changes little."""
    megabytes: float

    @property
    def is_bounded(self) -> bool:
        return self.seconds <= SECONDS * PROCESSORS and self.megabytes <= MEGABYTES


def trainform(*arguments: str | bytes, stdin: str | bytes = b"", folder: Path | None = None) -> Taken:
    """Run a command line; `folder` is the current folder."""
    data = stdin.encode(errors="surrogatepass") if isinstance(stdin, str) else stdin
    with tempfile.NamedTemporaryFile("r") as told, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        command = [sys.executable, "-c", _LIMITED, told.name, *arguments]
        before = Machine().slowness
        subprocess.run(command, cwd=folder, input=data, stdout=out, stderr=err, check=True)
        code, seconds, megabytes = json.load(told)
        return Taken(code, _read(out), _read(err), seconds / max(before, Machine().slowness), megabytes)


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
