"""The baseline of a change: a commit, or a copy of the repository in another folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from trainform.io.files import bytes_or_none
from trainform.io.git import GitError, commit_of, files_at, git, start

_LOOK = ("--no-optional-locks", "--literal-pathspecs")
"""Git options for read-only commands: nothing is written, and a folder's name is not a pattern."""
_DIFF = ("diff", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z")


def baseline(root: str, name: str) -> Baseline:
    """The commit of this name, else the folder at this path. Raises GitError if there is neither."""
    try:
        return Commit(root, commit_of(root, name))
    except GitError as error:
        if os.path.isdir(name):
            return Folder(root, os.path.realpath(name))
        raise GitError(f"{error}; there is no such folder either") from error


class Commit(NamedTuple):
    """A commit of the git repository that contains `root`."""

    root: str
    id: str

    def paths(self, within: Sequence[str]) -> list[str]:
        """The files at or below the paths `within`."""
        return _split(git(self.root, *_LOOK, "ls-tree", "-r", "-z", "--name-only", self.id, "--", *within))

    def changed(self, within: Sequence[str]) -> set[str]:
        """The files changed, deleted or added in the working tree, ignored ones included. Git compares object ids, and
        skips files with unchanged time and size."""
        return self.looking(within)()

    def looking(self, within: Sequence[str]) -> Callable[[], set[str]]:
        """Start `changed` in the background; the returned function waits for its result."""
        differing = start(self.root, *_LOOK, *_DIFF, self.id, "--", *within)
        untracked = start(self.root, *_LOOK, "ls-files", "--others", "-z", "--", *within)

        def found() -> set[str]:
            try:
                changed = differing(b"")
            finally:  # wait for both
                others = untracked(b"")
            return {*_split(changed), *_split(others)}

        return found

    def last_change(self, within: str) -> Baseline | None:
        """The last commit that changed something below `within`; this one if none did. In a shallow clone, the oldest
        one at the earliest."""
        last = git(self.root, *_LOOK, "log", "-1", "--format=%H", self.id, "--", within).decode().strip()
        return self if last in ("", self.id) else Commit(self.root, last)

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        """The bytes of those `paths` that exist in the commit."""
        named = [path for path in paths if "\n" not in path]  # git reads one path per line
        return files_at(self.root, self.id, named) if named else {}


class Folder(NamedTuple):
    """A copy of the repository at `path`, with the methods of Commit."""

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
"""Earlier files, by path relative to the repository's root."""


def _split(output: bytes) -> list[str]:
    return [os.fsdecode(part) for part in _parts(output)]


def _parts(output: bytes) -> Iterator[bytes]:
    """Parts that each end with a zero byte, lazily, since there may be a hundred thousand."""
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
