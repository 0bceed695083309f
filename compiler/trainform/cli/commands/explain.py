"""`trainform explain`: what set each field of a rendered job, or what a diagnostic code means."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.review.explain.fields import Selection
    from trainform.review.explain.owners import Recorder
    from trainform.workspace.compilation import Outcome
    from trainform.workspace.inputs import EnvironmentInputs


_CODE = re.compile(r"TFD?[0-9]+")
"""No name of a job, which has no capitals."""


class Explained(NamedTuple):
    """One job in one environment, and the requested fields of each object."""

    job: CompiledJob
    selections: list[Selection]


@command()
@click.argument("job")
@click.argument("field", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def explain(job: str, field: str | None, form: str, root: str | None, env: tuple[str, ...]) -> int:
    """Show what set each field of a rendered job, or what a code such as TF614 means.

    JOB is [namespace/]name or a file path. FIELD is a field path in a rendered object, or the end of one, such as
    image or env[PET_NNODES]. Address list entries by name or index. To choose the object, write JobSet: or
    JobSet/llm: before the path.
    For a single field, also shows values that were overridden.

    \b
    Instead of a job, name a diagnostic code to read its cause, an example and
    the cure:
      trainform explain TF614
    """
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_diagnostics
    from trainform.review.explain.owners import Recorder
    from trainform.workspace.compilation import compile_environments
    from trainform.workspace.discovery import discover
    from trainform.workspace.selection import select

    if _CODE.fullmatch(job):
        if field is not None:
            raise click.UsageError(f"{job} is a code, and codes have no fields: leave out {field}")
        return _explain_code(job, form)
    recorder = Recorder()
    workspace = discover(chosen_root(root), env)
    environments = workspace.read()
    problems = [*workspace.problems, *select(environments, [job], workspace.repository.root)]
    outcome = compile_environments(environments, problems, wants_job=not problems, observe=recorder)
    errors = outcome.errors()
    print_diagnostics(errors, sys.stderr)
    explained = _explained(environments, outcome, recorder)
    _print(_chosen(explained, field), form, several=len(explained) > 1)
    return report_failures(outcome.failures) or (FAULTY if errors else OK)


def _explain_code(code: str, form: str) -> int:
    """Print the page of a code. Raises BadParameter if there is none."""
    from trainform.cli.terminal import print_result, print_text
    from trainform.diagnostics.codes import CODES
    from trainform.diagnostics.suggest import did_you_mean
    from trainform.io.resources import code_page

    if code not in CODES:
        hint = did_you_mean(code, CODES) or "trainform explain TF101 shows the page of a code"
        raise click.BadParameter(f"there is no code {code}: {hint}", param_hint="JOB")
    if form == "json":
        print_result("ExplainResult", code=code, title=CODES[code], page=code_page(code))
    else:
        print_text(code_page(code))
    return OK


def _explained(environments: Sequence[EnvironmentInputs], outcome: Outcome, recorder: Recorder) -> list[Explained]:
    """All fields of the jobs without errors."""
    from trainform.review.explain.fields import everything
    from trainform.review.explain.owners import explain as owners

    return [
        Explained(job, everything(owners(job, recorder, inputs.sources.documents)))
        for inputs, compilation in zip(environments, outcome.compilations, strict=True)
        for job in compilation.jobs
        if job.objects
    ]


def _chosen(explained: Sequence[Explained], field: str | None) -> list[Explained]:
    """The match for FIELD in each job that has it. Raises BadParameter if none has it or it is ambiguous."""
    from trainform.review.explain.fields import FieldError, find

    if field is None:
        return list(explained)
    found, problems = [], []
    for job, selections in explained:
        try:
            fields = [each for selection in selections for each in selection.fields]
            found.append(Explained(job, [find(fields, field)]))
        except FieldError as problem:
            problems.append(problem)
    if problems and (not found or any(problem.is_ambiguous for problem in problems)):
        raise click.BadParameter(str(problems[0]), param_hint="FIELD")
    return found


def _print(explained: Sequence[Explained], form: str, *, several: bool) -> None:
    """With `several` jobs, also print each one's namespace and environment."""
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_line, print_result, print_text
    from trainform.review.explain.text import render_explained

    if form == "json":
        fields = [entry for each in explained for entry in _entries(each, several)]
        print_result("ExplainResult", fields=fields)
        return
    for number, (job, selections) in enumerate(explained):
        if several:
            print_text("\n" if number else "")
            print_line(f"{job.namespace}/{job.name} in environment {job.environment}")
            print_text("\n")
        print_text(render_explained(selections, colour=wants_colour(sys.stdout)))


def _entries(explained: Explained, several: bool) -> list[dict[str, Any]]:
    """The entries of an ExplainResult."""
    job, selections = explained
    whose = {"environment": job.environment, "namespace": job.namespace} if several else {}
    return [{**whose, **field.to_json()} for each in selections for field in each.fields]
