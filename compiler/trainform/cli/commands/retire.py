"""`trainform retire`: remove TrainJobs that are done."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK, complete
from trainform.cli.options import chosen_root, command, root_option

if TYPE_CHECKING:
    from trainform.workspace.retire.program import Retired

DAY = 24 * 3600


@command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete.job)
@click.option(
    "--older-than",
    type=click.IntRange(min=0),
    metavar="DAYS",
    help="Only jobs whose file has not changed in git for this many days.",
)
@click.option(
    "--before",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Only jobs whose file last changed before this date (UTC), such as 2026-08-31.",
)
@click.option(
    "--finished",
    multiple=True,
    metavar="[ENV=]FILE",
    help="Jobs that completed, as `trainform status --format json` or `kubectl get jobsets -A -o yaml` tells; one file "
    "for each environment.",
)
@click.option("--failed", is_flag=True, help="With --finished: also jobs that failed.")
@click.option(
    "--keep",
    multiple=True,
    metavar="NAME",
    shell_complete=complete.job,
    help="Keep this job: [namespace/]name, may have *; can be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; only tell what would happen.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@root_option
def retire(
    jobs: tuple[str, ...],
    older_than: int | None,
    before: datetime | None,
    finished: tuple[str, ...],
    failed: bool,
    keep: tuple[str, ...],
    dry_run: bool,
    form: str,
    root: str | None,
) -> int:
    """Remove TrainJobs that are done.

    They are removed from their files, and the output says what that does. Git keeps them.

    A job is removed, from all environments, if it meets every condition: its name, its age, how it ended. A file
    without other documents is deleted. Then run "trainform render" and commit both.
    """
    from trainform.diagnostics.order import has_errors
    from trainform.workspace.retire.program import Request, retire

    if not (jobs or finished or before or older_than is not None):
        raise click.UsageError("name jobs, or say which: --older-than, --before or --finished")
    if failed and not finished:
        raise click.UsageError("--failed needs --finished")
    times = [before.replace(tzinfo=UTC).timestamp()] if before else []
    if older_than is not None:
        times.append(time.time() - older_than * DAY)
    outcomes = ("Completed", "Failed") if failed else ("Completed",)
    request = Request(jobs, min(times, default=None), finished, outcomes, keep, dry_run)
    done = retire(chosen_root(root), request)
    if form == "json":
        _print_json(done, dry_run)
    else:
        _print_text(done, dry_run)
    return FAULTY if has_errors(done.problems) else OK


def _print_text(done: Retired, dry_run: bool) -> None:
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_diagnostics, print_line, print_text
    from trainform.diagnostics.order import counted, has_errors
    from trainform.review.diff.text import render_text

    print_diagnostics(done.problems, sys.stderr)
    if has_errors(done.problems):
        print_line("nothing was removed, because of the errors above", sys.stderr)
        return
    if done.diff is None:
        print_line("no job is to be retired")
        return
    would = "would be " if dry_run else ""
    for file, data in sorted(done.edits.files.items()):
        names = ", ".join(job.name for job in done.edits.jobs if job.document.file == file)
        print_line(f"{file}: {would}{'deleted' if data is None else 'edited'}{names and f': {names}'}")
    print_line("")
    print_text(render_text(done.diff, colour=wants_colour(sys.stdout)))
    if not dry_run:
        jobs = counted(len(done.edits.jobs), "job")
        print_line("")
        print_line(f'next: trainform render && git add --all && git commit --message "Retire {jobs}"')


def _print_json(done: Retired, dry_run: bool) -> None:
    from trainform.cli.terminal import print_result
    from trainform.diagnostics.order import has_errors, in_order

    failed = has_errors(done.problems)
    jobs = [
        {"name": job.name.rpartition("/")[2], "namespace": job.name.partition("/")[0], "file": job.document.file}
        for job in done.edits.jobs
    ]
    files = [
        {"file": file, "change": "deleted" if data is None else "edited"}
        for file, data in sorted(done.edits.files.items())
    ]
    print_result(
        "RetireResult",
        jobs=[] if failed else jobs,
        files=[] if failed else files,
        written=not (failed or dry_run),
        diff=done.diff.to_json() if done.diff else None,
        diagnostics=[problem.to_json() for problem in in_order(done.problems)],
    )
