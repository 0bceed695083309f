"""Gather jobs for `trainform report`: frozen ones from their manifests, others compiled."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from trainform.core.cluster.facts import NO_FACTS
from trainform.diagnostics import Diagnostic
from trainform.io.repository import is_template
from trainform.review.capacity.demand import demand_of
from trainform.review.live.model import LiveStatus, status_of
from trainform.review.report.model import Fleet, Known, fleet, framework_of
from trainform.workspace import InvocationError
from trainform.workspace.behind import Behind, behind, current_inputs
from trainform.workspace.compilation import Outcome, compile_environments
from trainform.workspace.frozen import FrozenJob, rendered_objects, take_frozen
from trainform.workspace.inputs import load
from trainform.workspace.review.capacity import UNREADABLE, has_sound_facts, pricing_of
from trainform.workspace.selection import unselected_jobs

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.io.paths import JobId
    from trainform.io.repository import Repository
    from trainform.k8s.tree import Tree
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.fingerprint import CurrentInputs


class Gathered(NamedTuple):
    """The jobs of each environment as `trainform render` would leave them, and which are behind."""

    fleets: tuple[Fleet, ...]
    behind: Behind
    outcome: Outcome


def read_statuses(workspace: Workspace, files: Iterable[str]) -> list[LiveStatus]:
    """What `trainform status` printed, from files that the user named. Raises InvocationError."""
    found = {file: _status(workspace.repository, file) for file in files}
    known = [each.name for each in workspace.all_environments]
    for file, status in found.items():
        if status.environment not in known:
            message = f'{file}: no environment "{status.environment}"; there are {", ".join(known)}'
            raise InvocationError(message, "--live")
    return [*found.values()]


def _status(repository: Repository, file: str) -> LiveStatus:
    data = repository.read(os.path.abspath(file))
    if not isinstance(data, Diagnostic):
        loaded = load(file, data)
        found = status_of(loaded.documents[0].tree) if len(loaded.documents) == 1 else None
        if found and not loaded.diagnostics:
            return found
    why = data.message if isinstance(data, Diagnostic) else "is not what `trainform status --format json` prints"
    raise InvocationError(f"{file}: {why}", "--live")


def gather(workspace: Workspace) -> Gathered:
    environments = workspace.read()
    problems = [*workspace.problems, *unselected_jobs(workspace, environments, None)]
    frozen = {each.name: take_frozen(each, workspace.locks) for each in environments}
    outcome = compile_environments(environments, problems, wants_job=False)
    current = current_inputs(environments, outcome)
    late = behind(((job.id, job.lock.pins) for jobs in frozen.values() for job in jobs), current)
    notes = _notes(late)
    fleets = []
    for each, compilation in zip(environments, outcome.compilations, strict=True):
        own = _frozen(workspace.repository, frozen[each.name], notes, current[each.name])
        jobs = [*own, *map(_compiled, compilation.jobs)]
        facts, pricing = compilation.inputs.facts, pricing_of(each, compilation)
        fleets.append(fleet(each.name, jobs, facts, pricing, is_sound=has_sound_facts(each, compilation)))
    return Gathered(tuple(fleets), late, outcome)


def _notes(late: Behind) -> dict[JobId, list[str]]:
    """A note for each reason why a job is behind."""
    notes: dict[JobId, list[str]] = {}
    for cause, jobs in late.items():
        for job in jobs:
            notes.setdefault(job, []).append(f"behind: {cause.message}")
    return notes


def _frozen(
    repository: Repository, jobs: Iterable[FrozenJob], notes: dict[JobId, list[str]], current: CurrentInputs
) -> Iterator[Known]:
    """Frozen jobs, read from their manifests. The framework comes from the current runtime."""
    for job in jobs:
        pin = job.lock.pins.runtime
        jobset = _jobset(rendered_objects(repository, job))
        runtime = current.runtime(*pin.key)
        framework = framework_of(runtime.trees[0]) if runtime else "unknown"
        own = tuple(notes.get(job.id, ()))
        state = "behind" if own else "up to date"
        if jobset is None or demand_of(jobset, NO_FACTS) is None:
            state, own = "missing", (UNREADABLE, *own)
        yield Known(job.id, pin.name, framework, state, jobset, own, _template(job.lock.source))


def _compiled(job: CompiledJob) -> Known:
    errors = tuple(one_line(each) for each in job.diagnostics if each.severity == "error")
    tree = job.runtime.document.tree if job.runtime else {}
    name = str(tree["metadata"]["name"]) if tree else ""
    framework = framework_of(tree) if tree else "unknown"
    state = "error" if errors else "to render"
    template = _template(job.document.file)
    id = job.environment, job.namespace, job.name
    return Known(id, name, framework, state, _jobset(job.objects), errors, template)


def _template(file: str) -> str:
    return file if is_template(file) else ""


def _jobset(objects: Iterable[Tree]) -> Tree | None:
    return next((tree for tree in objects if tree.get("kind") == "JobSet"), None)


def one_line(problem: Diagnostic) -> str:
    """`jobs/llm.yaml:9:3 TF101 …`."""
    position = problem.position
    place = f"{problem.file}:{position.line}:{position.column}" if position else problem.file
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{place} {problem.code} {problem.message}{hint}".strip()
