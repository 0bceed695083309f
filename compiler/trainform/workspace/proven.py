"""What earlier runs proved of a commit, so that the next one looks only at what changed since.

A run that finds a large repository current, at a commit and with nothing changed since, leaves a record in git's
own folder: it is never part of the repository, and may be deleted at any time. The next run asks git which files have
other object ids now. It reads those, and every job that they may concern; the others are as they were proven.
Whatever else may decide about jobs, a runtime, an Environment, a snapshot or the settings, ends that: all is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform import __version__
from trainform.diagnostics.order import has_errors
from trainform.io import cache_file as record
from trainform.io.baseline import Commit
from trainform.io.git import GitError, attributes, commit_of, is_sparse, setting, start
from trainform.io.paths import LOCKS, SNAPSHOTS, JobId, lock_file
from trainform.io.repository import is_template
from trainform.io.settings import FILE
from trainform.output.kustomization import FILE as KUSTOMIZATION
from trainform.output.layout import job_folder
from trainform.workspace.lockfile import Lock, LockError, parse
from trainform.workspace.reach import jobs_of
from trainform.workspace.selection import named, train_jobs
from trainform.workspace.shared_files import ATTRIBUTES
from trainform.workspace.staleness import third_party
from trainform.workspace.target import load

if TYPE_CHECKING:
    from trainform.io.repository import Repository
    from trainform.workspace.discovery import Survey
    from trainform.workspace.state import State
    from trainform.workspace.target import Target

LEAST = 1000
"""Files of jobs from which on a record is worth the time that git takes."""

_FORMAT = 2


_ID = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""Of a commit: a name, such as HEAD, would come to mean another one."""


class Changes(NamedTuple):
    """How a repository differs from a commit that was proven.

    `paths` are the files that changed, `files` the files of jobs to read, `touched` the jobs to look at: the others
    are as they were. `before` holds the locks that touched jobs had. `known` is what the record says besides.
    """

    paths: Collection[str]
    files: list[str]
    touched: set[JobId]
    before: dict[JobId, Lock]
    known: dict[str, Any]

    def untouched(self, state: State) -> set[JobId]:
        return {job for job in state.ids() if job not in self.touched}

    def shared(self, rendered: str) -> set[tuple[str, str]]:
        """The environments (as `("prod", "")`) and their namespaces whose lists may be others than those proven."""
        found = {place for job in self.touched for place in ((job[0], ""), (job[0], job[1]))}
        for path in self.paths:
            if path.startswith(f"{rendered}/") and path.endswith(f"/{KUSTOMIZATION}"):
                environment, *inner = path.removeprefix(f"{rendered}/").split("/")[:-1] or [""]
                found.add((environment, inner[0] if inner else ""))
        return found


class Look(NamedTuple):
    """A look at what changed since a commit that was proven, which git has begun to take."""

    commit: Commit
    known: dict[str, Any]
    paths: Callable[[], set[str] | None]
    """Waits for git; None where it cannot tell."""

    def nothing(self) -> Changes | None:
        """Changes that are none; None where there are some."""
        return Changes(set(), [], set(), {}, self.known) if self.paths() == set() else None


def recorded(purpose: str, root: str) -> dict[str, Any] | None:
    """The record for a purpose, where this very compiler wrote it, with the same plugins."""
    known = record.read(root, purpose)
    if known is None or known.get("made") != _made() or not _ID.fullmatch(str(known.get("commit"))):
        return None
    return None if is_sparse(root) else known


def keep(purpose: str, commit: Commit, facts: dict[str, Any]) -> None:
    """Writes the record of what is known of a commit. Raises GitError and OSError."""
    record.write(commit.root, purpose, {"made": _made(), "commit": commit.id, **facts})


def look(purpose: str, repository: Repository) -> Look | None:
    """Begins to look, where there is a record for the purpose."""
    known = recorded(purpose, repository.root)
    if known is None:
        return None
    commit = Commit(repository.root, str(known["commit"]))
    try:
        differing = commit.looking(_folders(repository), strictly=True)
    except GitError:
        return None

    @cache
    def paths() -> set[str] | None:
        try:
            return differing()
        except GitError:
            return None

    return Look(commit, known, paths)


def changes(begun: Look | None, survey: Survey, state: State) -> Changes | None:
    """What changed since the commit that was proven; None where all is to be read."""
    paths = begun.paths() if begun else None
    if begun is None or paths is None or _is_faulty(survey):
        return None
    try:
        return begun.nothing() or _changes(survey, state, begun.commit, paths, begun.known)
    except GitError:
        return None


def head(root: str) -> Callable[[], Commit | None]:
    """Starts to ask for the commit that is checked out, before anything is read: only of that one may be said later
    what was found. What is returned waits for it."""
    try:
        answer = start(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitError:
        return lambda: None

    def commit() -> Commit | None:
        try:
            return Commit(root, answer(b"").decode().strip())
        except GitError:
            return None

    return commit


def remember(
    purpose: str,
    survey: Survey,
    state: State,
    facts: dict[str, Any],
    since: Changes | None,
    commit: Commit | None,
) -> Commit | None:
    """Keeps what was proven of `commit`, which was checked out before anything was read, if it is so still and nothing
    is changed; that commit, if it was kept.

    Git must know every file, to the byte: what is in a submodule, or behind a link, may change without its notice.
    """
    root = survey.repository.root
    if len(survey.files) < LEAST or commit is None or (since is not None and since.known["commit"] == commit.id):
        return None
    try:
        is_as_read = commit_of(root, "HEAD") == commit.id and not commit.changed(_folders(survey.repository))
        if is_as_read and not is_sparse(root) and _is_exact(survey.repository) and _knows_all(commit, survey, state):
            keep(purpose, commit, facts)
            return commit
    except (GitError, OSError):
        pass  # a help for the next run, and no more
    return None


def _is_exact(repository: Repository) -> bool:
    """Whether what git compares are the very bytes of the files: no filter changes any, and of ours not even the ends
    of lines, as the attributes say that `trainform` writes."""
    settings = repository.settings
    ours = [f"{folder}/a/b/c/d.yaml" for folder in (settings.rendered, LOCKS, SNAPSHOTS)]
    users = [f"{folder}/a/b/c.yaml" for folder in (settings.jobs, settings.runtimes, settings.environments)]
    found = attributes(repository.root, ("filter", "ident", "working-tree-encoding"), [*ours, *users])
    ends = attributes(repository.root, ("text",), ours)
    kept = {"unset"} if setting(repository.root, "core.autocrlf") in ("true", "input") else {"unset", "unspecified"}
    return found <= {"unset", "unspecified"} and ends <= kept


def _knows_all(commit: Commit, survey: Survey, state: State) -> bool:
    return (
        not commit.strangers(*_others(survey.repository))
        and commit.plain_files(survey.repository.settings.jobs).issuperset(survey.files)
        and len(known_jobs(commit, state)) == len(state.ids())
    )


def known_jobs(commit: Commit, state: State) -> list[JobId]:
    """The jobs whose lock and folder git knows."""
    rendered = state.repository.settings.rendered
    locks, folders = commit.plain_files(LOCKS), commit.folders(rendered)
    return [job for job in state.ids() if lock_file(job) in locks and job_folder(rendered, *job) in folders]


def _made() -> dict[str, Any]:
    return {"format": _FORMAT, "compiler": __version__, "plugins": third_party()}


def _folders(repository: Repository) -> list[str]:
    settings = repository.settings
    return [settings.jobs, settings.rendered, *_others(repository), LOCKS]


def _others(repository: Repository) -> list[str]:
    """What may decide about jobs whose own files did not change."""
    settings = repository.settings
    return [settings.runtimes, settings.environments, SNAPSHOTS, FILE, ATTRIBUTES]


def _changes(survey: Survey, state: State, commit: Commit, paths: set[str], known: dict[str, Any]) -> Changes | None:
    settings = survey.repository.settings
    above = tuple(f"{folder}/" for folder in _others(survey.repository))
    sources = {path for path in paths if path.startswith(f"{settings.jobs}/")}
    if FILE in paths or any(path.startswith(above) for path in paths) or any(map(is_template, sources)):
        return None
    if any(_is_strange(survey.repository.root, path) for path in paths):
        return None
    was = [document for path, data in commit.read(sources).items() for document in load(path, data).documents]
    if any(document.tree.get("kind") != "TrainJob" for document in was):
        return None
    touched = jobs_of(paths, settings)
    touched |= {(target.name, *named(document, target)) for document in was for target in survey.targets}
    return _closed(survey, state, commit, Changes(paths, [], touched, {}, known), sources)


def _is_strange(root: str, path: str) -> bool:
    """Whether git cannot tell what a path that changed leads to, or how to take files from here on."""
    there = os.path.join(root, path)
    return "\n" in path or path.endswith(ATTRIBUTES) or os.path.islink(there) or os.path.isdir(there)


def _is_faulty(survey: Survey) -> bool:
    """Whether something is wrong already with what all share, or with the folders of jobs."""
    return has_errors([each for target in survey.targets for each in target.inputs.diagnostics])


def _closed(survey: Survey, state: State, commit: Commit, found: Changes, files: set[str]) -> Changes | None:
    """With every file that a touched job stands in or stood in, and every job in those."""
    existing, read = set(survey.files), set[str]()
    files = files & existing
    while True:
        targets = survey.part([file for file in survey.files if file in files])
        if any(_has_others(target, files) for target in targets):
            return None
        found.touched.update((target.name, *named(job, target)) for target in targets for job in train_jobs(target))
        found.before.update(_locks(commit, found.touched - found.before.keys()))
        read |= files
        locks = [*filter(None, map(state.lock, found.touched)), *found.before.values()]
        files = {lock.source for lock in locks} & existing - read
        if len(read) + len(files) > len(existing) // 4:
            return None
        if not files:
            break
    found.files.extend(file for file in survey.files if file in read)
    # An Environment may say something that only jobs met that are touched: with none left, it is judged as a whole.
    left = {job[0] for job in found.untouched(state)}
    return found if all(target.name in left for target in survey.targets) else None


def _has_others(target: Target, files: Collection[str]) -> bool:
    own = [document for document in target.inputs.documents if document.file in files]
    return any(document.tree.get("kind") != "TrainJob" for document in own)


def _locks(commit: Commit, jobs: Iterable[JobId]) -> dict[JobId, Lock]:
    by_path = {lock_file(job): job for job in jobs}
    found = {}
    for path, data in commit.read(by_path).items():
        try:
            found[by_path[path]] = parse(data).lock
        except LockError:
            continue  # the commit was proven: it has none like that
    return found
