"""`trainform rerun`: run a finished or failed job again, on purpose."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from trainform.cli import FAULTY, OK, complete
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.io.staging import Staging
    from trainform.workspace.inputs import EnvironmentInputs
    from trainform.workspace.marking import MarkedJob, Marking


@command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...", shell_complete=complete.job)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def rerun(jobs: tuple[str, ...], form: str, root: str | None, env: tuple[str, ...]) -> int:
    """Make finished jobs run again.

    Sets the annotation trainform.dev/rerun in their TrainJob files.

    Nothing else in the files changes, comments and formatting included. Then run "trainform render" and
    commit both. Further steps are printed.
    """
    from trainform.diagnostics.order import has_errors
    from trainform.io.staging import writing
    from trainform.workspace.discovery import discover
    from trainform.workspace.marking import mark_jobs
    from trainform.workspace.selection import select

    chosen = chosen_root(root)
    with writing(chosen) as staging:
        workspace = discover(chosen, env)
        workspace.refuse_sparse_checkout()
        repository, environments = workspace.repository, workspace.read()
        problems = [*workspace.problems, *select(workspace, environments, jobs)]
        problems += [problem for each in environments for problem in each.sources.diagnostics]
        marking = mark_jobs(repository, environments)
        problems += marking.diagnostics
        if not has_errors(problems):
            problems += _write(staging, marking)
    marked = [] if has_errors(problems) else marking.jobs
    if form == "json":
        _print_json(marked, problems)
    else:
        _print_text(marked, problems)
    return FAULTY if has_errors(problems) else OK


def _write(staging: Staging, marking: Marking) -> list[Diagnostic]:
    from trainform.io.place import os_error
    from trainform.io.writer import rewrite

    file = ""
    try:
        for file, data in marking.files.items():
            rewrite(staging, file, data)
    except OSError as error:
        return [os_error("TF707", file, error, "cannot be written")]
    return []


def _print_text(marked: Sequence[MarkedJob], problems: Sequence[Diagnostic]) -> None:
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics.order import has_errors

    print_diagnostics(problems, sys.stderr)
    if has_errors(problems):
        print_line("nothing was marked, because of the errors above", sys.stderr)
    for job in marked:
        for line in _told(job):
            print_line(line)


def _print_json(marked: Sequence[MarkedJob], problems: Sequence[Diagnostic]) -> None:
    from trainform.cli.terminal import print_result
    from trainform.diagnostics.order import in_order

    jobs = [each for job in marked for each in _as_json(job)]
    told = [problem.to_json() for problem in in_order(problems)]
    print_result("RerunResult", jobs=jobs, diagnostics=told)


def _as_json(job: MarkedJob) -> Iterator[dict[str, Any]]:
    from trainform.workspace.selection import job_id

    for inputs in job.environments:
        environment, namespace, name = job_id(inputs, job.document)
        yield {
            "environment": environment,
            "namespace": namespace,
            "name": name,
            "file": job.document.file,
            "rerun": job.number,
            "consequence": _consequence(inputs, namespace, name),
        }


def _told(job: MarkedJob) -> Iterator[str]:
    from trainform.workspace.selection import job_id

    _, namespace, name = job_id(job.environments[0], job.document)
    yield f"{job.document.file}: {namespace}/{name} is marked to run again ({job.number})"
    for inputs in job.environments:
        yield f"  {inputs.name}: {_consequence(inputs, *job_id(inputs, job.document)[1:])}"


def _consequence(inputs: EnvironmentInputs, namespace: str, name: str) -> str:
    if inputs.environment and inputs.environment.spec.gitops.naming == "content-hash":
        return "after `trainform render` it runs as a new object with a new name, and the old one is pruned"
    return (
        "a finished JobSet does not start again under the same name: once the change is merged, run "
        f"`kubectl --namespace {namespace} delete jobset {name}`, and it is created again"
    )
