"""A command that writes, from its options to its exit code: what `render` and `upgrade` share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK
from trainform.cli.errors import report_failures
from trainform.cli.terminal import print_brief, print_json
from trainform.diagnostics.order import has_errors
from trainform.io.lock import claimed
from trainform.io.paths import links_out
from trainform.io.repository import open_repository
from trainform.io.writer import staging
from trainform.workspace.apply import carry_out, tell
from trainform.workspace.assembling import Run, assemble
from trainform.workspace.discovery import Survey, survey
from trainform.workspace.proven import Changes, changes, head, look, remember
from trainform.workspace.rendering import Part, Request, work_out
from trainform.workspace.selection import select
from trainform.workspace.slices import Slice, in_slices
from trainform.workspace.state import State, read_state
from trainform.workspace.target import Target

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.diagnostics.documents import RenderedJob


RENDERED = "rendered"
"""The purpose of a record: every job is as its lock says, and no TrainJob changed since."""


def run_in(root: str, jobs: Sequence[str], request: Request, form: str, workers: int = 0) -> int:
    """Renders the `jobs` of the repository at `root` (all, where that is empty) as the request says, writes
    what changed, and prints the result: `form` is text or json. `workers` as for `in_slices`."""
    if outside := links_out(root):
        raise click.ClickException(f"{outside[0]} leads out of the repository: remove the link")
    with claimed(root), staging(root):
        repository, problems = open_repository(root)
        is_of_everything = request.is_of_everything and not (jobs or request.dry_run) and form == "text"
        asked = head(root) if is_of_everything else None
        begun = look(RENDERED, repository) if is_of_everything else None
        state, since, commit = read_state(repository), None, asked() if asked else None
        if begun and not problems and begun.known["quiet"] and (since := begun.nothing()):
            run = assemble([_untouched(since, state)], state, request, since)
            if run.changes_nothing and not run.told:  # then nobody is interested in what all share
                tell(run, wrote=True)
                return OK
        known = survey(repository, request.environments)
        if jobs or request.dry_run or form == "json":
            targets = known.whole()
            problems += select(targets, jobs, repository.root) if jobs else []
            parts = [work_out(targets, problems, request, state)]
        else:
            since = changes(begun, known, state)
            work = partial(_work, problems, request, state, set())
            parts = _of_changes(known, since, state, work) if since else in_slices(known, work, workers)
        run = assemble(parts, state, request, since)
        wrote = not request.dry_run and carry_out(run, keep_going=request.keep_going)
        if request.is_of_everything and run.work is None and run.changes_nothing:
            remember(RENDERED, known, state, run.proven(), since, commit)
        print_brief(run.told, run.diagnostics, sys.stderr)
        _print(run, form, request, wrote)
    return report_failures(run.failures) or (FAULTY if has_errors(run.everything_told()) else OK)


def _work(
    problems: Sequence[Diagnostic],
    request: Request,
    state: State,
    told: set[str],
    targets: list[Target],
    part: Slice | None,
) -> Part:
    """One slice. Each process tells of a snapshot once: `told` are the digests of those that it told of."""
    result = work_out(targets, problems if part is None or part.first else (), request, state.fresh(), part)
    result.snapshots = [each for each in result.snapshots if each.digest not in told]
    told.update(each.digest for each in result.snapshots)
    return result


def _of_changes(
    known: Survey, since: Changes, state: State, work: Callable[[list[Target], Slice | None], Part]
) -> list[Part]:
    """The jobs that a change may concern, worked out, and the others as they were proven."""
    if since.known["quiet"] and not since.files:
        return [_untouched(since, state)]  # nor has what all share anything to tell
    return [_untouched(since, state), work(known.part(since.files), Slice(since.files, first=True))]


def _untouched(since: Changes, state: State) -> Part:
    return Part.of_untouched(since.untouched(state), since.before.values(), since.known)


def _print(run: Run, form: str, request: Request, wrote: bool) -> None:
    if form == "json":
        _print_json(run)
    elif request.dry_run:
        from trainform.workspace.preview import print_preview

        assert run.work is not None
        print_preview(run.work)
    else:
        tell(run, wrote=wrote)


def _print_json(run: Run) -> None:
    from trainform.diagnostics.documents import render_result
    from trainform.workspace.uptodate import rendered_job

    assert run.work is not None
    outcome = run.work.outcome
    jobs: list[RenderedJob] = list(outcome.jobs)
    jobs += [rendered_job(run.repository, each) for each in run.work.frozen]
    jobs.sort(key=lambda job: (job.environment, job.namespace, job.name))
    print_json(render_result(jobs, [*outcome.diagnostics, *run.diagnostics]))
