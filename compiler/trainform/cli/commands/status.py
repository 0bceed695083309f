"""`trainform status`: what git says against what runs."""

from __future__ import annotations

import math
import sys

import click

from trainform.cli import DIFFERS, OK, complete
from trainform.cli.live.options import cluster_options
from trainform.cli.options import chosen_root, command, repository_options


@command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete.job)
@cluster_options(default="600; none with --watch")
@click.option("--watch", is_flag=True, help="Then print each change of a state, until all jobs ended.")
@click.option("--rbac", is_flag=True, help="Print the roles that this needs, without asking a cluster.")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@repository_options
def status(
    jobs: tuple[str, ...],
    kubeconfig: str,
    context: str,
    timeout: float | None,
    watch: bool,
    rbac: bool,
    form: str,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Compare the rendered jobs with the JobSets of a cluster.

    JOB is [namespace/]name; without any, all jobs of the environment are compared.

    A job is not created, queued (with Kueue's reason), suspended, running, finished or failed (with the pod and
    the last lines of its log). It may have drifted from what git has. A JobSet that is not in git any more is
    orphaned. The exit code is 1 if a job is not created, failed, drifted or orphaned; with --watch, also if
    the time is over before all jobs ended.
    """
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_page, print_result, print_text

    if rbac:
        from trainform.k8s.pulled.access import STATUS_RULES, WATCH_RULES
        from trainform.output.roles import role_text

        print_text(role_text("trainform-status", WATCH_RULES if watch else STATUS_RULES))
        return OK
    from trainform.cluster.connection import COMMAND_SECONDS, Login

    if watch:
        if form != "text":
            raise click.UsageError("--watch prints text: it is for people, not for programs")
        from trainform.cli.live.following import follow

        return follow(chosen_root(root), env, jobs, Login(kubeconfig, context, timeout or math.inf))
    from trainform.review.live.model import KIND
    from trainform.review.live.text import render_status, render_status_markdown
    from trainform.workspace.live.status import status as live_status

    found = live_status(chosen_root(root), env, jobs, Login(kubeconfig, context, timeout or COMMAND_SECONDS))
    if form == "json":
        print_result(KIND, **found.fields())
    elif form == "markdown":
        print_page(render_status_markdown(found))
    else:
        print_text(render_status(found, colour=wants_colour(sys.stdout)))
    return OK if found.is_as_in_git else DIFFERS
