"""Which repository a file belongs to."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import NamedTuple

from trainform.io.paths import FOLDER
from trainform.io.settings import FILE, Settings


class FileOfRoot(NamedTuple):
    """A file by its repository, an absolute path without links, and its path from there, with `/`."""

    root: str
    file: str


def place_of(path: str, folders: Collection[str]) -> FileOfRoot | None:
    """Where a file belongs: to the nearest folder above it with a trainform.yaml; else to the one of the editor's
    `folders` that holds it, if that looks like a repository of TrainJobs; else nowhere. The file need not exist."""
    path = os.path.normpath(path)
    for root in [*_above(path), *filter(_looks_like_ours, folders)]:
        file = os.path.relpath(path, root).replace(os.sep, "/")
        if not file.startswith("../"):
            return FileOfRoot(os.path.realpath(root), file)
    return None


def is_root(root: str, folders: Collection[str]) -> bool:
    """Whether files still belong to a repository that they belonged to."""
    shown = (folder for folder in folders if os.path.realpath(folder) == root)
    return os.path.lexists(os.path.join(root, FILE)) or any(map(_looks_like_ours, shown))


def _above(path: str) -> list[str]:
    """The nearest folder above a path with a trainform.yaml, as the path names it: it may be a link."""
    folder = os.path.dirname(path)
    while not os.path.lexists(os.path.join(folder, FILE)):
        if folder == (folder := os.path.dirname(folder)):
            return []
    return [folder]


def _looks_like_ours(folder: str) -> bool:
    default = Settings()
    names = (FOLDER, default.jobs, default.environments, default.runtimes)
    return any(os.path.isdir(os.path.join(folder, name)) for name in names)
