"""What git has: files as they were at a commit. Nothing here changes a repository."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from subprocess import PIPE


class GitError(Exception):
    """Git is not there, or does not know what it was asked for; the message says which."""


def commit_of(root: str, ref: str) -> str:
    """The id of the commit that `ref` names: a branch, a tag, `HEAD~2`. Raises GitError where there is none."""
    if ref.startswith("-"):
        raise GitError(f'"{ref}" is not a valid commit name')
    try:
        return git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
    except GitError:
        git(root, "rev-parse", "--git-dir")  # says so where there is no repository at all
        raise GitError(f'git does not know the commit "{ref}"; a shallow clone may not contain it') from None


def git_folder(root: str) -> str:
    """Where git keeps what is its own in this checkout, found without asking it. Raises GitError where there is none.

    `.git` is that folder, or a file that names it, in worktrees and submodules (gitrepository-layout(5)).
    """
    folder = os.path.realpath(root)
    while not os.path.lexists(path := os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            raise GitError("this is not a git repository")
        folder = above
    if os.path.isdir(path):
        return path
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            named = file.read().partition("gitdir: ")[2].rstrip("\n")
    except OSError as error:
        raise GitError(f"{path}: {error.strerror}") from error
    return os.path.join(folder, named)


def checkout_digest(root: str) -> str:
    """What tells the repository at `root` from others in the same git checkout: a digest of its real path."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]


def files_at(root: str, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
    """The bytes of those of `paths`, relative to `root`, that are plain files at `commit`. One process for all."""
    asked = list(paths)
    prefix = os.fsdecode(git(root, "rev-parse", "--show-prefix")).rstrip("\n")
    requests = os.fsencode("".join(f"{commit}:{prefix}{path}\n" for path in asked))
    answer = git(root, "cat-file", "--batch", given=requests)
    return {path: data for path, data in zip(asked, _objects(answer), strict=True) if data is not None}


def _objects(answer: bytes) -> Iterator[bytes | None]:
    """`<id> blob <size>`, a line break and the bytes for what is there; one line for what is not."""
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        words, at = answer[at:end].rsplit(b" ", 2), end + 1
        if words[-1] == b"missing":
            yield None
            continue
        size = int(words[-1])
        yield answer[at : at + size] if words[-2] == b"blob" else None
        at += size + 1


def git(root: str, *arguments: str, given: bytes = b"") -> bytes:
    """Standard output of git in the folder `root`; GitError with what it says when it fails."""
    return start(root, *arguments)(given)


def start(root: str, *arguments: str) -> Callable[[bytes], bytes]:
    """Starts git, and goes on: what is returned takes its standard input, waits, and gives what `git` gives."""
    command = ["git", "--no-pager", "-C", root, *arguments]
    try:
        process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror or error}") from error

    def output(given: bytes = b"") -> bytes:
        with process:
            out, said = process.communicate(given)
        if process.returncode:
            lines = said.decode(errors="replace").strip().splitlines()
            raise GitError(lines[0] if lines else f"git {arguments[0]} failed")
        return out

    return output
