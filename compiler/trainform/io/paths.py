"""Paths of locks, snapshots and rendered jobs, and functions to list and read them."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator

from trainform.io.files import read_bytes
from trainform.io.repository import inside
from trainform.io.writer import STAGING

FOLDER = ".trainform"
LOCKS = f"{FOLDER}/locks"
SNAPSHOTS = f"{FOLDER}/snapshots"

JobId = tuple[str, str, str]
"""Environment, namespace and name."""


def lockfile_path(job: JobId) -> str:
    return f"{LOCKS}/{'/'.join(job)}.lock"


def snapshot_file(digest: str) -> str:
    return f"{SNAPSHOTS}/{digest}.yaml"


def locked_jobs(root: str) -> list[JobId]:
    """The jobs that have a lock, sorted."""
    found = []
    for environment in _folders(root, LOCKS):
        for namespace in _folders(root, f"{LOCKS}/{environment}"):
            names = folder_names(root, f"{LOCKS}/{environment}/{namespace}")
            jobs = sorted(name.removesuffix(".lock") for name in names if name.endswith(".lock"))
            found += [(environment, namespace, job) for job in jobs]
    return found


def snapshots(root: str) -> list[str]:
    """The digests of the stored snapshots, sorted."""
    return [name.removesuffix(".yaml") for name in _names(root, SNAPSHOTS) if name.endswith(".yaml")]


def folder_bytes(root: str, folder: str) -> dict[str, bytes | None]:
    """The files of a folder, sorted by name; None for an entry that is not a plain file. Empty if the folder is
    missing. Raises OSError if it is unreadable."""
    return {name: _plain(f"{root}/{folder}/{name}") for name in sorted(folder_names(root, folder))}


def folder_names(root: str, folder: str) -> list[str]:
    """The unsorted names in a folder; empty if it is missing. Raises OSError if it is unreadable."""
    try:
        return os.listdir(os.path.join(root, folder))
    except FileNotFoundError:
        return []


def file_bytes(root: str, file: str) -> bytes | None:
    """The contents of a plain file; None if there is none. Raises OSError if it is unreadable."""
    return _plain(os.path.join(root, file))


def files_below(root: str, folder: str, without: Collection[str] = ()) -> Iterator[str]:
    """All files below a folder, as sorted paths relative to the root. Skips the folders in `without`; follows no
    links."""
    for above, folders, files in os.walk(os.path.join(root, folder)):
        within = os.path.relpath(above, root).replace(os.sep, "/")
        folders[:] = sorted(name for name in folders if f"{within}/{name}" not in without)
        yield from (f"{within}/{name}" for name in sorted(files))


def leads_out(root: str, path: str) -> bool:
    """Whether `path` leads out of the repository through a link."""
    return not inside(root, os.path.realpath(os.path.join(root, path)))


def exists(root: str, path: str) -> bool:
    return os.path.lexists(os.path.join(root, path))


def links_out(root: str) -> list[str]:
    """Our own folders that lead out of the repository: nothing may be written or deleted through them."""
    real = os.path.realpath(root)
    return [folder for folder in (FOLDER, LOCKS, SNAPSHOTS, STAGING) if leads_out(real, folder)]


def is_link(root: str, path: str) -> bool:
    return os.path.islink(f"{root}/{path}")


def _plain(path: str) -> bytes | None:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return None
    return read_bytes(path) if stat.S_ISREG(mode) else None


def _folders(root: str, folder: str) -> list[str]:
    return [name for name in _names(root, folder) if os.path.isdir(os.path.join(root, folder, name))]


def _names(root: str, folder: str) -> list[str]:
    try:
        names = os.listdir(os.path.join(root, folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if not name.startswith("."))
