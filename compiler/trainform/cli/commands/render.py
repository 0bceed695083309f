"""`trainform render`: compile, and write what changed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_environments, chosen_root, chosen_shard, repository_options, scale_options

if TYPE_CHECKING:
    from trainform.workspace.compiling import Outcome


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "yaml", "json"]),
    help="Output format. Default: text (yaml for stdin).",
)
@click.option("--keep-going", is_flag=True, help="Write valid jobs even if others have errors (still exits 2).")
@click.option("--allow-empty", is_flag=True, help="Allow deleting all jobs of an environment.")
@scale_options
@repository_options
def render(
    jobs: tuple[str, ...],
    form: str | None,
    keep_going: bool,
    allow_empty: bool,
    shard: str | None,
    workers: int | None,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Compile TrainJobs and write the changed manifests to rendered/.

    JOB is [namespace/]name or a file path. Without JOB, all jobs are rendered, and the manifests of deleted
    jobs are removed. If there is any error, nothing is written.

    Jobs are frozen: a job is rendered again only if its own TrainJob changed, not if its runtime, its
    Environment or trainform did. To re-render frozen jobs, use "trainform upgrade".

    --shard 2/4 processes the second of four shards. Run all four and commit their combined output.

    If JOB is "-", a YAML stream is read from stdin and the manifests are printed to stdout.
    """
    if "-" in jobs:
        return _stream(jobs, form or "yaml", keep_going)
    if form == "yaml":
        raise click.BadParameter('yaml is for streams: "trainform render -"', param_hint="--format")
    from trainform.workspace.rendering import Request
    from trainform.workspace.runs import run_in

    if shard and (jobs or keep_going):
        raise click.UsageError("--shard is for all jobs, and all must be good: without JOB and --keep-going")
    request = Request(not jobs, chosen_environments(env), keep_going, allow_empty, shard=chosen_shard(shard))
    return run_in(chosen_root(root), jobs, request, form or "text", workers or 0)


def _stream(jobs: tuple[str, ...], form: str, keep_going: bool) -> int:
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import has_errors
    from trainform.workspace.compiling import compile_targets
    from trainform.workspace.target import stream_target

    if len(jobs) > 1:
        raise click.BadParameter('"-" cannot be combined with other jobs', param_hint="JOB")
    if form == "text":
        raise click.BadParameter("a stream is printed as yaml or json", param_hint="--format")
    outcome = compile_targets([stream_target()])
    diagnostics = outcome.all_diagnostics()
    print_diagnostics(diagnostics, sys.stderr)
    code = report_failures(outcome.failures) or (FAULTY if has_errors(diagnostics) else OK)
    if form == "json" or keep_going or code == OK:
        _print_stream(outcome, form)
    return code


def _print_stream(outcome: Outcome, form: str) -> None:
    from trainform.cli.terminal import print_bytes, print_json
    from trainform.diagnostics.documents import render_result
    from trainform.output.emitter import emit_stream

    if form == "json":
        print_json(render_result(outcome.jobs, outcome.diagnostics))
    else:
        print_bytes(emit_stream(tree for job in outcome.jobs for tree in job.objects).encode())
