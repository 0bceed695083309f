"""Puts files and folders in place, so that a run may be stopped at any point.

Everything is first written below `.trainform/staging`, then put where it belongs in one step: a reader, or the
next run, finds the old folder of a job or the new one, whole. Nothing here cleans up after an error: what
a run leaves, `recover` clears away, at its end, or at the start of the next where it was killed (`staging`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum

from trainform.io.exchange import ASIDE, exchange
from trainform.io.files import read_bytes, write_bytes

STAGING = ".trainform/staging"
UNDERWAY = ".underway"
DRAFT = ".trainform/draft"
"""The name in the staging folder of a single file that is written: no folder of ours is called so."""


@dataclass(frozen=True, slots=True)
class JobChange:
    """The new state of one job, in paths relative to the root.

    `files` are those of its folder by name: None where they stay as they are, empty where the job is removed.
    `lock` is the lock's new text, empty where it is removed; `underway` is what stands there while
    the folder is replaced, so that the next run knows both states; empty where the job is new.
    """

    folder: str
    lock_file: str
    files: Mapping[str, bytes] | None
    lock: bytes
    underway: bytes = b""


class Staged(Enum):
    """What is to be done about a job whose files, if it has any, are written, and wait in the staging folder."""

    LOCK = "the lock takes the place of the one that is there"
    NEW = "lock and folder go where there are none"
    REPLACED = "lock and folder take the places of those that are there"
    GOES = "nothing is staged: lock and folder are removed"


def stage(root: str, change: JobChange) -> Staged:
    """Writes what a change consists of, and changes nothing as yet. Raises OSError where the disk does not let it."""
    if change.files:
        target = os.path.join(root, change.folder) if change.underway else ""
        _stage(_staged(root, change.folder), change.files, target)
    if change.lock:
        _lay_down(_staged(root, change.lock_file), change.lock)
    if change.underway:
        _lay_down(_staged(root, change.lock_file) + UNDERWAY, change.underway)
    if not change.lock:
        return Staged.GOES
    if not change.files:
        return Staged.LOCK
    return Staged.REPLACED if change.underway else Staged.NEW


def apply(root: str, folder: str, lock_file: str, change: Staged) -> None:
    """Brings the job of a folder and a lock into its new state. Raises OSError where the disk does not let it."""
    target, lock = os.path.join(root, folder), os.path.join(root, lock_file)
    staged, staged_lock = _staged(root, folder), _staged(root, lock_file)
    if change is Staged.GOES:
        _remove(root, folder, lock_file)
    elif change is Staged.LOCK:
        _rename(staged_lock, lock)
    elif change is Staged.NEW:
        _rename(staged_lock, lock)  # first: stopped here, the next run knows what is missing
        _rename(staged, target)
    else:
        _rename(staged_lock + UNDERWAY, lock)
        exchange(staged, target)
        _rename(staged_lock, lock)
        shutil.rmtree(staged, ignore_errors=True)


def apply_together(root: str, folder: str, locks: str) -> None:
    """Brings all jobs of a namespace into being, whose folders and locks stand in these two, in two steps: for jobs
    that `stand_alone`."""
    _rename(_staged(root, locks), os.path.join(root, locks))  # first, as in `apply`
    _rename(_staged(root, folder), os.path.join(root, folder))


def stand_alone(root: str, folder: str, locks: str, jobs: Collection[str]) -> bool:
    """Whether new jobs, by the names of their folders, are all that a namespace will hold, and all that is staged
    of it."""
    if os.path.lexists(os.path.join(root, folder)) or os.path.lexists(os.path.join(root, locks)):
        return False
    staged, staged_locks = set(os.listdir(_staged(root, folder))), set(os.listdir(_staged(root, locks)))
    return staged == set(jobs) and staged_locks == {f"{job}.lock" for job in jobs}


def _staged(root: str, path: str) -> str:
    return f"{root}/{STAGING}/{path}"


def _stage(staged: str, files: Mapping[str, bytes], target: str = "") -> None:
    """The new folder, beside the world. A file that stays the same in the folder `target` is linked, not written."""
    _make_anew(staged)
    for name, data in files.items():
        old, new = f"{target}/{name}", f"{staged}/{name}"
        if not (target and _bytes(old) == data and _linked(old, new)):
            write_bytes(new, data)


def _make_anew(folder: str) -> None:
    """An empty folder: what a first attempt of this run left in it is gone."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        shutil.rmtree(folder)
        os.mkdir(folder)
    except FileNotFoundError:
        os.makedirs(folder)


def _lay_down(path: str, data: bytes) -> None:
    """A file in a folder that is made if it is not there, which is rare."""
    try:
        write_bytes(path, data)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_bytes(path, data)


def _rename(old: str, new: str) -> None:
    """Into a folder that is made if it is not there, which is rare: most have been."""
    try:
        os.replace(old, new)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(new), exist_ok=True)
        os.replace(old, new)


def _bytes(path: str) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError:
        return None


def _linked(old: str, new: str) -> bool:
    try:
        os.link(old, new)
    except OSError:
        return False
    return True


def _remove(root: str, folder: str, lock_file: str) -> None:
    """The folder goes first, in one step: a lock without a folder is a job that is gone."""
    target, staged = os.path.join(root, folder), _staged(root, folder)
    if os.path.isdir(target):
        os.makedirs(os.path.dirname(staged), exist_ok=True)
        os.rename(target, staged)
    remove(root, lock_file)
    _drop_empty(root, os.path.dirname(folder))
    shutil.rmtree(staged, ignore_errors=True)


def write(root: str, file: str, data: bytes) -> None:
    """Whole or not at all."""
    _rename(_drafted(root, data), os.path.join(root, file))


def _drafted(root: str, data: bytes) -> str:
    draft = _staged(root, DRAFT)
    _lay_down(draft, data)
    return draft


def rewrite(root: str, file: str, data: bytes) -> None:
    """A file of the user with new contents, whole or not at all: its mode stays, and links to it do."""
    draft, path = _drafted(root, data), os.path.realpath(os.path.join(root, file))
    shutil.copymode(path, draft)
    os.replace(draft, path)


def remove(root: str, file: str) -> None:
    """Removes a file that may be gone already, and the folders that it leaves empty."""
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
    """The staging folder for one run: nothing of an earlier one is in it, and nothing is left, however the run ends."""
    recover(root)
    try:
        yield
    finally:
        with suppress(OSError):  # a disk that does not let it has been told of; the next run tries again
            recover(root)


def recover(root: str) -> None:
    """Clears away what a run left that was stopped; a folder that it had moved aside goes back first."""
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
