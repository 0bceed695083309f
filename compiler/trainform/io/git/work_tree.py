"""What git knows of the files of the work tree: which it left out, lacks or converts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from trainform.io.git.checkout import GitError, find_checkout, git_folder
from trainform.io.git.process import git
from trainform.io.links import read_file


def left_out(root: str, within: Iterable[str]) -> list[str]:
    """The tracked files below the paths `within` that a sparse checkout leaves out of the work tree, sorted. Git is
    asked only if one was ever set up here. Raises GitError."""
    try:
        folder = git_folder(root)
    except GitError:
        return []
    if not os.path.lexists(os.path.join(folder, "info", "sparse-checkout")):
        return []
    listed = git(root, "ls-files", "-t", "-z", "--", *within).split(b"\0")
    files = (os.fsdecode(entry[2:]) for entry in listed if entry.startswith(b"S "))
    return [file for file in files if not os.path.lexists(os.path.join(root, file))]


def not_added(root: str, within: Iterable[str]) -> list[str]:
    """The files below the paths `within` that git's index lacks, ignored ones included, sorted. Raises GitError."""
    listed = git(root, "ls-files", "--others", "-z", "--", *within).split(b"\0")
    return sorted(os.fsdecode(file) for file in listed if file)


_CONVERTING = ("filter", "ident", "working-tree-encoding")
"""Attributes with which git writes other bytes into the work tree than a commit holds. Those for line ends are not
among them: git never turns the canonical bytes of a file of ours, which has no carriage return, into others."""


def converted(root: str, folder: str) -> dict[str, str]:
    """The tracked files below a folder that git converts, with an attribute that tells it to. Git is asked only if a
    `.gitattributes` above the folder's files names one. Raises GitError."""
    try:
        top = find_checkout(root).top
    except GitError:
        return {}
    above = _attribute_files(os.path.relpath(os.path.join(os.path.realpath(root), folder), top))
    if not any(_converts(top, file) for file in above):
        return {}
    files = git(root, "ls-files", "-z", "--", folder)
    words = git(root, "check-attr", "-z", "--stdin", *_CONVERTING, given=files).split(b"\0")
    triples = zip(words[::3], words[1::3], words[2::3], strict=False)
    told = (tuple(map(os.fsdecode, each)) for each in triples if each[2] not in (b"unspecified", b"unset"))
    return {file: f"{name}={value}" for file, name, value in told}


def _attribute_files(folder: str) -> Iterator[str]:
    """The files of attributes from the top of the work tree down to a folder, relative to the top."""
    within, name = "", ".gitattributes"
    yield name
    for part in folder.split(os.sep):
        within += f"{part}/"
        yield within + name


def _converts(top: str, file: str) -> bool:
    """Whether a file names an attribute that converts. What cannot be read as a plain file is none to git, either."""
    try:
        data = read_file(top, file)
    except (OSError, ValueError):
        return False
    return any(name.encode() in data for name in _CONVERTING)
