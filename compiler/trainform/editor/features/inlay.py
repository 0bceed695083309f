"""What a job comes to, at the end of two of its lines.

name: llm            4 pods, nvidia.com/gpu 32, queue team-a, 80.00 USD per hour
numNodes: 4          4 nodes × 8 processes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.environment import Environment
from trainform.core.cluster.facts import NO_FACTS
from trainform.core.resources import cpu_count, gpu_count
from trainform.core.trainer import trainer_resources
from trainform.diagnostics.order import counted, has_errors
from trainform.editor.spans import span_of
from trainform.review.capacity.demand import demand_of
from trainform.review.cost.pricing import Pricing
from trainform.review.diff.grouping import asked
from trainform.review.diff.totals import ask_for

if TYPE_CHECKING:
    from trainform.core.plan import Plan
    from trainform.diagnostics import Path, Position
    from trainform.editor.positions import Span
    from trainform.editor.snapshot import JobInEditor, RepositorySnapshot

_NODES: tuple[Path, ...] = (("spec", "trainer", "numNodes"), ("spec", "runtimeRef", "name"))
"""Where the number of nodes stands, else where it comes from."""


class InlayHint(NamedTuple):
    """A few words behind a value, which ends at `at`."""

    at: Position
    label: str


def inlay_hints(snapshot: RepositorySnapshot, file: str, visible: Span) -> list[InlayHint]:
    """The hints of the jobs in the visible part of a file. A job with an error has none, nor one of a template, whose
    lines are those of many jobs."""
    found = [hint for jobs in _by_document(snapshot.jobs(file)) for hint in _hints(jobs)]
    return [hint for hint in found if visible.holds(hint.at)]


def _by_document(jobs: Iterable[JobInEditor]) -> list[list[JobInEditor]]:
    """Jobs without errors, those of one TrainJob together."""
    found: dict[tuple[Position, str], list[JobInEditor]] = {}
    for job in jobs:
        if job.compiled.objects and not job.document.part.source.is_template:
            found.setdefault((job.document.position(()), job.id[2]), []).append(job)
    return [*found.values()]


def _hints(jobs: list[JobInEditor]) -> Iterable[InlayHint]:
    document = jobs[0].document
    for paths, tell in (((("metadata", "name"),), _amounts), (_NODES, _nodes)):
        spans = [span_of(document, path) for path in paths]
        span = next(filter(None, spans), None)
        label = _by_environment(jobs, tell)
        if span is not None and label:
            yield InlayHint(span.end, label)


def _by_environment(jobs: list[JobInEditor], tell: Callable[[JobInEditor], str]) -> str:
    """What holds in every Environment, else in each."""
    told = {job.id[0]: label for job in jobs if (label := tell(job))}
    if len(set(told.values())) < 2:
        return next(iter(told.values()), "")
    return "; ".join(f"{name}: {label}" for name, label in told.items())


def _amounts(job: JobInEditor) -> str:
    """What the job asks for, and what that costs where the Environment has prices."""
    facts = NO_FACTS if has_errors(job.inputs.diagnostics) else job.facts
    jobset = next((tree for tree in job.compiled.objects if tree["kind"] == "JobSet"), None)
    demand = demand_of(jobset, facts, job.id[2]) if jobset else None
    if jobset is None or demand is None:
        return ""
    environment = job.inputs.environment.model if job.inputs.environment else None
    pricing = Pricing.of(environment if isinstance(environment, Environment) else None, facts)
    cost = f", {pricing.cost(demand)}" if pricing else ""
    return f"{asked(ask_for(demand, jobset))}{cost}"


def _nodes(job: JobInEditor) -> str:
    trace = job.recorder.traces.get((job.id[0], job.compiled.document))
    if trace is None:
        return ""
    plan = trace.plan
    policy = plan.runtime.spec.ml_policy
    nodes = plan.num_nodes or (policy.num_nodes if policy else None) or 1
    processes = _processes(plan)
    each = f" × {processes} process{'' if processes == 1 else 'es'}" if processes else ""
    return f"{counted(nodes, 'node')}{each}"


def _processes(plan: Plan) -> int | None:
    """How many processes run on each node; None for a framework that does not count them."""
    policy = plan.runtime.spec.ml_policy
    if plan.num_proc_per_node is not None or policy is None:
        return plan.num_proc_per_node
    own = policy.mpi or policy.flux
    if own is not None:
        return own.num_proc_per_node
    resources = trainer_resources(plan)
    return gpu_count(resources) or max(cpu_count(resources), 1) if policy.torch else None
