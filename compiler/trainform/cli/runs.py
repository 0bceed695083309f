"""A command that writes, from its options to its exit code: what `render` and `upgrade` share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainform.cli import FAULTY, OK
from trainform.cli.bug import report_failures
from trainform.cli.rendering import Rendering, Request, work_out
from trainform.cli.selection import select
from trainform.cli.targets import repository_targets
from trainform.cli.terminal import print_brief, print_json
from trainform.cli.writing import carry_out, tell
from trainform.diagnostics.order import has_errors
from trainform.io.claim import claimed
from trainform.io.repository import open_repository
from trainform.io.writer import recover

if TYPE_CHECKING:
    from trainform.diagnostics.documents import RenderedJob


def run_in(root: str, jobs: Sequence[str], request: Request, form: str) -> int:
    """Renders the `jobs` of the repository at `root` (all, where that is empty) as the request says, writes
    what changed, and prints the result: `form` is text or json."""
    with claimed(root):
        recover(root)
        repository, problems = open_repository(root)
        targets = repository_targets(repository, request.environments)
        if jobs:
            problems += select(targets, jobs, repository.root)
        rendering = work_out(repository, targets, problems, request)
        wrote = not request.dry_run and carry_out(rendering, keep_going=request.keep_going)
        diagnostics = rendering.diagnostics()
        print_brief(rendering.outcome.all_diagnostics(), rendering.plan.diagnostics, sys.stderr)
        _print(rendering, form, request, wrote)
    return report_failures(rendering.outcome.failures) or (FAULTY if has_errors(diagnostics) else OK)


def _print(rendering: Rendering, form: str, request: Request, wrote: bool) -> None:
    if form == "json":
        _print_json(rendering)
    elif request.dry_run:
        from trainform.cli.preview import print_preview

        print_preview(rendering)
    else:
        tell(rendering, wrote=wrote)


def _print_json(rendering: Rendering) -> None:
    from trainform.cli.frozen import rendered_job
    from trainform.diagnostics.documents import render_result

    repository = rendering.plan.repository
    jobs: list[RenderedJob] = list(rendering.outcome.jobs)
    jobs += [rendered_job(repository, each) for each in rendering.frozen]
    jobs.sort(key=lambda job: (job.environment, job.namespace, job.name))
    print_json(render_result(jobs, [*rendering.outcome.diagnostics, *rendering.plan.diagnostics]))
