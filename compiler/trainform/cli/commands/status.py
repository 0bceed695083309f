"""`trainform status`: what git says against what runs."""

from __future__ import annotations

import sys

import click

from trainform.cli import DIFFERS, OK, complete
from trainform.cli.options import chosen_root, command, repository_options


@command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete.job)
@click.option("--kubeconfig", metavar="FILE", default="", help="Default: that of KUBECONFIG, else ~/.kube/config.")
@click.option("--context", metavar="NAME", default="", help="A context of the kubeconfig. Default: the current one.")
@click.option("--rbac", is_flag=True, help="Print the roles that this needs, without asking a cluster.")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@repository_options
def status(
    jobs: tuple[str, ...],
    kubeconfig: str,
    context: str,
    rbac: bool,
    form: str,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Compare the rendered jobs with the JobSets of a cluster.

    JOB is [namespace/]name; without any, all jobs of the environment are compared.

    A job is not created, queued (with Kueue's reason), suspended, running, finished or failed (with the pod and
    the last lines of its log). It may have drifted from what git has. A JobSet that is not in git any more is
    orphaned. The exit code is 1 if a job is not created, failed, drifted or orphaned.
    """
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_page, print_result, print_text

    if rbac:
        from trainform.k8s.pulled.access import STATUS_RULES
        from trainform.output.roles import role_text

        print_text(role_text("trainform-status", STATUS_RULES))
        return OK
    from trainform.cluster.connection import Login
    from trainform.review.live.model import KIND
    from trainform.review.live.text import render_status, render_status_markdown
    from trainform.workspace.live.status import status as live_status

    found = live_status(chosen_root(root), env, jobs, Login(kubeconfig, context))
    if form == "json":
        print_result(KIND, **found.fields())
    elif form == "markdown":
        print_page(render_status_markdown(found))
    else:
        print_text(render_status(found, colour=wants_colour(sys.stdout)))
    return OK if found.is_as_in_git else DIFFERS
