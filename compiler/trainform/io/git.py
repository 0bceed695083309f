"""What git has: files as they were at a commit. Nothing here changes a repository."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator


class GitError(Exception):
    """Git is not there, or does not know what it was asked for; the message says which."""


def commit_of(root: str, ref: str) -> str:
    """The id of the commit that `ref` names: a branch, a tag, `HEAD~2`. Raises GitError where there is none."""
    if ref.startswith("-"):
        raise GitError(f'"{ref}" is no name of a commit')
    try:
        return _git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
    except GitError:
        _git(root, "rev-parse", "--git-dir")  # says so where there is no repository at all
        raise GitError(f'git knows no commit "{ref}" here; a shallow clone may lack it') from None


def files_at(root: str, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
    """The bytes of those of `paths`, relative to `root`, that are plain files at `commit`. One process for all."""
    asked = list(paths)
    prefix = _git(root, "rev-parse", "--show-prefix").decode().rstrip("\n")
    requests = "".join(f"{commit}:{prefix}{path}\n" for path in asked).encode()
    answer = _git(root, "cat-file", "--batch", given=requests)
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


def _git(root: str, *arguments: str, given: bytes = b"") -> bytes:
    """Standard output of git in the folder `root`; GitError with what it says when it fails."""
    command = ["git", "--no-pager", "-C", root, *arguments]
    try:
        ran = subprocess.run(command, input=given, capture_output=True, check=False)
    except OSError as error:
        raise GitError(f"git does not run: {error.strerror or error}") from error
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(said[0] if said else f"git {arguments[0]} failed")
    return ran.stdout
