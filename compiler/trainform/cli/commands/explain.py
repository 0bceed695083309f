"""`trainform explain`: what set each field of a rendered job, or what a diagnostic code means."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from trainform.cli import FAULTY, OK, complete
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.review.explain.fields import Selection
    from trainform.review.explain.owners import Recorder
    from trainform.workspace.review.explain import Told


_CODE = re.compile(r"TFD?[0-9]+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
"""Neither is the name of a job, which has no capitals."""


class Explained(NamedTuple):
    """One job in one environment, and the requested fields of each object."""

    told: Told
    selections: list[Selection]


@command()
@click.argument("job", shell_complete=complete.explained)
@click.argument("field", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def explain(job: str, field: str | None, form: str, root: str | None, env: tuple[str, ...]) -> int:
    """Show what set each field, or what a code or variable means.

    JOB is [namespace/]name or a file path. FIELD is a field path in a rendered object, or the end of one, such as
    image or env[PET_NNODES]. Address list entries by name or index. To choose the object, write JobSet: or
    JobSet/llm: before the path.
    For a single field, also shows values that were overridden.

    \b
    Instead of a job, name a diagnostic code to read its cause, an example and
    the cure, or a variable to read what it means and where its value comes from:
      trainform explain TF614
      trainform explain PET_NNODES
    """
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import folded
    from trainform.review.explain.owners import Recorder
    from trainform.workspace.discovery import discover
    from trainform.workspace.review.explain import gather

    if _CODE.fullmatch(job):
        if field is not None:
            raise click.UsageError(f"{job} is a code, and codes have no fields: leave out {field}")
        return _explain_code(job, form)
    if _VARIABLE.fullmatch(job) and field is None:
        return _explain_variable(job, form)
    recorder = Recorder()
    found = gather(discover(chosen_root(root), env), [job], recorder)
    errors = folded(error for outcome in found.outcomes for error in outcome.errors())
    print_diagnostics(errors, sys.stderr)
    explained = _explained(found.told, recorder)
    _print(_chosen(explained, field), form, whole=field is None, several=len(explained) > 1)
    failures = [failure for outcome in found.outcomes for failure in outcome.failures]
    return report_failures(failures) or (FAULTY if errors else OK)


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


def _explain_variable(name: str, form: str) -> int:
    """Print what a variable means. Raises BadParameter if no plugin gives one of this name."""
    from trainform.cli.terminal import print_line, print_result
    from trainform.core.given.table import meanings
    from trainform.diagnostics.suggest import did_you_mean
    from trainform.installed import load_plugins

    known = meanings(load_plugins())
    if name not in known:
        hint = did_you_mean(name, known) or f"the variables are {', '.join(known)}"
        raise click.BadParameter(f"no framework sets a variable {name}: {hint}", param_hint="JOB")
    giver, variable = known[name]
    if form == "json":
        name, meaning, source, example = variable
        print_result("ExplainResult", variable=name, setBy=giver, meaning=meaning, source=source, example=example)
        return OK
    for line in (
        f"{variable.name}: {variable.meaning}",
        f"  set by      {giver}",
        f"  comes from  {variable.source}",
        f"  example     {variable.example}",
    ):
        print_line(line)
    return OK


def _explained(told: Sequence[Told], recorder: Recorder) -> list[Explained]:
    """All fields of the jobs."""
    from trainform.review.explain.fields import everything
    from trainform.review.explain.owners import explain as owners

    return [Explained(each, everything(owners(each.job, recorder, each.documents))) for each in told]


def _chosen(explained: Sequence[Explained], field: str | None) -> list[Explained]:
    """The match for FIELD in each job that has it. Raises BadParameter if none has it or it is ambiguous."""
    from trainform.review.explain.fields import FieldError, find

    if field is None:
        return list(explained)
    found, problems = [], []
    for told, selections in explained:
        try:
            fields = [each for selection in selections for each in selection.fields]
            found.append(Explained(told, [find(fields, field)]))
        except FieldError as problem:
            problems.append(problem)
    if problems and (not found or any(problem.is_ambiguous for problem in problems)):
        raise click.BadParameter(str(problems[0]), param_hint="FIELD")
    return found


def _print(explained: Sequence[Explained], form: str, *, whole: bool, several: bool) -> None:
    """Whose fields these are is told with a `whole` job, of `several`, and where the object's name does not say it."""
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_line, print_result, print_text
    from trainform.review.explain.heading import heading_of, is_needed
    from trainform.review.explain.text import render_explained

    headings = [heading_of(told.job, told.facts, told.behind) for told, _ in explained]
    if form == "json":
        fields = [entry for each in explained for entry in _entries(each, several)]
        print_result("ExplainResult", jobs=[each.to_json() for each in headings], fields=fields)
        return
    for number, ((told, selections), heading) in enumerate(zip(explained, headings, strict=True)):
        if whole or several or is_needed(heading, told.job):
            print_text("\n" if number else "")
            print_line(heading.told(with_amounts=whole))
            print_text("\n")
        print_text(render_explained(selections, colour=wants_colour(sys.stdout)))
        for line in () if whole else _meanings(selections):
            print_line(line)


def _meanings(selections: Sequence[Selection]) -> Iterator[str]:
    """What the variables mean that were asked for, if a framework gives them."""
    from trainform.core.given.table import meanings
    from trainform.installed import load_plugins
    from trainform.review.explain.fields import variable_of

    names = [name for each in selections if (name := variable_of(each))]
    known = meanings(load_plugins()) if names else {}
    for name in names:
        if name in known:
            yield f"  {known[name].variable.meaning}"


def _entries(explained: Explained, several: bool) -> list[dict[str, Any]]:
    """The entries of an ExplainResult."""
    job = explained.told.job
    whose = {"environment": job.environment, "namespace": job.namespace} if several else {}
    return [{**whose, **field.to_json()} for each in explained.selections for field in each.fields]
