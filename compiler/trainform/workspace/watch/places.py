"""What jobs are rendered from, as the file system tells it: folders to watch, and marks that say whether something
changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from trainform.io.git import GitError, git_folder, head_files
from trainform.io.links import located
from trainform.io.paths import BASELINE
from trainform.io.repository import ENDINGS, open_repository
from trainform.io.settings import FILE

Mark = tuple[int, ...] | None
"""Which file or folder is at a path, and in which state; None if there is none."""

_UNDERWAY = {
    "rebase-merge": "a rebase is in progress",
    "rebase-apply": "a rebase is in progress",
    "MERGE_HEAD": "a merge is in progress",
    "CHERRY_PICK_HEAD": "a cherry-pick is in progress",
    "REVERT_HEAD": "a revert is in progress",
    "index.lock": "git is changing files (index.lock exists)",
}
"""What git keeps in its folder while it is at work, or waits for somebody to resolve a conflict."""


class Places(NamedTuple):
    """`given` is the root as it was asked for, and may be a link; `root` has no links. `folders` hold the input files,
    by real paths. `files` are looked at one by one, and `tops` are the folders that need not exist; `git` is git's
    folder, empty if there is none."""

    given: str
    root: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    tops: tuple[str, ...]
    git: str

    def marks(self) -> Mapping[str, Mark]:
        """Changed marks mean that something changed which is not in `folders`."""
        whole = {path: _mark_of_file(path) for path in self.files}
        return whole | {path: _mark_of_folder(path) for path in (self.given, self.root, *self.tops)}

    def underway(self) -> str:
        """What git is doing here, in words; empty if nothing."""
        found = (told for name, told in _UNDERWAY.items() if self.git and os.path.lexists(f"{self.git}/{name}"))
        return next(found, "")


def places_of(root: str) -> Places:
    """The places of the repository at `root`, as its settings are now."""
    repository, _ = open_repository(root)
    settings = repository.settings
    tops = [*dict.fromkeys((settings.jobs, settings.runtimes, settings.environments))]
    folders = sorted({folder for top in tops for folder in _folders(repository.root, top)})
    odd = [folder for folder in folders if not _can_be_watched(folder)]
    try:
        git = git_folder(repository.root)
    except GitError:
        git = ""
    files = [f"{repository.root}/{file}" for file in (FILE, BASELINE)]
    files += head_files(git) if git else ()
    files += [path for folder in odd for path in (folder, *_files(folder))]
    watched = tuple(folder for folder in folders if folder not in odd)
    folders_of_settings = tuple(f"{repository.root}/{top}" for top in tops)
    return Places(root, repository.root, watched, tuple(files), folders_of_settings, git)


def is_input(path: str) -> bool:
    """Whether a file may be read at all: the compiler skips hidden ones, and so the scratch files of many editors."""
    return not os.path.basename(path).startswith(".")


def is_missing(path: str) -> bool:
    """Whether a file that jobs may be in is gone, or empty: some programs remove or empty a file before they write
    it."""
    if not path.endswith(ENDINGS):
        return False
    try:
        return not os.stat(path).st_size
    except OSError:
        return True


def _can_be_watched(folder: str) -> bool:
    """Whether its name is UTF-8: no other can be told to the package that watches."""
    try:
        folder.encode()
    except UnicodeEncodeError:
        return False
    return True


def _files(folder: str) -> list[str]:
    with suppress(OSError):
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if is_input(name)]
    return []


def _folders(root: str, top: str) -> Iterator[str]:
    """The real paths of a folder and of those below it, as the compiler finds them: not hidden ones, and by links only
    within the repository. Where a file is a link, the folder of its target."""
    left, known = [top], set[str]()
    while left:
        folder = left.pop()
        with suppress(OSError):
            real = located(root, folder)
            if real in known or not os.path.isdir(real):
                continue
            known.add(real)
            yield real
            with os.scandir(real) as found:
                entries = [entry for entry in found if is_input(entry.name)]
            left += [f"{folder}/{entry.name}" for entry in entries if _is_folder(entry)]
            yield from _targets(root, folder, entries)


def _targets(root: str, folder: str, entries: list[os.DirEntry[str]]) -> Iterator[str]:
    for entry in entries:
        if entry.is_symlink() and not _is_folder(entry):
            with suppress(OSError):
                above = os.path.dirname(located(root, f"{folder}/{entry.name}"))
                if os.path.isdir(above):
                    yield above


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _mark_of_folder(path: str) -> Mark:
    mark = _mark_of_file(path)
    return mark and mark[:2]


def _mark_of_file(path: str) -> Mark:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
