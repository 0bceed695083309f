"""Exchange two folders, in one step if the system supports it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2

ASIDE = "~old"
"""Suffix of a folder that was moved aside. No Kubernetes object can have it in its name."""


def exchange(new: str, old: str) -> None:
    """Exchange the folders `new` and `old`, which both exist on one file system, in one step on Linux. Elsewhere, a run
    killed in between leaves `old` at `<new>~old`, and `recover` in `writer.py` moves it back."""
    swap = _renameat2()
    if swap is None or not swap(new, old):
        os.rename(old, new + ASIDE)
        os.rename(new, old)
        os.rename(new + ASIDE, new)


@cache
def _renameat2() -> Callable[[str, str], bool] | None:
    """Linux's system call, which returns whether it succeeded; None if the C library lacks it."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if call is None:
        return None

    def swap(new: str, old: str) -> bool:
        return bool(call(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE) == 0)

    return swap
