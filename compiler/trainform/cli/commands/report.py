"""`trainform report`: the fleet as one HTML page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.review.report.model import Report
    from trainform.workspace.diff.difference import Difference
    from trainform.workspace.discovery import Workspace


@command()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Output file. Default: stdout, unless that is a terminal.",
)
@click.option("--base", default="HEAD", show_default=True, metavar="REF|DIR", help="The baseline to compare with.")
@click.option(
    "--live",
    multiple=True,
    metavar="FILE",
    help="Show what runs, as `trainform status --format json` tells; one file for each environment.",
)
@repository_options
def report(output: str | None, base: str, live: tuple[str, ...], root: str | None, env: tuple[str, ...]) -> int:
    """Write one self-contained HTML page about all jobs.

    The page shows jobs by environment, queue and framework; resource requests against Kueue quotas; frozen jobs
    and jobs that are behind; changes since a commit, or since a copy of the repository in a folder; and a diagram
    of each job's pods. Without git, changes are left out unless you pass --base.
    The same repository gives the same bytes.
    """
    from trainform.cli.errors import report_failures
    from trainform.cli.streams import is_terminal
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import folded
    from trainform.review.report.model import Behind, Report, with_live
    from trainform.workspace.discovery import discover
    from trainform.workspace.review.report import gather, one_line, read_statuses

    if output is None and is_terminal(sys.stdout):
        raise click.UsageError("nobody reads HTML on a terminal: write it to a file, as with --output report.html")
    chosen = chosen_root(root)
    workspace = discover(chosen, env)
    workspace.refuse_sparse_checkout()
    statuses = read_statuses(workspace, live)
    found = gather(workspace)
    compared = _compare(workspace, base)
    outcomes = [found.outcome, *([compared.outcome] if compared else [])]
    errors = folded(error for outcome in outcomes for error in outcome.errors())
    print_diagnostics([each for outcome in outcomes for each in outcome.left_out()], sys.stderr)
    behind = tuple(Behind(cause.message, len(jobs)) for cause, jobs in found.behind.items())
    diff = compared.diff if compared else None
    fleets = with_live(found.fleets, statuses)
    told = tuple(map(one_line, errors))
    page = Report(fleets, behind, told, diff, base if compared else "", bool(statuses))
    _write(page, chosen, output)
    failures = [failure for outcome in outcomes for failure in outcome.failures]
    return report_failures(failures) or (FAULTY if errors else OK)


def _compare(workspace: Workspace, base: str) -> Difference | None:
    """The diff; None if the default base does not exist, as without git."""
    from trainform.io.git import GitError, NoCommit
    from trainform.workspace.diff.difference import diff

    try:
        return diff(workspace.repository, workspace.problems, base, workspace.asked)
    except GitError as error:
        source = click.get_current_context().get_parameter_source("base")
        if isinstance(error, NoCommit) and source is click.core.ParameterSource.DEFAULT:
            return None
        raise click.BadParameter(str(error), param_hint="--base") from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror or error}") from error


def _write(found: Report, root: str, output: str | None) -> None:
    from trainform.cli.terminal import page_bytes, print_bytes
    from trainform.io.writer import write_output
    from trainform.review.report.page import render_page

    page = page_bytes(render_page(found, _templates()))
    if output is None:
        print_bytes(page)
        return
    try:
        write_output(root, output, page)
    except OSError as error:
        raise click.ClickException(f"{output}: {error.strerror or error}") from error


def _templates() -> dict[str, str]:
    from importlib.resources import files

    from trainform.review.report.page import FILES

    folder = files("trainform.review.report") / "templates"
    return {name: (folder / name).read_text(encoding="utf-8") for name in FILES}
