"""Read files and commits from git.

The only place that starts a process of git. A checkout may hold a stranger's change, so git is told where its folder is
instead of looking for one, gets no variable of its own from the environment, reads no configuration but the
repository's, and runs no program that this names: no hook, monitor, filter, pager, transport or external diff. All
commands are plumbing that only reads. Needs git 2.32 or later: an older one runs the filters that it is told to empty.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from subprocess import PIPE
from typing import NamedTuple

from trainform.io.files import LIMIT
from trainform.io.links import read_file

PATIENCE = 600.0
"""Seconds until git counts as hanging, on a file system that does not answer, say. It takes one second for 100,000
jobs."""

_SETTINGS = {
    "safe.bareRepository": "explicit",
    "core.fsmonitor": "",  # "false" is the name of a program to git before 2.36
    "core.hooksPath": os.devnull,
    "core.untrackedCache": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.warnAmbiguousRefs": "true",
    "protocol.allow": "never",
}
"""Configuration that comes before the repository's own."""

_VARIABLES = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone is not completed from its remote: git before 2.39.4 has only this
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_AMBIGUOUS = re.compile(r"refname '(?!HEAD'|refs/)(.+)' is ambiguous")
MOST_BYTES = 4 * 2**30
"""Maximum bytes of all files that are read from a commit at once: 100,000 jobs have 2 GiB."""

_FEW = 200
"""Up to this many paths are named on a command line; for more, everything is listed."""


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


def commit_of(root: str, ref: str) -> str:
    """The commit id of `ref`: a branch, a tag, `HEAD~2`. Raises NoCommit if there is none, GitError if a branch and a
    tag have this name."""
    if ref.startswith("-") or "\0" in ref:
        raise GitError(f'"{ref}" is not a valid commit name')
    code, out, said = _finish(_started(root, ("rev-parse", "--verify", f"{ref}^{{commit}}")))
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
    code, out, _ = _finish(_started(root, ("symbolic-ref", "--quiet", "HEAD")))
    branch = os.fsdecode(out).strip()
    return not code and _finish(_started(root, ("show-ref", "--verify", "--quiet", branch)))[0] == 1


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


def without_filters(root: str) -> dict[str, str]:
    """Settings that empty every filter of the repository's configuration, for commands that may look into a file of the
    work tree."""
    code, out, said = _finish(_started(root, ("config", "--name-only", "-z", "--get-regexp", r"^filter\.")))
    if code not in (0, 1):  # 1: there are none
        raise GitError(_failure(said, "config"))
    filters = {os.fsdecode(name).rpartition(".")[0] for name in out.split(b"\0") if name}
    empty = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"{each}.{key}": value for each in sorted(filters) for key, value in empty.items()}


def git(root: str, *arguments: str, given: bytes = b"") -> bytes:
    """Git's stdout in the folder `root`. Raises GitError with git's message if it fails."""
    return start(root, *arguments)(given)


def start(root: str, *arguments: str, settings: Mapping[str, str] | None = None) -> Callable[[bytes], bytes]:
    """Start git in the background, with more `settings` of its configuration. The returned function takes its stdin,
    waits, and returns what `git` does."""
    process = _started(root, arguments, settings or {})

    def output(given: bytes = b"") -> bytes:
        code, out, said = _finish(process, given)
        if code:
            raise GitError(_failure(said, arguments[0]))
        return out

    return output


def _started(root: str, arguments: Iterable[str], settings: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    checkout = find_checkout(root)
    places = (f"--git-dir={checkout.folder}", f"--work-tree={checkout.top}")
    fixed = (part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}"))
    command = [_program(), "--no-pager", *places, *fixed, *arguments]
    try:
        environment = _environment(settings or {})
        return subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=root, env=environment)
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror or error}") from error


def _finish(process: subprocess.Popen[bytes], given: bytes = b"") -> tuple[int, bytes, str]:
    """Exit code, stdout and stderr."""
    with process:
        try:
            out, said = process.communicate(given, timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise GitError(f"git gave no answer for {PATIENCE:.0f} seconds") from error
    return process.returncode, out, said.decode(errors="replace")


def _failure(said: str, command: str) -> str:
    """The line that says why git gave up, which may follow warnings."""
    lines = said.strip().splitlines() or [f"git {command} failed"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[0])


def _program() -> str:
    """Git from PATH, where a folder with a relative name, as on Windows the current one, might be of the checkout."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in filter(os.path.isabs, os.get_exec_path()):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise NoRepository("git cannot be run: there is none in PATH")


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The variables of a git process. `settings` are among them, as a name that the repository chose may hold a `=`,
    which ends the name on a command line."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
    given = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        given |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return {**kept, **_VARIABLES, **given}
