"""Which files of a repository are on disk only, so that a commit would lack them."""

from __future__ import annotations

from trainform.io.git import not_added
from trainform.io.paths import LOCKS, SNAPSHOTS
from trainform.io.repository import ENDINGS, Repository
from trainform.io.settings import FILE
from trainform.workspace.shared.beside import carried_by

_WRITTEN = (*ENDINGS, ".lock", "/.gitkeep")
"""Endings of the files that trainform writes: what a desktop leaves in every folder is none of its business."""


def files_not_added(repository: Repository) -> list[str]:
    """The files that are read or written here and that git's index lacks, sorted. Raises GitError."""
    settings = repository.settings
    inputs = (settings.jobs, settings.runtimes, settings.environments)
    lacking = {*not_added(repository.root, [FILE, *inputs])}
    read = {file for file in lacking if _is_read(file)}
    if read != lacking:
        read |= lacking & _carried(repository)
    outputs = not_added(repository.root, [settings.rendered, LOCKS, SNAPSHOTS])
    return sorted({*read, *(file for file in outputs if file.endswith(_WRITTEN))})


def _carried(repository: Repository) -> set[str]:
    data = ((file, repository.read(file)) for file in repository.jobs().files)
    return set[str]().union(*(carried_by(file, each) for file, each in data if isinstance(each, bytes)))


def _is_read(file: str) -> bool:
    return file.endswith(ENDINGS) and not any(part.startswith(".") for part in file.split("/"))
