"""Which files of a repository are on disk only, so that a commit would lack them."""

from __future__ import annotations

from trainform.io.git import not_added
from trainform.io.paths import LOCKS, SNAPSHOTS
from trainform.io.repository import ENDINGS, Repository
from trainform.io.settings import FILE

_WRITTEN = (*ENDINGS, ".lock", "/.gitkeep")
"""Endings of the files that trainform writes: what a desktop leaves in every folder is none of its business."""


def files_not_added(repository: Repository) -> list[str]:
    """The files that are read or written here and that git's index lacks, sorted. Raises GitError."""
    settings = repository.settings
    inputs = (settings.jobs, settings.runtimes, settings.environments)
    read = [file for file in not_added(repository.root, [FILE, *inputs]) if _is_read(file)]
    outputs = not_added(repository.root, [settings.rendered, LOCKS, SNAPSHOTS])
    return sorted({*read, *(file for file in outputs if file.endswith(_WRITTEN))})


def _is_read(file: str) -> bool:
    return file.endswith(ENDINGS) and not any(part.startswith(".") for part in file.split("/"))
