"""`trainform diff`: how a change affects jobs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trainform.cli import DIFFERS, FAULTY, OK
from trainform.cli.live.options import cluster_options
from trainform.cli.options import cache_option, chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.cluster.connection import Login
    from trainform.review.diff.model import Diff
    from trainform.workspace.compilation import Outcome


@command()
@click.option("--base", default="HEAD", show_default=True, metavar="REF|DIR", help="The baseline to compare with.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json", "html"]),
    default="text",
    show_default=True,
    help="Output format. markdown suits pull request comments.",
)
@click.option("--full", is_flag=True, help="Show long values whole, not only the part that changed (format text).")
@click.option("--live", is_flag=True, help="Compare with a live cluster instead, by a server-side dry run.")
@cluster_options("With --live. ")
@click.option(
    "--field-manager", metavar="NAME", default="", help="With --live: whose apply to try. Default: trainform."
)
@cache_option
@repository_options
def diff(
    base: str,
    form: str,
    full: bool,
    live: bool,
    kubeconfig: str,
    context: str,
    timeout: float | None,
    field_manager: str,
    no_cache: bool,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Show what a change does to the jobs, running ones included.

    Compares the working tree with a commit, or with a copy of the repository in another folder.

    A job can be new, deleted, restarted, changed in place, changed only while suspended, or behind (its runtime,
    its Environment or trainform changed, but the job stays as it is). The exit code is 1 if there is any such job.

    With --live: what the cluster of an environment would do with its rendered objects, and what the API
    server or a webhook refuses. Nothing is stored. The exit code is 1 if an object would be created or changed,
    2 if one is refused.
    """
    from trainform.cli.terminal import print_diagnostics
    from trainform.io.git import GitError, NoRepository
    from trainform.io.repository import open_repository
    from trainform.workspace.diff.difference import diff as compare

    if full and form != "text":
        raise click.UsageError("--full is for format text: json always has whole values, the others are kept short")
    if live:
        from trainform.cluster.connection import COMMAND_SECONDS, Login

        login = Login(kubeconfig, context, timeout or COMMAND_SECONDS)
        return _live(chosen_root(root), env, login, field_manager, form, full)
    if kubeconfig or context or timeout or field_manager:
        raise click.UsageError("--kubeconfig, --context, --timeout and --field-manager need --live")
    repository, problems = open_repository(chosen_root(root))
    try:
        found, outcome = compare(repository, problems, base, env, cached=not no_cache)
    except GitError as error:
        source = click.get_current_context().get_parameter_source("base")
        if isinstance(error, NoRepository) and source is click.core.ParameterSource.DEFAULT:
            message = f"diff compares with a commit of git, and {error}"
            raise click.ClickException(f"{message}: name a copy of the files to compare with, --base FOLDER") from error
        raise click.BadParameter(str(error), param_hint="--base") from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror or error}") from error
    print_diagnostics(outcome.left_out(), sys.stderr)
    return print_difference(found, outcome, form, full)


def print_difference(found: Diff, outcome: Outcome, form: str, full: bool = False) -> int:
    """Print what changes; returns the exit code."""
    from trainform.cli.errors import report_failures

    _print(found, form, full)
    return report_failures(outcome.failures) or (FAULTY if outcome.errors() else DIFFERS if found.jobs else OK)


def _live(root: str, env: tuple[str, ...], login: Login, manager: str, form: str, full: bool) -> int:
    from trainform.cli.options import is_verbose
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_page, print_result, print_text
    from trainform.review.live.dry_run import KIND, render_live_diff, render_live_diff_markdown
    from trainform.workspace.live.dry_run import MANAGER, dry_run

    source = click.get_current_context().get_parameter_source("base")
    if source is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("--live compares with a cluster, and --base with a commit")
    if form == "html":
        raise click.UsageError("--live has the formats text, markdown and json")
    found = dry_run(root, env, login, manager or MANAGER)
    if form == "json":
        print_result(KIND, **found.to_fields())
    elif form == "markdown":
        print_page(render_live_diff_markdown(found))
    else:
        print_text(render_live_diff(found, colour=wants_colour(sys.stdout), verbose=is_verbose(), full=full))
    return FAULTY if found.has("refused") else DIFFERS if found.has("create", "change") else OK


def _print(found: Diff, form: str, full: bool) -> None:
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_json, print_page, print_text

    if form == "json":
        print_json(found.to_json())
    elif form == "markdown":
        from trainform.review.diff.markdown import render_markdown

        print_page(render_markdown(found))
    elif form == "html":
        from trainform.review.diff.html import render_html

        print_page(render_html(found))
    else:
        from trainform.review.diff.text import render_text

        print_text(render_text(found, colour=wants_colour(sys.stdout), full=full))
