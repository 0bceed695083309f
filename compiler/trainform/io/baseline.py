"""The state that a change starts from: a commit, or another copy of the repository in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from trainform.io.files import bytes_or_none
from trainform.io.git import GitError, commit_of, files_at, git, start

_LOOK = ("--no-optional-locks", "--literal-pathspecs")
"""Options of git for commands that only look: nothing is written, and a folder's name is no pattern."""
_DIFF = ("diff", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z")


def baseline(root: str, name: str) -> Baseline:
    """The commit that git knows by this name, else the folder at this path. Raises GitError for neither."""
    try:
        return Commit(root, commit_of(root, name))
    except GitError as error:
        if os.path.isdir(name):
            return Folder(root, os.path.realpath(name))
        raise GitError(f"{error}; there is no such folder either") from error


class Commit(NamedTuple):
    """A commit of the repository that the working tree at `root` is of, or a part of."""

    root: str
    id: str

    def paths(self, within: Sequence[str]) -> list[str]:
        """The files that are, or lie below, one of the paths `within`."""
        return _split(git(self.root, *_LOOK, "ls-tree", "-r", "-z", "--name-only", self.id, "--", *within))

    def changed(self, within: Sequence[str]) -> set[str]:
        """The files that the working tree now has other bytes for, has not, or has newly: ignored ones, too.

        Git compares ids of objects, and knows by time and size which files need no look.
        """
        return self.looking(within)()

    def looking(self, within: Sequence[str]) -> Callable[[], set[str]]:
        """Starts to look for what `changed`; what is returned waits for it."""
        differing = start(self.root, *_LOOK, *_DIFF, self.id, "--", *within)
        untracked = start(self.root, *_LOOK, "ls-files", "--others", "-z", "--", *within)

        def found() -> set[str]:
            try:
                changed = differing(b"")
            finally:  # both are waited for
                others = untracked(b"")
            return {*_split(changed), *_split(others)}

        return found

    def last_change(self, within: str) -> Baseline | None:
        """The commit in which something below `within` last changed: this very one where there was none; in a shallow
        clone, the oldest one at the earliest."""
        last = git(self.root, *_LOOK, "log", "-1", "--format=%H", self.id, "--", within).decode().strip()
        return self if last in ("", self.id) else Commit(self.root, last)

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        """The bytes of those of `paths` that were there."""
        named = [path for path in paths if "\n" not in path]  # git is asked by lines
        return files_at(self.root, self.id, named) if named else {}


class Folder(NamedTuple):
    """A copy of the repository at `path`; the methods are those of a commit."""

    root: str
    path: str

    def paths(self, within: Sequence[str]) -> list[str]:
        return list(_below(self.path, within))

    def changed(self, within: Sequence[str]) -> set[str]:
        either = {*self.paths(within), *_below(self.root, within)}
        return {
            path
            for path in either
            if bytes_or_none(os.path.join(self.root, path)) != bytes_or_none(os.path.join(self.path, path))
        }

    def looking(self, within: Sequence[str]) -> Callable[[], set[str]]:
        return partial(self.changed, within)

    def last_change(self, within: str) -> Baseline | None:
        """None: a folder has no history."""
        return None

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        found = ((path, bytes_or_none(os.path.join(self.path, path))) for path in paths)
        return {path: data for path, data in found if data is not None}


Baseline = Commit | Folder
"""Files as they were, by their paths relative to the root of the repository."""


def _split(output: bytes) -> list[str]:
    return [os.fsdecode(part) for part in _parts(output)]


def _parts(output: bytes) -> Iterator[bytes]:
    """What ends with a zero byte each: one after the other, since there may be a hundred thousand."""
    at = 0
    while (end := output.find(b"\0", at)) >= 0:
        yield output[at:end]
        at = end + 1


def _below(root: str, within: Iterable[str]) -> Iterator[str]:
    for path in within:
        if os.path.isfile(os.path.join(root, path)):
            yield path
        for above, folders, files in os.walk(os.path.join(root, path)):
            folders.sort()
            folder = os.path.relpath(above, root).replace(os.sep, "/")
            yield from (f"{folder}/{file}" for file in sorted(files))
