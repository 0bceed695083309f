"""Write files and folders so that a run may be killed at any point. They are written below `.trainform/staging`, then
moved into place in one step, so a job's folder is always completely old or new. `recover` cleans up at the end of a run
or the start of the next."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum

from trainform.io.exchange import ASIDE, exchange
from trainform.io.files import bytes_or_none, write_bytes

STAGING = ".trainform/staging"
UNDERWAY = ".underway"
DRAFT = ".trainform/draft"
"""Where a single file is written in the staging folder. No folder of ours has this name."""


@dataclass(frozen=True, slots=True)
class JobChange:
    """The new state of one job, in paths relative to the root. `files` are those of its folder by name (None:
    unchanged); `files` and `lock` are empty if the job is removed. `underway` is the lock while the folder is replaced,
    with both states for the next run; empty if the job is new."""

    folder: str
    lockfile: str
    files: Mapping[str, bytes] | None
    lock: bytes
    underway: bytes = b""


class Staged(Enum):
    """What remains to be done for a job whose new files are in the staging folder."""

    LOCK = "replace the lock"
    NEW = "add lock and folder"
    REPLACED = "replace lock and folder"
    GOES = "remove lock and folder; nothing is staged"


def stage(root: str, change: JobChange) -> Staged:
    """Write the new state of a job to the staging folder. Raises OSError."""
    if change.files:
        target = os.path.join(root, change.folder) if change.underway else ""
        _stage(_staged(root, change.folder), change.files, target)
    if change.lock:
        _lay_down(_staged(root, change.lockfile), change.lock)
    if change.underway:
        _lay_down(_staged(root, change.lockfile) + UNDERWAY, change.underway)
    if not change.lock:
        return Staged.GOES
    if not change.files:
        return Staged.LOCK
    return Staged.REPLACED if change.underway else Staged.NEW


def apply(root: str, folder: str, lockfile: str, change: Staged) -> None:
    """Move the staged state of one job into place. Raises OSError."""
    target, lock = os.path.join(root, folder), os.path.join(root, lockfile)
    staged, staged_lock = _staged(root, folder), _staged(root, lockfile)
    if change is Staged.GOES:
        _remove(root, folder, lockfile)
    elif change is Staged.LOCK:
        _rename(staged_lock, lock)
    elif change is Staged.NEW:
        _rename(staged_lock, lock)  # first: if killed here, the next run knows what is missing
        _rename(staged, target)
    else:
        _rename(staged_lock + UNDERWAY, lock)
        exchange(staged, target)
        _rename(staged_lock, lock)
        shutil.rmtree(staged, ignore_errors=True)


def apply_together(root: str, folder: str, locks: str) -> None:
    """Move all jobs of a new namespace into place in two steps, first the folder of their locks, then that of the jobs.
    Only for jobs that `stand_alone`."""
    _rename(_staged(root, locks), os.path.join(root, locks))  # first, as in `apply`
    _rename(_staged(root, folder), os.path.join(root, folder))


def stand_alone(root: str, folder: str, locks: str, jobs: Collection[str]) -> bool:
    """Whether the namespace is new and exactly these jobs, by folder name, are staged for it."""
    if os.path.lexists(os.path.join(root, folder)) or os.path.lexists(os.path.join(root, locks)):
        return False
    staged, staged_locks = set(os.listdir(_staged(root, folder))), set(os.listdir(_staged(root, locks)))
    return staged == set(jobs) and staged_locks == {f"{job}.lock" for job in jobs}


def _staged(root: str, path: str) -> str:
    return f"{root}/{STAGING}/{path}"


def _stage(staged: str, files: Mapping[str, bytes], target: str = "") -> None:
    """Write a new folder. A file that is the same in the folder `target` is linked instead."""
    _make_anew(staged)
    for name, data in files.items():
        old, new = f"{target}/{name}", f"{staged}/{name}"
        if not (target and bytes_or_none(old) == data and _linked(old, new)):
            write_bytes(new, data)


def _make_anew(folder: str) -> None:
    """Create an empty folder, or empty it after an earlier attempt of this run."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        shutil.rmtree(folder)
        os.mkdir(folder)
    except FileNotFoundError:
        os.makedirs(folder)


def _lay_down(path: str, data: bytes) -> None:
    """Write a file, and create its folder if that is missing, which is rare."""
    try:
        write_bytes(path, data)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_bytes(path, data)


def _rename(old: str, new: str) -> None:
    """Move a file or folder, and create the folder above if that is missing, which is rare."""
    try:
        os.replace(old, new)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(new), exist_ok=True)
        os.replace(old, new)


def _linked(old: str, new: str) -> bool:
    try:
        os.link(old, new)
    except OSError:
        return False
    return True


def _remove(root: str, folder: str, lockfile: str) -> None:
    """Remove the folder first, in one step: a lock without a folder is a removed job."""
    target, staged = os.path.join(root, folder), _staged(root, folder)
    if _is_folder(target):
        os.makedirs(os.path.dirname(staged), exist_ok=True)
        os.rename(target, staged)
    remove(root, lockfile)
    _drop_empty(root, os.path.dirname(folder))
    shutil.rmtree(staged, ignore_errors=True)


def _is_folder(path: str) -> bool:
    """Raises OSError if that cannot be told: `os.path.isdir` would say no, and leave the folder without its lock."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def write(root: str, file: str, data: bytes) -> None:
    """Write a file, completely or not at all."""
    _rename(_drafted(root, data), os.path.join(root, file))


def _drafted(root: str, data: bytes) -> str:
    draft = _staged(root, DRAFT)
    _lay_down(draft, data)
    return draft


def rewrite(root: str, file: str, data: bytes) -> None:
    """Replace the contents of a user's file, completely or not at all. Its mode and links to it are kept."""
    draft, path = _drafted(root, data), os.path.realpath(os.path.join(root, file))
    shutil.copymode(path, draft)
    os.replace(draft, path)


def remove(root: str, file: str) -> None:
    """Remove a file, if it exists, and the folders that this leaves empty."""
    with suppress(FileNotFoundError):
        os.remove(os.path.join(root, file))
    _drop_empty(root, os.path.dirname(file))


def _drop_empty(root: str, folder: str) -> None:
    while folder:
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:
            return
        folder = os.path.dirname(folder)


@contextmanager
def staging(root: str) -> Iterator[None]:
    """Use the staging folder for one run: it is empty at the start and removed at the end."""
    recover(root)
    try:
        yield
    finally:
        with suppress(OSError):  # already reported; the next run tries again
            recover(root)


def recover(root: str) -> None:
    """Remove what a killed run left, after moving back a folder that it had moved aside."""
    staging = os.path.join(root, STAGING)
    for above, folders, _ in os.walk(staging):
        for name in folders:
            if name.endswith(ASIDE):
                _put_back(root, os.path.relpath(os.path.join(above, name), staging))
    if os.path.isdir(staging):
        shutil.rmtree(staging, ignore_errors=True)
        _drop_empty(root, os.path.dirname(STAGING))


def _put_back(root: str, aside: str) -> None:
    target = os.path.join(root, aside.removesuffix(ASIDE))
    if not os.path.lexists(target):
        os.rename(os.path.join(root, STAGING, aside), target)
