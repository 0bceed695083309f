"""Lock a repository, so that only one run writes at a time; a second one waits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainform.io.own_state import state_file, state_folder

if TYPE_CHECKING:
    from filelock import BaseFileLock

PATIENCE = 1.0
"""Seconds before a waiting run prints a message."""


@contextmanager
def exclusive(root: str) -> Iterator[bool]:
    """Hold the lock of the repository at `root`; gives whether it is held. If locking is impossible (a file system
    without locks), go on without it."""
    path = mutex_path(root)
    lock = _acquired(path) if path else None
    try:
        yield lock is not None
    finally:
        if lock:
            lock.release()


def mutex_path(root: str) -> str | None:
    """The lock file, in the folder of our own state; None if there is none."""
    folder = state_folder(root)
    return state_file(folder, root, ".lock") if folder else None


def _acquired(path: str) -> BaseFileLock | None:
    from filelock import FileLock, Timeout  # takes 15 ms to import

    lock = FileLock(path)
    try:
        try:
            lock.acquire(timeout=PATIENCE)
        except Timeout:
            print("waiting for another trainform run in this repository", file=sys.stderr)
            lock.acquire()
    except OSError:
        return None
    return lock
