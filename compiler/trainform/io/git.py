"""Read files and commits from git. Nothing here changes a repository."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from subprocess import PIPE


class GitError(Exception):
    """Git is not installed, or the command failed; the message says which."""


def commit_of(root: str, ref: str) -> str:
    """The commit id of `ref`: a branch, a tag, `HEAD~2`. Raises GitError if there is none."""
    if ref.startswith("-"):
        raise GitError(f'"{ref}" is not a valid commit name')
    try:
        return git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
    except GitError:
        git(root, "rev-parse", "--git-dir")  # raises a clearer error outside a repository
        raise GitError(f'git does not know the commit "{ref}"; a shallow clone may not contain it') from None


def git_folder(root: str) -> str:
    """Git's folder for this checkout, found without running git: `.git`, or the folder that a `.git` file names in
    worktrees and submodules (gitrepository-layout(5)). Raises GitError if there is none."""
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
    """A digest of the real path of `root`, which identifies it among several repositories in a checkout."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]


def files_at(root: str, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
    """The bytes of those `paths` (relative to `root`) that are plain files at `commit`, from one git process."""
    asked = list(paths)
    prefix = os.fsdecode(git(root, "rev-parse", "--show-prefix")).rstrip("\n")
    requests = os.fsencode("".join(f"{commit}:{prefix}{path}\n" for path in asked))
    answer = git(root, "cat-file", "--batch", given=requests)
    return {path: data for path, data in zip(asked, _objects(answer), strict=True) if data is not None}


def _objects(answer: bytes) -> Iterator[bytes | None]:
    """Parse `<id> blob <size>`, a newline and the bytes for each file found; one line for each missing one."""
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
    """Git's stdout in the folder `root`. Raises GitError with git's message if it fails."""
    return start(root, *arguments)(given)


def start(root: str, *arguments: str) -> Callable[[bytes], bytes]:
    """Start git in the background. The returned function takes its stdin, waits, and returns what `git` does."""
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
