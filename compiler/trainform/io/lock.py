"""One run at a time may write to a repository; a second one waits for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainform.io.git import GitError, checkout_digest, git_folder

if TYPE_CHECKING:
    from filelock import BaseFileLock

PATIENCE = 1.0
"""Seconds after which a waiting run says so."""


@contextmanager
def exclusive(root: str) -> Iterator[None]:
    """Hold the lock of the repository at `root`.

    Where the lock cannot be taken (a read-only checkout, a file system without locks), the run goes on without it.
    """
    lock = _acquired(mutex_path(root))
    try:
        yield
    finally:
        if lock:
            lock.release()


def mutex_path(root: str) -> str:
    """The lock file of a repository, outside of its tracked files.

    It is `trainform/<digest>.lock` in git's own folder, or `trainform-<digest>.lock` in the system's temporary
    folder where there is no git; one checkout may hold several repositories.
    """
    digest = checkout_digest(root)
    try:
        folder = git_folder(root)
    except GitError:
        folder = ""
    if os.path.isdir(folder):
        return os.path.join(folder, "trainform", f"{digest}.lock")
    import tempfile

    return os.path.join(tempfile.gettempdir(), f"trainform-{digest}.lock")


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
