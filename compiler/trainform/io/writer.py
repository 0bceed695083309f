"""Write files and folders so that a run may be killed at any point. They are written in the run's staging folder, then
moved into place in one step, so a job's folder is always completely old or new. Nothing is written or removed through a
link that leads out of the repository, or in git's own folder: that raises LinkError."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from trainform.io.exchange import exchange
from trainform.io.files import bytes_or_none, write_bytes
from trainform.io.git import GitError, find_checkout
from trainform.io.links import LinkError, beneath, inside, located, names_git
from trainform.io.staging import Staging

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


def stage(staging: Staging, change: JobChange) -> Staged:
    """Write the new state of a job to the staging folder. Raises OSError."""
    if change.files:
        target = beneath(staging.root, change.folder) if change.underway else ""
        _stage(staging, staging.path(change.folder), change.files, target)
    if change.lock:
        _lay_down(staging, staging.path(change.lockfile), change.lock)
    if change.underway:
        _lay_down(staging, staging.path(change.lockfile) + UNDERWAY, change.underway)
    if not change.lock:
        return Staged.GOES
    if not change.files:
        return Staged.LOCK
    return Staged.REPLACED if change.underway else Staged.NEW


def apply(staging: Staging, folder: str, lockfile: str, change: Staged) -> None:
    """Move the staged state of one job into place. Raises OSError."""
    target, lock = beneath(staging.root, folder), beneath(staging.root, lockfile)
    staged, staged_lock = staging.path(folder), staging.path(lockfile)
    if change is Staged.GOES:
        _remove(staging, folder, lockfile)
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


def apply_together(staging: Staging, folder: str, locks: str) -> None:
    """Move all jobs of a new namespace into place in two steps, first the folder of their locks, then that of the jobs.
    Only for jobs that `stand_alone`."""
    _rename(staging.path(locks), beneath(staging.root, locks))  # first, as in `apply`
    _rename(staging.path(folder), beneath(staging.root, folder))


def stand_alone(staging: Staging, folder: str, locks: str, jobs: Collection[str]) -> bool:
    """Whether the namespace is new and exactly these jobs, by folder name, are staged for it."""
    if any(os.path.lexists(os.path.join(staging.root, path)) for path in (folder, locks)):
        return False
    staged, staged_locks = set(os.listdir(staging.path(folder))), set(os.listdir(staging.path(locks)))
    return staged == set(jobs) and staged_locks == {f"{job}.lock" for job in jobs}


def _stage(staging: Staging, staged: str, files: Mapping[str, bytes], target: str = "") -> None:
    """Write a new folder. A file that is the same in the folder `target` is linked instead."""
    _make_anew(staging, staged)
    for name, data in files.items():
        old, new = f"{target}/{name}", f"{staged}/{name}"
        if not (target and bytes_or_none(old) == data and _linked(old, new)):
            write_bytes(new, data)


def _make_anew(staging: Staging, folder: str) -> None:
    """Create an empty folder, or empty it after an earlier attempt of this run."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        shutil.rmtree(folder)
        os.mkdir(folder)
    except FileNotFoundError:
        staging.create()
        os.makedirs(folder)


def _lay_down(staging: Staging, path: str, data: bytes, mode: int = 0o666) -> None:
    """Write a file in the staging folder, and create its folder if that is missing, which is rare."""
    try:
        write_bytes(path, data, mode=mode)
    except FileNotFoundError:
        staging.create()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_bytes(path, data, mode=mode)


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


def _remove(staging: Staging, folder: str, lockfile: str) -> None:
    """Remove the folder first, in one step: a lock without a folder is a removed job."""
    root, target, staged = staging.root, beneath(staging.root, folder), staging.path(folder)
    if _is_folder(target):
        staging.create()
        _rename(target, staged)
    remove(root, lockfile)
    _drop_empty(root, os.path.dirname(folder))
    shutil.rmtree(staged, ignore_errors=True)


def _is_folder(path: str) -> bool:
    """Raises OSError if that cannot be told: `os.path.isdir` would say no, and leave the folder without its lock."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def write(staging: Staging, file: str, data: bytes) -> None:
    """Write a file, completely or not at all."""
    target = beneath(staging.root, file)
    _rename(_drafted(staging, data), target)


def write_together(staging: Staging, files: Mapping[str, bytes]) -> None:
    """Write files, all or none: each is complete in the staging folder before the first is moved into place."""
    targets = {file: beneath(staging.root, file) for file in files}
    drafts = {file: staging.path(f"{DRAFT}s/{file}") for file in files}
    for file, data in files.items():
        _lay_down(staging, drafts[file], data)
    for file, target in targets.items():
        _rename(drafts[file], target)


def create(staging: Staging, file: str, data: bytes) -> None:
    """Write a new file that only this user may read, completely or not at all. Raises FileExistsError if anything is
    there, and OSError."""
    target = beneath(staging.root, file)
    draft = _drafted(staging, data, mode=0o600)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not _linked(draft, target):  # an error, or a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        os.rename(draft, target)


def rewrite(staging: Staging, file: str, data: bytes) -> None:
    """Replace the contents of a user's file, completely or not at all. Its mode and links to it are kept."""
    path = located(staging.root, file)
    draft = _drafted(staging, data)
    shutil.copymode(path, draft)
    os.replace(draft, path)


def _drafted(staging: Staging, data: bytes, mode: int = 0o666) -> str:
    draft = staging.path(DRAFT)
    with suppress(FileNotFoundError):
        os.remove(draft)  # it may be linked to what was written last
    _lay_down(staging, draft, data, mode)
    return draft


def write_output(root: str, path: str, data: bytes) -> None:
    """Write a file that a user named, in any folder. A commit may have put a link there, so none is followed to a file,
    out of the checkout that holds `root`, or into git's own folder. Raises OSError."""
    folder, top = os.path.dirname(os.path.abspath(path)), _top(root)
    if os.path.islink(path):
        raise LinkError(path, "is a link")
    if inside(top, folder):
        located(top, os.path.relpath(folder, top).replace(os.sep, "/"))
    elif names_git(os.path.realpath(folder)) and not names_git(folder):
        raise LinkError(path, "leads into git's own folder")
    write_bytes(path, data)


def _top(root: str) -> str:
    """The folder of the work tree, which may hold more than the project at `root`; without git, `root` itself."""
    try:
        return find_checkout(root).top
    except GitError:
        return os.path.realpath(root)


def remove(root: str, file: str) -> None:
    """Remove a file, if it exists, and the folders that this leaves empty."""
    with suppress(FileNotFoundError):
        os.remove(beneath(root, file))
    _drop_empty(root, os.path.dirname(file))


def _drop_empty(root: str, folder: str) -> None:
    while folder:
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:
            return
        folder = os.path.dirname(folder)
