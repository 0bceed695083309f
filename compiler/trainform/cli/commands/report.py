"""`trainform report`: the fleet as one HTML page."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_environments, chosen_root, repository_options

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.diagnostics import Diagnostic
    from trainform.io.repository import Repository
    from trainform.k8s.tree import Tree
    from trainform.review.diff.model import Diff
    from trainform.review.report.model import Behind, Fleet, Known, Report
    from trainform.workspace.compiling import Outcome
    from trainform.workspace.fingerprint import Present
    from trainform.workspace.staleness import Groups
    from trainform.workspace.uptodate import Frozen

_MISSING = "its rendered JobSet is missing: run `trainform render`"


@click.command()
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Output file. Default: stdout.")
@click.option("--base", default="HEAD", show_default=True, metavar="REF|DIR", help="The baseline to compare with.")
@repository_options
def report(output: str | None, base: str, root: str | None, env: tuple[str, ...]) -> int:
    """Write one self-contained HTML page about all jobs.

    The page shows jobs by environment, queue and framework; resource requests against Kueue quotas; frozen jobs
    and jobs that are behind; changes since a commit, or since a copy of the repository in a folder; and a diagram
    of each job's pods. Without git, or before the first commit, changes are left out unless you pass --base.
    The same repository gives the same bytes.
    """
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import folded
    from trainform.io.repository import open_repository
    from trainform.review.report.model import Report

    repository, problems = open_repository(chosen_root(root))
    environments = chosen_environments(env)
    found = _gather(repository, problems, environments)
    diff, compared = _compare(repository, problems, base, environments)
    outcomes = [found.outcome, *compared]
    errors = folded(each for outcome in outcomes for each in outcome.all_diagnostics() if each.severity == "error")
    print_diagnostics(errors, sys.stderr)
    told = tuple(map(_told, errors))
    _write(Report(found.fleets, tuple(_behind(found.behind)), told, diff, base if diff else ""), output)
    failures = [failure for outcome in outcomes for failure in outcome.failures]
    return report_failures(failures) or (FAULTY if errors else OK)


class _Found(NamedTuple):
    fleets: tuple[Fleet, ...]
    behind: Groups
    outcome: Outcome


def _gather(repository: Repository, problems: Sequence[Diagnostic], environments: Sequence[str]) -> _Found:
    """The jobs as `trainform render` would leave them: frozen ones from their files, the others compiled."""
    from trainform.diagnostics.order import has_errors
    from trainform.review.report.model import fleet
    from trainform.workspace.compiling import compile_targets
    from trainform.workspace.discovery import repository_targets
    from trainform.workspace.staleness import group, presents_of
    from trainform.workspace.state import read_state
    from trainform.workspace.uptodate import set_frozen_apart

    targets = repository_targets(repository, environments)
    state = read_state(repository)
    frozen = {target.name: set_frozen_apart(target, state, lambda lock: False) for target in targets}
    outcome = compile_targets(targets, problems, wants_job=False)
    presents = presents_of(targets, outcome)
    behind = group(((job.id, job.lock.pins) for jobs in frozen.values() for job in jobs), presents)
    fleets = [
        fleet(
            target.name,
            [
                *_frozen(repository, frozen[target.name], behind, presents[target.name]),
                *map(_compiled, compilation.jobs),
            ],
            compilation.facts,
            is_sound=not has_errors(compilation.diagnostics),
        )
        for target, compilation in zip(targets, outcome.compilations, strict=True)
    ]
    return _Found(tuple(fleets), behind, outcome)


def _frozen(repository: Repository, jobs: Iterable[Frozen], behind: Groups, present: Present) -> Iterator[Known]:
    """Frozen jobs are what their files say. Their framework is that of the runtime of today."""
    from trainform.review.report.model import Known, framework_of
    from trainform.workspace.uptodate import rendered_job

    causes: dict[tuple[str, str, str], list[str]] = {}
    for cause, late in behind.items():
        for job_id in late:
            causes.setdefault(job_id, []).append(f"behind: {cause.message}")
    for job in jobs:
        pin = job.lock.pins.runtime
        jobset = _jobset(rendered_job(repository, job).objects)
        runtime = present.runtime(*pin.key)
        framework = framework_of(runtime.trees[0]) if runtime else "unknown"
        notes = tuple(causes.get(job.id, ()))
        state = "behind" if notes else "frozen"
        if jobset is None:
            state, notes = "missing", (_MISSING, *notes)
        yield Known(job.id, pin.name, framework, state, jobset, notes)


def _compiled(job: CompiledJob) -> Known:
    from trainform.review.report.model import Known, framework_of

    errors = tuple(_told(each) for each in job.diagnostics if each.severity == "error")
    tree = job.runtime.document.tree if job.runtime else {}
    name = str(tree["metadata"]["name"]) if tree else ""
    framework = framework_of(tree) if tree else "unknown"
    state = "error" if errors else "to render"
    return Known((job.environment, job.namespace, job.name), name, framework, state, _jobset(job.objects), errors)


def _jobset(objects: Iterable[Tree]) -> Tree | None:
    return next((tree for tree in objects if tree.get("kind") == "JobSet"), None)


def _told(problem: Diagnostic) -> str:
    """`jobs/llm.yaml:9:3 TF101 …`, on one line."""
    position = problem.position
    place = f"{problem.file}:{position.line}:{position.column}" if position else problem.file
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{place} {problem.code} {problem.message}{hint}".strip()


def _behind(groups: Groups) -> Iterator[Behind]:
    from trainform.review.report.model import Behind

    return (Behind(cause.message, len(jobs)) for cause, jobs in groups.items())


def _compare(
    repository: Repository, problems: Sequence[Diagnostic], base: str, environments: Sequence[str]
) -> tuple[Diff | None, list[Outcome]]:
    """What changes; None where the default base is not there, as before the first commit or without git."""
    from trainform.io.baseline import baseline
    from trainform.io.git import GitError
    from trainform.workspace.diff import compare_repository

    try:
        start = baseline(repository.root, base)
        diff, outcome = compare_repository(repository, problems, start, environments)
    except GitError as error:
        source = click.get_current_context().get_parameter_source("base")
        if source is click.core.ParameterSource.DEFAULT:
            return None, []
        raise click.BadParameter(str(error), param_hint="--base") from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror or error}") from error
    return diff, [outcome]


def _write(found: Report, output: str | None) -> None:
    from trainform.cli.terminal import print_bytes
    from trainform.review.report.page import render_page

    # Diagnostics may quote what no text holds: a lone surrogate leaves as in JSON.
    page = render_page(found, _templates()).encode(errors="backslashreplace")
    if output is None:
        print_bytes(page)
        return
    try:
        with open(output, "wb") as file:
            file.write(page)
    except OSError as error:
        raise click.ClickException(f"{output}: {error.strerror or error}") from error


def _templates() -> dict[str, str]:
    from importlib.resources import files

    from trainform.review.report.page import FILES

    folder = files("trainform.review.report") / "templates"
    return {name: (folder / name).read_text(encoding="utf-8") for name in FILES}
