"""Whose fields are explained: the TrainJob's name, and what the job requests, as `capacity` and `report` tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.k8s.tree import name_of
from trainform.review.capacity.amounts import quantities
from trainform.review.capacity.demand import demand_of
from trainform.review.diff.grouping import asked
from trainform.review.diff.totals import Ask, ask_for

if TYPE_CHECKING:
    from trainform.core.cluster.facts import Facts
    from trainform.core.compile import CompiledJob


class Heading(NamedTuple):
    """`behind` says why the job is told as it was rendered; empty if today's inputs give the same."""

    environment: str
    namespace: str
    name: str
    ask: Ask
    behind: tuple[str, ...]

    def told(self, *, with_amounts: bool) -> str:
        """`ml/llm in environment prod asks for 2 pods, nvidia.com/gpu 16`; of a job that is behind, also why."""
        asks = f" asks for {asked(self.ask)}" if with_amounts else ""
        late = f"; as it was rendered, because it is behind: {', '.join(self.behind)}" if self.behind else ""
        return f"{self.namespace}/{self.name} in environment {self.environment}{asks}{late}"

    def to_json(self) -> dict[str, Any]:
        own = {"environment": self.environment, "namespace": self.namespace, "name": self.name, "queue": self.ask.queue}
        return {**own, "pods": self.ask.pods, "resources": quantities(self.ask.resources), "behind": self.behind}


def heading_of(job: CompiledJob, facts: Facts, behind: tuple[str, ...]) -> Heading:
    jobset = _jobset(job)
    demand = demand_of(jobset, facts, job.name) if jobset else None
    ask = ask_for(demand, jobset) if jobset and demand else Ask("", 0, {})
    return Heading(job.environment, job.namespace, job.name, ask, behind)


def is_needed(heading: Heading, job: CompiledJob) -> bool:
    """Whether the name of the JobSet does not say it: it has a hash, or the job is not told as it would be today."""
    jobset = _jobset(job)
    return bool(heading.behind) or (jobset is not None and name_of(jobset) != job.name)


def _jobset(job: CompiledJob) -> dict[str, Any] | None:
    return next((tree for tree in job.objects if tree["kind"] == "JobSet"), None)
