"""What `render` and `upgrade` print about a build."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainform.cli import FAULTY, OK
from trainform.cli.errors import report_failures
from trainform.cli.options import is_quiet, is_verbose
from trainform.cli.terminal import print_brief, print_diagnostics, print_json, print_line, print_text
from trainform.diagnostics.console import MOST_LINES
from trainform.diagnostics.order import counted, has_errors
from trainform.io.writer import Staged
from trainform.workspace.behind import message

if TYPE_CHECKING:
    from trainform.workspace.build import Built
    from trainform.workspace.plan import BuildOptions, ChangeSet


def report(built: Built, options: BuildOptions) -> int:
    """Print the result of a build; returns the exit code."""
    plan = built.plan
    if is_verbose():
        print_diagnostics([*plan.diagnostics, *plan.conflicts], sys.stderr)
    else:
        print_brief(plan.diagnostics, plan.conflicts, sys.stderr)
    if options.detailed:
        from trainform.workspace.review.preview import result_of

        print_json(result_of(built))
    elif options.dry_run:
        _print_preview(built)
    elif built.written:
        if not is_quiet():
            _print_changes(plan)
    else:
        print_line("nothing was written because of the errors above", sys.stderr)
    return report_failures(plan.failures) or (FAULTY if has_errors(plan.problems()) else OK)


def _print_changes(plan: ChangeSet) -> None:
    """Print which manifests changed, the number of unchanged jobs, and which jobs are behind."""
    lines = [*_files("wrote", plan.wrote), *_files("removed", plan.removed)]
    if repinned := sum(change is Staged.LOCK for change in plan.jobs.values()):
        lines.append(f"{counted(repinned, 'job')} re-pinned, files unchanged")
    if plan.unchanged or not plan.jobs:
        lines.append(f"{counted(plan.unchanged, 'job')} unchanged")
    for line in (*lines, *(message(cause, jobs) for cause, jobs in plan.behind.items())):
        print_line(line)


def _files(what: str, paths: Iterable[str]) -> Iterator[str]:
    found = sorted(paths)
    shown = found if is_verbose() else found[:MOST_LINES]
    yield from (f"{what} {path}" for path in shown)
    if left := len(found) - len(shown):
        yield f"{what} {counted(left, 'more file')}; --verbose names all"


def _print_preview(built: Built) -> None:
    from trainform.workspace.review.preview import previews

    found = previews(built)
    for preview in found:
        print_text(preview.text)
        if others := preview.others:
            print_line(f"  same for {counted(len(others), 'job')}: {', '.join('/'.join(job[1:]) for job in others)}")
    count = sum(1 + len(preview.others) for preview in found)
    print_line(f"{counted(count, 'job')} would change, {built.plan.unchanged} would not")
