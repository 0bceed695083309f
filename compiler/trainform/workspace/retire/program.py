"""`trainform retire`: choose jobs, try their removal in a copy, and edit their files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import has_errors
from trainform.io.git import GitError
from trainform.io.paths import FOLDER
from trainform.io.place import os_error
from trainform.io.rehearsal import edited_copy
from trainform.io.repository import open_repository
from trainform.io.staging import Staging, writing
from trainform.io.writer import remove, rewrite
from trainform.review.live.model import KIND, status_of
from trainform.workspace import InvocationError
from trainform.workspace.diff.difference import diff
from trainform.workspace.diff.scope import watched
from trainform.workspace.discovery import Workspace, discover
from trainform.workspace.inputs import load
from trainform.workspace.retire.choice import Criteria, choose, jobs_of, outcomes_in, outcomes_of
from trainform.workspace.retire.edit import Retirement, remove_jobs
from trainform.workspace.selection import select

if TYPE_CHECKING:
    from trainform.review.diff.model import Diff
    from trainform.source import Document


class Request(NamedTuple):
    """What to retire: `jobs` by name (empty: all) that meet the criteria. `before`: files that git changed last before
    this time, in seconds since 1970. `finished` has `[environment=]file` with JobSets as kubectl prints them, and
    `outcomes` are how they must have ended. `keep` has patterns of names that stay."""

    jobs: Sequence[str] = ()
    before: float | None = None
    finished: Sequence[str] = ()
    outcomes: Sequence[str] = ("Completed",)
    keep: Sequence[str] = ()
    dry_run: bool = False


class Retired(NamedTuple):
    """The edits, what they do to jobs (None if there are none), and problems. With errors, nothing was written."""

    edits: Retirement
    diff: Diff | None
    problems: list[Diagnostic]


def retire(root: str, request: Request) -> Retired:
    """Remove TrainJobs from their files. Raises InvocationError for what cannot be known in this repository."""
    with writing(root) as staging:
        workspace = discover(root)
        workspace.refuse_sparse_checkout()
        criteria = Criteria(request.before, _finished(workspace, request.finished), request.outcomes, request.keep)
        edits, problems = _chosen(workspace, request.jobs, criteria)
        if has_errors(problems) or not edits.jobs:
            return Retired(edits, None, problems)
        found = _difference(workspace, edits)
        if not request.dry_run:
            problems += _write(staging, edits)
        return Retired(edits, found, problems)


def _finished(workspace: Workspace, given: Sequence[str]) -> dict[str, dict[tuple[str, str], str]] | None:
    """How JobSets ended, by environment; None if nobody asks."""
    return dict(_outcomes(workspace, each) for each in given) if given else None


def _outcomes(workspace: Workspace, given: str) -> tuple[str, dict[tuple[str, str], str]]:
    """How JobSets ended: as kubectl prints them, or as `status --format json` does, which says of which environment."""
    names = [each.name for each in workspace.environments]
    environment, _, file = given.rpartition("=")
    trees = [each.tree for each in _read(workspace, file)]
    status = status_of(trees[0]) if len(trees) == 1 else None
    if status is None and any(tree.get("kind") == KIND for tree in trees):
        raise InvocationError(f"{file}: is not what `trainform status --format json` prints", "--finished")
    if status and environment in ("", status.environment):
        environment = status.environment
    elif not environment and len(names) == 1:
        environment = names[0]
    if environment not in names or (status and status.environment != environment):
        raise InvocationError(f'"{given}": write ENV=FILE, where ENV is one of {", ".join(names)}', "--finished")
    if status:
        return environment, outcomes_in(status)
    return environment, outcomes_of(tree for tree in trees if tree.get("kind") == "JobSet")


def _read(workspace: Workspace, file: str) -> list[Document]:
    data = workspace.repository.read(os.path.abspath(file))
    if isinstance(data, Diagnostic):
        raise InvocationError(f"{file}: {data.message}", "--finished")
    loaded = load(file, data)
    if has_errors(loaded.diagnostics):
        raise InvocationError(f"{file}: {loaded.diagnostics[0].message}", "--finished")
    return loaded.documents


def _chosen(workspace: Workspace, asked: Sequence[str], criteria: Criteria) -> tuple[Retirement, list[Diagnostic]]:
    """The edits, and problems. An unreadable job file is one: it may hold one of the jobs. A job that cannot be removed
    is an error if it was named; else it only stays."""
    environments = workspace.read()
    problems = [*workspace.problems]
    if asked:
        problems += select(workspace, environments, asked, selected=False)
    problems += [problem for each in environments for problem in each.sources.diagnostics]
    if has_errors(problems):
        return Retirement(), problems
    try:
        jobs = choose(workspace, jobs_of(environments), criteria)
    except GitError as error:
        raise InvocationError(f"the age of jobs is not known: {error}") from error
    edits = remove_jobs(workspace.repository, jobs, workspace.job_files)
    left = edits.left if asked else [each._replace(severity="warning") for each in edits.left]
    return edits, problems + left


def _difference(workspace: Workspace, edits: Retirement) -> Diff:
    """What the edits do to jobs, tried in a copy of the repository."""
    repository = workspace.repository
    with edited_copy(repository.root, [*watched(repository.settings), FOLDER], edits.files) as copy:
        return diff(*open_repository(copy), repository.root, (), cached=False).diff


def _write(staging: Staging, edits: Retirement) -> list[Diagnostic]:
    """Edit files first: a run that is killed in between has lost nothing that git does not keep."""
    problems = []
    for file, data in sorted(edits.files.items(), key=lambda item: item[1] is None):
        try:
            if data is None:
                remove(staging.root, file)
            else:
                rewrite(staging, file, data)
        except OSError as error:
            problems.append(os_error("TF707", file, error, "cannot be written"))
    return problems
