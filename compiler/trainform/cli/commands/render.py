"""`trainform render`: compile, and write what changed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_environments, chosen_root, repository_options

if TYPE_CHECKING:
    from trainform.cli.compiling import Outcome


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "yaml", "json"]),
    help="Of what is printed. Default: text; yaml for a stream.",
)
@click.option("--keep-going", is_flag=True, help="Write the good jobs although others fail (still exit 2).")
@repository_options
def render(
    jobs: tuple[str, ...], form: str | None, keep_going: bool, root: str | None, env: tuple[str, ...]
) -> int:
    """Compile TrainJobs and write what changed below rendered/.

    JOB is [namespace/]name or the path of a file; without one, every job is rendered. An error
    anywhere means that nothing is written.

    With "-" for JOB, one YAML stream is read from stdin and the manifests go to stdout.
    """
    if "-" in jobs:
        return _stream(jobs, form or "yaml", keep_going)
    if form == "yaml":
        raise click.BadParameter('yaml is for streams: "trainform render -"', param_hint="--format")
    return _repository(jobs, form or "text", keep_going, chosen_root(root), chosen_environments(env))


def _stream(jobs: tuple[str, ...], form: str, keep_going: bool) -> int:
    from trainform.cli.compiling import compile_targets
    from trainform.cli.targets import stream_target
    from trainform.cli.terminal import print_bytes

    if len(jobs) > 1:
        raise click.BadParameter('"-" stands alone: a stream is rendered whole', param_hint="JOB")
    if form == "text":
        raise click.BadParameter("a stream is printed as yaml or json", param_hint="--format")
    outcome = compile_targets([stream_target()])
    code = _tell(outcome)
    if form == "json":
        _print_result(outcome)
    elif keep_going or code == OK:
        print_bytes(_manifests(outcome))
    return code


def _repository(
    jobs: tuple[str, ...], form: str, keep_going: bool, root: str, environments: tuple[str, ...]
) -> int:
    from trainform.cli.compiling import compile_targets
    from trainform.cli.selection import select
    from trainform.cli.targets import repository_targets
    from trainform.cli.writing import tell, write_jobs
    from trainform.io.repository import open_repository

    repository, problems = open_repository(root)
    targets = repository_targets(repository, environments)
    if jobs:
        problems += select(targets, jobs, repository.root)
    outcome = compile_targets(targets, problems, wants_job=not problems)
    written = write_jobs(repository, outcome, keep_going=keep_going)
    code = _tell(outcome)
    if form == "json":
        _print_result(outcome)
    else:
        tell(written)
    return code


def _tell(outcome: Outcome) -> int:
    """Prints the diagnostics to stderr; the exit code that they call for."""
    from trainform.cli.bug import report_failures
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import has_errors

    diagnostics = outcome.all_diagnostics()
    print_diagnostics(diagnostics, sys.stderr)
    return report_failures(outcome.failures) or (FAULTY if has_errors(diagnostics) else OK)


def _print_result(outcome: Outcome) -> None:
    from trainform.cli.terminal import print_json
    from trainform.diagnostics.documents import render_result

    print_json(render_result(outcome.jobs, outcome.diagnostics))


def _manifests(outcome: Outcome) -> bytes:
    from trainform.output.emitter import emit_stream

    return emit_stream(tree for job in outcome.jobs for tree in job.objects).encode()
