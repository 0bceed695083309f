"""Make one system call of a run fail, or kill the run at it: the Python side of inject.c."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from enum import IntFlag
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("inject.c")


class Calls(IntFlag):
    """Kinds of system calls, with the numbers of inject.c. A call may be of two kinds."""

    OPENS = 1  # takes a file descriptor
    LOOKS = 2  # stat, access
    READS = 4  # the contents of a file or a folder
    CREATES = 8  # a name: new files, folders, links, renamed ones
    WRITES = 16  # the contents of a file, its mode or its times
    REMOVES = 32
    LOCKS = 64

    CHANGES = CREATES | WRITES | REMOVES
    NAMES = OPENS | LOOKS | CREATES | REMOVES
    ANY = OPENS | LOOKS | READS | CREATES | WRITES | REMOVES | LOCKS


class Fault(NamedTuple):
    """The `at`th call (from 1) of some kinds fails with the number `error`, or is not survived if that is 0. `stays`:
    all later ones fail, too. Only calls about files in `below` count."""

    below: str
    calls: Calls
    at: int
    error: int = 0
    stays: bool = False


def reason_against() -> str:
    """Why faults cannot be injected here; empty if they can."""
    if not sys.platform.startswith("linux"):
        return "faults are injected with LD_PRELOAD, which needs Linux"
    return "" if _compiler() else "faults are injected by a library in C, and no C compiler is installed here"


def build_library(folder: Path) -> Path:
    """The library to load with LD_PRELOAD, compiled into a folder."""
    library = folder / "inject.so"
    command = [_compiler(), "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


def _compiler() -> str:
    return shutil.which("cc") or shutil.which("gcc") or ""


def arm(fault: Fault) -> None:
    """From now on, calls of this process count."""
    _loaded().fault_arm(os.fsencode(fault.below), int(fault.calls), ctypes.c_long(fault.at), fault.error, fault.stays)


def disarm() -> int:
    """No more calls count. How many did, up to here."""
    library = _loaded()
    counted: int = library.fault_counted()
    library.fault_arm(b"", 0, ctypes.c_long(0), 0, False)
    return counted


def _loaded() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.fault_counted.restype = ctypes.c_long
    return library


def obey_modes() -> None:
    """Root ignores the modes of files; without these capabilities, it and its child processes obey them."""
    if os.geteuid() != 0:
        return
    library = ctypes.CDLL(None, use_errno=True)
    for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
        if library.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot give up a capability")
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()
    if library.capget(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "cannot read capabilities")
    for position in range(3):  # effective, permitted, inheritable; all capabilities of ours are in the first 32
        sets[position] &= ~(1 << _DAC_OVERRIDE | 1 << _DAC_READ_SEARCH)
    if library.capset(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "cannot give up capabilities")


_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION_3 = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2
