"""Two folders change places in one step, where the system can do that."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2

ASIDE = "~old"
"""What the name of a folder ends with that was moved aside: no object of Kubernetes can be called so."""


def exchange(new: str, old: str) -> None:
    """What is at `new` is at `old` afterwards, and the other way round. Both exist, on one file system.

    Linux does it in one step. Elsewhere a run that is stopped in between leaves `old` moved aside, to
    `<new>~old`: see `put_back`.
    """
    swap = _renameat2()
    if swap is None or not swap(new, old):
        os.rename(old, new + ASIDE)
        os.rename(new, old)
        os.rename(new + ASIDE, new)


@cache
def _renameat2() -> Callable[[str, str], bool] | None:
    """Linux's system call; None where the C library has none. It says whether the file system can do it."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if call is None:
        return None

    def swap(new: str, old: str) -> bool:
        return bool(call(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE) == 0)

    return swap
