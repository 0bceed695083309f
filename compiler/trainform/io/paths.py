"""Paths of locks, snapshots and rendered jobs, and functions to list and read them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from trainform.io.files import NotPlainFile, read_plain
from trainform.io.links import DEEPEST, LinkError, beneath, leads_out, located

FOLDER = ".trainform"
LOCKS = f"{FOLDER}/locks"
SNAPSHOTS = f"{FOLDER}/snapshots"
BASELINE = f"{FOLDER}/baseline.json"

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
    missing. Raises OSError if it is unreadable or leads out of the repository."""
    place = located(root, folder)
    try:
        names = sorted(os.listdir(place))
    except FileNotFoundError:
        return {}
    return {name: _plain(f"{place}/{name}") for name in names}


def folder_names(root: str, folder: str) -> list[str]:
    """The unsorted names in a folder; empty if it is missing. Raises OSError if it is unreadable or leads out of the
    repository."""
    try:
        return os.listdir(located(root, folder))
    except FileNotFoundError:
        return []


def file_bytes(root: str, file: str) -> bytes | None:
    """The contents of a plain file; None if there is none in the repository. Raises OSError if it is unreadable."""
    try:
        return _plain(beneath(root, file))
    except LinkError:
        return None


def files_below(root: str, folder: str, without: Collection[str] = ()) -> Iterator[str]:
    """All files below a folder, as sorted paths relative to the root. Skips the folders in `without`; follows no links
    below it, and none that lead out of the repository. A folder that is too deep to be read counts as a file."""
    if leads_out(root, folder):
        return
    for above, folders, files in os.walk(os.path.join(root, folder)):
        within = os.path.relpath(above, root).replace(os.sep, "/")
        if within.count("/") >= DEEPEST:
            files, folders[:] = [*files, *folders], []
        folders[:] = sorted(name for name in folders if f"{within}/{name}" not in without)
        yield from (f"{within}/{name}" for name in sorted(files))


def exists(root: str, path: str) -> bool:
    return os.path.lexists(os.path.join(root, path))


def links_out(root: str) -> list[str]:
    """Our own folders that lead out of the repository: nothing may be written or deleted through them."""
    real = os.path.realpath(root)
    return [folder for folder in (FOLDER, LOCKS, SNAPSHOTS) if leads_out(real, folder)]


def _plain(path: str) -> bytes | None:
    try:
        return read_plain(path)
    except (NotPlainFile, FileNotFoundError, NotADirectoryError, ValueError):
        return None


def _folders(root: str, folder: str) -> list[str]:
    return [name for name in _names(root, folder) if _is_folder(root, f"{folder}/{name}")]


def _is_folder(root: str, path: str) -> bool:
    try:
        return os.path.isdir(located(root, path))
    except OSError:
        return False


def _names(root: str, folder: str) -> list[str]:
    try:
        names = os.listdir(located(root, folder))
    except (FileNotFoundError, NotADirectoryError, LinkError):
        return []
    return sorted(name for name in names if not name.startswith("."))
