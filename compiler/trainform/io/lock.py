"""Lock a repository, so that only one run writes at a time; a second one waits."""

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
"""Seconds before a waiting run prints a message."""


@contextmanager
def exclusive(root: str) -> Iterator[None]:
    """Hold the lock of the repository at `root`. If locking is impossible (a read-only checkout, a file system without
    locks), go on without it."""
    lock = _acquired(mutex_path(root))
    try:
        yield
    finally:
        if lock:
            lock.release()


def mutex_path(root: str) -> str:
    """The lock file: `trainform/<digest>.lock` in git's folder, or `trainform-<digest>.lock` in the temporary folder
    without git. The digest tells apart several repositories in one checkout."""
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
