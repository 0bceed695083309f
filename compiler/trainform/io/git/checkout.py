"""Where a checkout and git's folder for it are, found without running git."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple


class GitError(Exception):
    """Git has no answer; the message says why."""


class NoCommit(GitError):
    """There is nothing to compare with: no such commit, no repository, or no git on this machine."""


class NoRepository(NoCommit):
    """Git keeps nothing here, or there is no git on this machine."""


class Checkout(NamedTuple):
    """A work tree and git's folder for it, by real paths. `prefix` leads from `top`, the folder of the work tree, to
    the root of the project: empty, or ending with `/`."""

    folder: str
    top: str
    prefix: str


def find_checkout(root: str) -> Checkout:
    """The checkout that `root` lies in, found without running git: where the nearest `.git` is. That may be a file that
    names git's folder, as in worktrees and submodules (gitrepository-layout(5)). Raises GitError if there is none."""
    start = top = os.path.realpath(root)
    while not os.path.lexists(path := os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            raise NoRepository("this is not a git repository")
        top = above
    prefix = start[len(top) :].lstrip(os.sep).replace(os.sep, "/")
    return Checkout(_folder_of(path, top), top, f"{prefix}/" if prefix else "")


def _folder_of(path: str, top: str) -> str:
    """The real path of git's folder. Git lets no commit hold a `.git`, but an archive may, and one that leads to
    another folder of the work tree would let a commit bring git's folder; one that leads to any other folder would have
    us write there."""
    folder = os.path.realpath(os.path.join(top, _named_in(path)) if os.path.isfile(path) else path)
    if folder != path and folder.startswith(os.path.join(top, "")):
        raise GitError(f"{path} names a folder of the work tree, {folder}, which a commit may have brought")
    if folder != path and not os.path.lexists(os.path.join(folder, "HEAD")):
        raise GitError(f"{path} names {folder}, which is not a folder of git")
    return folder


def _named_in(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(1 << 16)
    except OSError as error:
        raise GitError(f"{path}: {error.strerror}") from error
    named = text.removeprefix("gitdir: ").rstrip("\r\n")
    if named == text.rstrip("\r\n") or not named or "\0" in named:
        raise GitError(f"{path} names no folder: it must hold gitdir: and a path")
    return named


def git_folder(root: str) -> str:
    """Git's folder for the checkout of `root`. Raises GitError if there is none."""
    return find_checkout(root).folder


def head_files(folder: str) -> tuple[str, ...]:
    """Files that change when HEAD moves in the checkout with this folder of git: HEAD, its log if one is kept, the file
    of the branch that it names, and, where git keeps branches in tables, the list of these (gitrepository-layout(5),
    gitformat-reftable(5)). Not all of them need exist."""
    shared = os.path.normpath(os.path.join(folder, _line_of(f"{folder}/commondir")))
    branch = _line_of(f"{folder}/HEAD").removeprefix("ref: ")
    found = [
        f"{folder}/HEAD",
        f"{folder}/logs/HEAD",
        f"{folder}/reftable/tables.list",
        f"{shared}/reftable/tables.list",
    ]
    if branch.startswith("refs/") and ".." not in branch:
        found.append(f"{shared}/{branch}")
    return tuple(dict.fromkeys(found))


def _line_of(path: str) -> str:
    """The line that a file of git's holds; empty if there is no such file."""
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(1 << 16).rstrip("\r\n")
    except OSError:
        return ""


def checkout_digest(root: str) -> str:
    """A digest of the real path of `root`, which identifies it among several repositories in a checkout."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
