"""The baseline of a change: a commit, or a copy of the repository in another folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from trainform.io.files import bytes_or_none
from trainform.io.git import GitError, NoCommit, commit_of, files_at, git, is_unborn, start, without_filters
from trainform.io.links import DEEPEST, read_file

_DIFF = ("diff-index", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--relative", "-z")
_SUBMODULES = "--ignore-submodules=dirty"  # git does not run inside one
_DIFFERENT = re.compile(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) (\w)\0([^\0]*)\0")

_LISTED = re.compile(rb"\0([?a-zS] |. 160000 )([^\0]*)")
"""Of all files that `ls-files -v --stage` lists with their tags: untracked ones (`?`), those whose changes git is told
to overlook (a small letter, or `S`), and submodules."""

_PLAIN = (b"100644", b"100755")
_SUBMODULE = b"160000"


def baseline(root: str, name: str) -> Baseline:
    """The commit of this name, else the folder at this path; nothing for HEAD before the first commit. Raises GitError
    if there is neither."""
    try:
        return Commit(root, commit_of(root, name))
    except GitError as error:
        if isinstance(error, NoCommit) and name == "HEAD" and is_unborn(root):
            return Nothing(root)
        if os.path.isdir(name):
            return Folder(root, os.path.realpath(name))
        raise type(error)(f"{error}; there is no such folder either") from error


class Commit(NamedTuple):
    """A commit of the git repository that contains `root`."""

    root: str
    id: str

    def paths(self, within: Sequence[str]) -> list[str]:
        """The files at or below the paths `within`."""
        return _split(git(self.root, "ls-tree", "-r", "-z", "--name-only", self.id, "--", *within))

    def changed(self, within: Sequence[str]) -> set[str]:
        """The files changed, deleted or added in the working tree, ignored ones included. Git tells them by time and
        size, and we by their bytes; so a file that git stores otherwise than it is on disk (line endings, Git LFS)
        may be among them unchanged. Raises GitError, also if there is a submodule."""
        return self.looking(within)()

    def looking(self, within: Sequence[str]) -> Callable[[], set[str]]:
        """Start `changed` in the background; the returned function waits for its result."""
        settings = without_filters(self.root)
        differing = start(self.root, *_DIFF, _SUBMODULES, self.id, "--", *within, settings=settings)
        listing = start(self.root, "ls-files", "--cached", "--others", "--stage", "-v", "-z", "--", *within)

        def found() -> set[str]:
            try:
                changed = differing(b"")
            finally:  # wait for both
                listed = listing(b"")
            return {*self._differing(changed), *self._listed(listed)}

        return found

    def _differing(self, output: bytes) -> Iterator[str]:
        for before, after, old, new, status, name in _DIFFERENT.findall(output):
            path = os.fsdecode(name)
            if _SUBMODULE in (before, after):
                raise _is_submodule(path)
            is_stored = new.strip(b"0") != b""
            if status != b"M" or is_stored or not {before, after}.issubset(_PLAIN) or self._differs(path, old):
                yield path

    def _listed(self, output: bytes) -> Iterator[str]:
        for tag, rest in _LISTED.findall(b"\0" + output):
            if tag == b"? ":
                yield from self._untracked(os.fsdecode(rest))
                continue
            words, _, name = (tag + rest).partition(b"\t")
            path, (mode, stored) = os.fsdecode(name), words.split()[1:3]
            if mode == _SUBMODULE:
                raise _is_submodule(path)
            if self._differs(path, stored):
                yield path

    def _untracked(self, path: str) -> Iterable[str]:
        """Git lists another repository in the work tree as one folder."""
        return _below(self.root, [path.rstrip("/")]) if path.endswith("/") else [path]

    def _differs(self, path: str, blob: bytes) -> bool:
        """Whether the bytes of a file in the working tree are not those of a blob."""
        data = bytes_or_none(os.path.join(self.root, path))
        if data is None:
            return True
        algorithm = hashlib.sha1 if len(blob) == 40 else hashlib.sha256
        return algorithm(b"blob %d\0" % len(data) + data).hexdigest().encode() != blob

    def last_change(self, within: str) -> Baseline | None:
        """The last commit that changed something below `within`; this one if none did. In a shallow clone, the oldest
        one at the earliest."""
        last = git(self.root, "rev-list", "--max-count=1", self.id, "--", within).decode().strip()
        return self if last in ("", self.id) else Commit(self.root, last)

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        """The bytes of those `paths` that exist in the commit."""
        return files_at(self.root, self.id, paths)


class Folder(NamedTuple):
    """A copy of the repository at `path`, with the methods of Commit."""

    root: str
    path: str

    def paths(self, within: Sequence[str]) -> list[str]:
        return list(_below(self.path, within))

    def changed(self, within: Sequence[str]) -> set[str]:
        either = {*self.paths(within), *_below(self.root, within)}
        return {path for path in either if _bytes_of(self.root, path) != _bytes_of(self.path, path)}

    def looking(self, within: Sequence[str]) -> Callable[[], set[str]]:
        return partial(self.changed, within)

    def last_change(self, within: str) -> Baseline | None:
        """None: a folder has no history."""
        return None

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        found = ((path, _bytes_of(self.path, path)) for path in paths)
        return {path: data for path, data in found if data is not None}


class Nothing(NamedTuple):
    """What there is before the first commit, with the methods of Commit."""

    root: str

    def paths(self, _within: Sequence[str]) -> list[str]:
        return []

    def changed(self, within: Sequence[str]) -> set[str]:
        return {*_below(self.root, within)}

    def looking(self, within: Sequence[str]) -> Callable[[], set[str]]:
        return partial(self.changed, within)

    def last_change(self, _within: str) -> Baseline | None:
        return None

    def read(self, _paths: Collection[str]) -> dict[str, bytes]:
        return {}


Baseline = Commit | Folder | Nothing
"""Earlier files, by path relative to the repository's root."""


def _bytes_of(root: str, path: str) -> bytes | None:
    """The contents of a file, also behind a link within `root`; None if it cannot be read."""
    try:
        return read_file(root, path)
    except OSError:
        return None


def _is_submodule(path: str) -> GitError:
    return GitError(f"{path} is a submodule, and its files are in no commit of this repository: use --base FOLDER")


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
            folder = os.path.relpath(above, root).replace(os.sep, "/")
            folders[:] = [] if folder.count("/") >= DEEPEST else sorted(folders)
            yield from (f"{folder}/{file}" for file in sorted(files))
