"""One run at a time may write to a repository; a second waits for it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0
"""Seconds after which a run that waits says so."""

_PAUSE = 0.02


@contextmanager
def claimed(root: str) -> Iterator[None]:
    """Holds the repository, its folder itself being the lock: there is no file that could be left behind.

    Where the system or the file system has no such locks (Windows, some network shares), nobody waits.
    """
    folder = os.open(root, os.O_RDONLY) if os.name == "posix" else None
    try:
        if folder is not None:
            _wait(folder)
        yield
    finally:
        if folder is not None:
            os.close(folder)


def _wait(folder: int) -> None:
    start, told = time.monotonic(), False
    while not _is_locked(folder):
        if not told and time.monotonic() - start > PATIENCE:
            told = True
            print("waiting for another trainform run in this repository", file=sys.stderr)
        time.sleep(_PAUSE)


def _is_locked(folder: int) -> bool:
    """Tries to lock; False while another run has the lock."""
    import fcntl

    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # no such locks here
    return True
