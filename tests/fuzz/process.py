"""Runs command lines in forked processes: as fast as in this one, and with nothing left behind."""

from __future__ import annotations

import hashlib
import io
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from fuzz.case import Step
from fuzz.place import Place

CPU_LIMIT = 2.0
"""Seconds of CPU time that a command may take on the machine whose reference loop takes REFERENCE."""

MEMORY_LIMIT = 500 * 2**20
HANG = 10.0
"""Seconds of wall-clock time, times the machine's slowness, after which a forked command is ended."""

HANG_FROM_START = 60.0
"""The same where a new interpreter first imports everything, perhaps from a cold disk."""

REFERENCE = 0.060
"""CPU seconds of the reference loop on the machine where CPU_LIMIT was set."""

_ADDRESS_SPACE = 3 * 2**30
"""A command that wants that much more than this process has fails, rather than the machine."""


class Ran(NamedTuple):
    """What a command did. `seconds` are of CPU time, as on the reference machine; `hung` says that it was ended."""

    code: int
    out: bytes
    err: bytes
    seconds: float
    memory: int
    hung: bool = False


class Machine:
    """How slow this machine is now: 1 for the reference machine or a faster one."""

    def __init__(self) -> None:
        self.slowness = 1.0
        self._measured = 0.0
        self.measure()

    def measure(self) -> None:
        """Measure again if that was more than ten seconds ago: other work comes and goes."""
        if time.monotonic() - self._measured < 10:
            return
        start = time.process_time()
        _reference_loop()
        self.slowness = max(1.0, (time.process_time() - start) / REFERENCE)
        self._measured = time.monotonic()


def _reference_loop() -> None:
    digest = hashlib.sha256()
    for number in range(1_500):
        tree = {f"key-{index}": [number, str(index), {"name": f"n{number}-{index}"}] for index in range(12)}
        digest.update(json.dumps(tree, sort_keys=True).encode())


def run_forked(step: Step, place: Place, machine: Machine) -> Ran:
    """Run a command line in a fork of this process, which has imported trainform."""
    variables = {**place.variables(), **step.variables}

    def command() -> None:
        from trainform.cli.main import main

        sys.argv = ["trainform", *step.arguments]
        main()

    return _forked(command, place.root, step.stdin, variables, machine)


def run_started(step: Step, place: Place, machine: Machine) -> Ran:
    """Run a command line as a user does, in a new interpreter."""
    variables = {**place.variables(), **step.variables}
    command = [sys.executable, "-m", "trainform", *step.arguments]
    start, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    given = step.stdin.encode(errors="surrogateescape")
    try:
        done = subprocess.run(
            command,
            cwd=place.root,
            env=variables,
            input=given,
            capture_output=True,
            timeout=HANG_FROM_START * machine.slowness,
        )
    except subprocess.TimeoutExpired:
        return Ran(-1, b"", b"", time.monotonic() - start, 0, True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used
    return Ran(done.returncode, done.stdout, done.stderr, seconds / machine.slowness, 0)


def _forked(
    command: Callable[[], None], folder: Path, stdin: str, variables: Mapping[str, str], machine: Machine
) -> Ran:
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode(errors="surrogateescape"))
        given.seek(0)
        sys.stdout.flush()
        inherited = _memory()
        child = os.fork()
        if child == 0:
            _become(command, folder, variables, (given.fileno(), out.fileno(), err.fileno()), inherited)
        hung = not _ends(child, HANG * machine.slowness)
        if hung:
            os.killpg(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        seconds = (usage.ru_utime + usage.ru_stime) / machine.slowness
        memory = max(usage.ru_maxrss * 1024 - inherited.private, 0)
        return Ran(code, out.read(), err.read(), seconds, memory, hung)


class Memory(NamedTuple):
    """Bytes: `space` of addresses, and `private`, the resident ones that a fork shares (not the pages of files)."""

    space: int
    private: int


def _memory() -> Memory:
    space, resident, of_files = map(int, Path("/proc/self/statm").read_text().split()[:3])
    page = resource.getpagesize()
    return Memory(space * page, (resident - of_files) * page)


def _ends(child: int, seconds: float) -> bool:
    handle = os.pidfd_open(child)
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def _become(
    command: Callable[[], None],
    folder: Path,
    variables: Mapping[str, str],
    streams: tuple[int, int, int],
    inherited: Memory,
) -> NoReturn:
    """Be the command: its streams, its folder, its environment, its limits. Never returns."""
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 256)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        tempfile.tempdir = None
        space = inherited.space + _ADDRESS_SPACE
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(open(number, mode, closefd=False), encoding="utf-8")  # noqa: SIM115 - ends with us
            for number, mode in enumerate(("rb", "wb", "wb"))
        )
        command()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    os._exit(99)
