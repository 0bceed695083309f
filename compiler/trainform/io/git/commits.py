"""What commits hold, and when they changed it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from trainform.io.files import LIMIT
from trainform.io.git.checkout import GitError, NoCommit, find_checkout
from trainform.io.git.process import finish, git, started

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


_AMBIGUOUS = re.compile(r"refname '(?!HEAD'|refs/)(.+)' is ambiguous")


MOST_BYTES = 4 * 2**30
"""Maximum bytes of all files that are read from a commit at once: 100,000 jobs have 2 GiB."""


_FEW = 200
"""Up to this many paths are named on a command line; for more, everything is listed."""


def commit_of(root: str, ref: str) -> str:
    """The commit id of `ref`: a branch, a tag, `HEAD~2`. Raises NoCommit if there is none, GitError if a branch and a
    tag have this name."""
    if ref.startswith("-") or "\0" in ref:
        raise GitError(f'"{ref}" is not a valid commit name')
    code, out, said = finish(started(root, ("rev-parse", "--verify", f"{ref}^{{commit}}")))
    commit = out.decode(errors="replace").strip()
    if code or not _COMMIT.fullmatch(commit):
        git(root, "rev-parse", "--git-dir")  # raises a clearer error if git cannot read the repository at all
        raise NoCommit(f'git does not know the commit "{ref}"; a shallow clone may not contain it')
    if (found := _AMBIGUOUS.search(said)) and not _COMMIT.fullmatch(ref):
        name = found[1]
        raise GitError(f'"{name}" is ambiguous: write refs/heads/{name} for the branch, refs/tags/{name} for the tag')
    return commit


def is_unborn(root: str) -> bool:
    """Whether HEAD names a branch that has no commit yet, as in a new repository. Raises NoCommit without one."""
    code, out, _ = finish(started(root, ("symbolic-ref", "--quiet", "HEAD")))
    branch = os.fsdecode(out).strip()
    return not code and finish(started(root, ("show-ref", "--verify", "--quiet", branch)))[0] == 1


def files_at(root: str, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
    """The bytes of those `paths` (relative to `root`) that are files at `commit`. Raises GitError if this clone lacks
    the contents of one, as a partial clone may, or if one is too large."""
    prefix = find_checkout(root).prefix
    asked = {f"{prefix}{path}": path for path in paths if _may_exist(path)}
    requests = _requests(root, commit, asked)
    if not requests:
        return {}
    given = os.fsencode("".join(f"{each}\n" for each in requests.values()))
    _refuse_large(requests, git(root, "cat-file", "--batch-check", given=given), commit)
    answer = git(root, "cat-file", "--batch", given=given)
    found = dict(zip(requests, _objects(answer), strict=True))
    missing = [path for path, data in found.items() if data is None]
    if lost := _blobs(root, commit, missing) if missing else None:
        raise GitError(f"this clone lacks the contents of {min(lost)} at {commit[:12]}: clone again without --filter")
    return {asked[path]: data for path, data in found.items() if data is not None}


def _refuse_large(paths: Iterable[str], sizes: bytes, commit: str) -> None:
    """Raise GitError for files that nobody could review. A few bytes of a pack can unfold to gigabytes."""
    left = MOST_BYTES
    for path, line in zip(paths, sizes.splitlines(), strict=True):
        size = int(found[2]) if (found := _FOUND.match(line)) and found[1] == b"blob" else 0
        left -= size
        if size > LIMIT:
            raise GitError(f"{path} at {commit[:12]} has {size >> 20:,} MiB; a file may have {LIMIT >> 20} MiB")
        if left < 0:
            raise GitError(f"the files to compare with at {commit[:12]} have more than {MOST_BYTES >> 30} GiB")


def _may_exist(path: str) -> bool:
    """Whether a commit can hold this path; others have a meaning of their own to git, or none."""
    return "\0" not in path and not {"", ".", ".."}.intersection(path.split("/"))


def _requests(root: str, commit: str, paths: Iterable[str]) -> dict[str, str]:
    """How to ask `cat-file` for each path. It takes a request a line, so a path of several lines is asked for by id."""
    requests = {path: f"{commit}:{path}" for path in paths}
    if odd := [path for path in requests if "\n" in path]:
        ids = _blobs(root, commit, odd)
        for path in odd:
            del requests[path]
        requests |= {path: ids[path] for path in odd if path in ids}
    return requests


def _blobs(root: str, commit: str, paths: list[str]) -> dict[str, str]:
    """The ids of those `paths`, relative to the work tree, that are files at a commit."""
    named = paths if len(paths) <= _FEW else ()
    listed = git(root, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *named)
    wanted = set(paths)
    entries = (os.fsdecode(entry).partition("\t") for entry in listed.split(b"\0") if b" blob " in entry)
    return {path: words.split()[2] for words, _, path in entries if path in wanted and " blob " in words}


_FOUND = re.compile(rb"[0-9a-f]+ (\w+) (\d+)\Z")


def _objects(answer: bytes) -> Iterator[bytes | None]:
    """Parse `<id> blob <size>`, a newline and the bytes for each file found; one line for each missing one."""
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        line, at = answer[at:end], end + 1
        if (found := _FOUND.match(line)) is None:
            yield None  # "missing", or "submodule"
            continue
        size = int(found[2])
        yield answer[at : at + size] if found[1] == b"blob" else None
        at += size + 1


def last_changes(root: str, paths: Iterable[str]) -> dict[str, int]:
    """When a commit changed each of those `paths` last, in seconds since 1970 by the committer's clock; without those
    that no commit holds or that differ from HEAD. Merges do not count, what they merge does. In a shallow clone, all
    that came before counts as changed by the oldest commit. Raises GitError."""
    prefix = find_checkout(root).prefix
    wanted = {f"{prefix}{path}": path for path in paths}
    differing = git(root, "diff-index", "--name-only", "--no-renames", "--no-ext-diff", "-z", "HEAD").split(b"\0")
    for path in differing:
        wanted.pop(os.fsdecode(path), None)
    commits = git(root, "rev-list", "--no-merges", "HEAD", "--", ".")
    pretty = ("--root", "--stdin", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--format=%x01%ct")
    found: dict[str, int] = {}
    for commit in git(root, "diff-tree", *pretty, given=commits).split(b"\1")[1:]:
        time, *names = re.split(rb"[\0\n]+", commit.strip(b"\0\n"))
        for name in map(os.fsdecode, names):
            if name in wanted:
                found.setdefault(wanted[name], int(time))
    return found
