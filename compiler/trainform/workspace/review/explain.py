"""Compile the jobs that `trainform explain` tells of: frozen ones from what they were rendered from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic, Position
from trainform.workspace.behind import current_inputs
from trainform.workspace.compilation import Outcome, compile_environments
from trainform.workspace.frozen import FrozenJob, key_documents, read_snapshot, take_frozen
from trainform.workspace.inputs import EnvironmentInputs, SourceDocuments
from trainform.workspace.selection import select

if TYPE_CHECKING:
    from trainform.core.cluster.facts import Facts
    from trainform.core.compile import CompiledJob
    from trainform.core.pipeline import Observer
    from trainform.io.paths import JobId
    from trainform.source import Document
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.fingerprint import CurrentInputs


class Told(NamedTuple):
    """One job without errors, the documents it was compiled from, and today's facts. `behind` says why it is rendered
    from others than today's; empty if it is not."""

    job: CompiledJob
    documents: Sequence[Document]
    facts: Facts
    behind: tuple[str, ...] = ()


class Gathered(NamedTuple):
    told: list[Told]
    outcomes: list[Outcome]


Adapt = Callable[["Document"], "Document"]


def as_it_is(document: Document) -> Document:
    return document


def gather(
    workspace: Workspace, names: Sequence[str], observe: Observer | None = None, adapt: Adapt = as_it_is
) -> Gathered:
    """The jobs that `names` select, by environment, file and line. A job that is behind is compiled from its snapshots,
    by this version of trainform; any other from today's inputs. `adapt` changes what they are compiled from: the
    TrainJobs, the repository's runtimes, the Environment."""
    environments = workspace.read()
    problems = [*workspace.problems, *select(workspace, environments, names)]
    today = {each.name: [*each.sources.documents] for each in environments}
    frozen = {each.name: take_frozen(each, workspace.locks) for each in environments}
    adapted = environments if adapt is as_it_is else [_adapted(each, adapt) for each in environments]
    wants_job = not problems and not any(frozen.values())
    outcome = compile_environments(adapted, problems, wants_job=wants_job, observe=observe)
    as_read = outcome if adapted is environments else _without_jobs(environments)
    reasons = _reasons([job for jobs in frozen.values() for job in jobs], current_inputs(environments, as_read))
    snapshots = _Snapshots(workspace)
    parts = [
        _adapted(snapshots.part(each, today[each.name], job, is_behind=job.id in reasons), adapt)
        for each in environments
        for job in frozen[each.name]
    ]
    again = [compile_environments(parts, snapshots.problems, wants_job=False, observe=observe)] if parts else []
    facts = {each.name: found.inputs.facts for each, found in zip(environments, outcome.compilations, strict=True)}
    compilations = [found for each in (outcome, *again) for found in each.compilations]
    told = [
        Told(job, each.sources.documents, facts[each.name], reasons.get((each.name, job.namespace, job.name), ()))
        for each, compilation in zip([*adapted, *parts], compilations, strict=True)
        for job in compilation.jobs
        if job.objects
    ]
    order = [each.name for each in environments]
    told.sort(key=lambda each: (order.index(each.job.environment), _place(each.job)))
    return Gathered(told, [outcome, *again])


def _adapted(inputs: EnvironmentInputs, adapt: Adapt) -> EnvironmentInputs:
    sources = inputs.sources.copied()
    sources.documents = [adapt(each) for each in sources.documents]
    return replace(inputs, sources=sources)


def _without_jobs(environments: Sequence[EnvironmentInputs]) -> Outcome:
    """What the environments hold besides TrainJobs, as it was read."""
    parts = []
    for each in environments:
        others = [document for document in each.sources.documents if not is_train_job(document)]
        parts.append(replace(each, sources=SourceDocuments(others), partial=True))
    return compile_environments(parts, wants_job=False)


def is_train_job(document: Document) -> bool:
    return document.tree.get("kind") == "TrainJob"


def _place(job: CompiledJob) -> tuple[str, Position]:
    return job.document.file, job.document.position(())


def _reasons(jobs: Sequence[FrozenJob], current: Mapping[str, CurrentInputs]) -> dict[JobId, tuple[str, ...]]:
    """Why each job that is behind is."""
    causes = ((job.id, current[job.id[0]].causes(job.lock.pins, job.id[1])) for job in jobs)
    return {job: tuple(cause.message for cause in found) for job, found in causes if found}


class _Snapshots:
    """Reads snapshots, and keeps the problems of those that cannot be read."""

    def __init__(self, workspace: Workspace) -> None:
        self._repository = workspace.repository
        self.problems: list[Diagnostic] = []

    def part(
        self, inputs: EnvironmentInputs, today: Sequence[Document], job: FrozenJob, *, is_behind: bool
    ) -> EnvironmentInputs:
        """The inputs of one frozen job alone."""
        if not is_behind:
            others = [each for each in today if not is_train_job(each)]
            return self._with(inputs, [job.document, *others])
        documents = [job.document, *key_documents(inputs)]
        for digest in job.lock.pins.snapshots:
            found = read_snapshot(self._repository, digest)
            if isinstance(found, Diagnostic):
                self.problems.append(found)
            else:
                documents += found
        return self._with(inputs, documents)

    def _with(self, inputs: EnvironmentInputs, documents: list[Document]) -> EnvironmentInputs:
        return replace(inputs, sources=SourceDocuments(documents), partial=True)
