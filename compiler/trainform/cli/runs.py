"""A command that writes, from its options to its exit code: what `render` and `upgrade` share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from trainform.cli import FAULTY, OK
from trainform.cli.assembling import Run, assemble
from trainform.cli.bug import report_failures
from trainform.cli.rendering import Part, Request, work_out
from trainform.cli.selection import select
from trainform.cli.slices import Slice, in_slices
from trainform.cli.state import State, read_state
from trainform.cli.targets import Target, survey
from trainform.cli.terminal import print_brief, print_json
from trainform.cli.writing import carry_out, tell
from trainform.diagnostics.order import has_errors
from trainform.io.claim import claimed
from trainform.io.repository import open_repository
from trainform.io.writer import recover

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.diagnostics.documents import RenderedJob


def run_in(root: str, jobs: Sequence[str], request: Request, form: str, workers: int = 0) -> int:
    """Renders the `jobs` of the repository at `root` (all, where that is empty) as the request says, writes
    what changed, and prints the result: `form` is text or json. `workers` as for `in_slices`."""
    with claimed(root):
        recover(root)
        repository, problems = open_repository(root)
        known = survey(repository, request.environments)
        state = read_state(repository)
        if jobs or request.dry_run or form == "json":
            targets = known.whole()
            problems += select(targets, jobs, repository.root) if jobs else []
            parts = [work_out(targets, problems, request, state)]
        else:
            parts = in_slices(known, partial(_work, problems, request, state), workers)
        run = assemble(parts, state, request)
        wrote = not request.dry_run and carry_out(run, keep_going=request.keep_going)
        print_brief(run.told, run.diagnostics, sys.stderr)
        _print(run, form, request, wrote)
    return report_failures(run.failures) or (FAULTY if has_errors(run.everything_told()) else OK)


def _work(
    problems: Sequence[Diagnostic], request: Request, state: State, targets: list[Target], part: Slice | None
) -> Part:
    return work_out(targets, problems if part is None or part.first else (), request, state.fresh(), part)


def _print(run: Run, form: str, request: Request, wrote: bool) -> None:
    if form == "json":
        _print_json(run)
    elif request.dry_run:
        from trainform.cli.preview import print_preview

        assert run.work is not None
        print_preview(run.work)
    else:
        tell(run, wrote=wrote)


def _print_json(run: Run) -> None:
    from trainform.cli.frozen import rendered_job
    from trainform.diagnostics.documents import render_result

    assert run.work is not None
    outcome = run.work.outcome
    jobs: list[RenderedJob] = list(outcome.jobs)
    jobs += [rendered_job(run.repository, each) for each in run.work.frozen]
    jobs.sort(key=lambda job: (job.environment, job.namespace, job.name))
    print_json(render_result(jobs, [*outcome.diagnostics, *run.diagnostics]))
