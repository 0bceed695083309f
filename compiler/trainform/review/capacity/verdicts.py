"""Compares rendered jobs' requests with the declared quotas: would Kueue ever admit these jobs, and which wait if all
start at once?

As in Kueue, a job is admitted if every pod set gets a matching flavor, and their total use of each flavor and resource
is within the nominal quota plus what cohorts lend. Nodes, admission checks, fair sharing and preemption are not
modeled: `never` is certain, `fits` only means that the quota suffices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trainform.review.capacity.amounts import written
from trainform.review.capacity.assignment import Undecided, find
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.demand import JobDemand
from trainform.review.capacity.kueue_facts import ClusterQueue, FlavorResource, cluster_queues
from trainform.review.capacity.one_job import Judged, Verdict, judge
from trainform.review.capacity.reasons import too_much_now

if TYPE_CHECKING:
    from trainform.core.facts import Facts


@dataclass(frozen=True, slots=True)
class QueueUse:
    """One quota of a ClusterQueue, and what all its jobs request of it."""

    nominal: int
    borrowable: int
    asked: int


@dataclass(frozen=True, slots=True)
class JobVerdict:
    """`reason` is empty for a job that fits."""

    namespace: str
    name: str
    queue: str
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Capacity:
    """`queues` has the declared ClusterQueues by name; `jobs` are in input order."""

    queues: dict[str, dict[FlavorResource, QueueUse]]
    jobs: list[JobVerdict]

    @property
    def has_never(self) -> bool:
        return any(job.verdict == "never" for job in self.jobs)

    def to_json(self) -> dict[str, Any]:
        """The environment's part of a `CapacityResult`, with amounts as Kubernetes quantities."""
        queues = {name: _uses(uses) for name, uses in self.queues.items()}
        fields = JobVerdict.__slots__
        return {"queues": queues, "jobs": [{key: getattr(job, key) for key in fields} for job in self.jobs]}


def _uses(uses: dict[FlavorResource, QueueUse]) -> dict[str, dict[str, str]]:
    return {
        f"{key.flavor}/{key.resource}": {
            field: written(key.resource, getattr(use, field)) for field in QueueUse.__slots__
        }
        for key, use in uses.items()
    }


def capacity(jobs: Sequence[JobDemand], facts: Facts) -> Capacity:
    """The verdict on each job, and the use of each queue. Pure. `facts` must be free of errors
    (`trainform.k8s.schema.facts.check`) and complete: an undeclared ClusterQueue or Cohort lends nothing. Jobs that fit
    alone are then started together, by priority, namespace and name, to see which wait."""
    queues = {queue.name: queue for queue in cluster_queues(facts)}
    cohorts = Cohorts(queues.values(), facts)
    judged = [judge(job, queues, cohorts, facts) for job in jobs]
    uses = {name: _queue_uses(queue, cohorts, judged) for name, queue in queues.items()}
    _start_all(judged, cohorts)
    verdicts = [
        JobVerdict(each.job.namespace, each.job.name, each.job.queue, each.verdict, each.reason) for each in judged
    ]
    return Capacity(uses, verdicts)


def _queue_uses(queue: ClusterQueue, cohorts: Cohorts, judged: Sequence[Judged]) -> dict[FlavorResource, QueueUse]:
    here = [each.asked for each in judged if each.queue is queue]
    return {
        key: QueueUse(
            quota.nominal,
            cohorts.most(queue.name, key) - quota.nominal,
            sum(asked.get(key, 0) for asked in here),
        )
        for key, quota in queue.quotas.items()
    }


def _start_all(judged: Iterable[Judged], cohorts: Cohorts) -> None:
    """Admit the jobs one by one, and update the verdict of those that fit alone but not next to the others. The order
    is Kueue's for jobs that arrive together: by priority; ties by namespace and name. In a StrictFIFO queue nothing
    overtakes a job that cannot start. Nothing is preempted. Usage is recorded in `cohorts`."""
    start = _Start(cohorts)
    for each in sorted(judged, key=lambda each: (-each.job.priority, each.job.namespace, each.job.name)):
        if each.queue and each.heads:
            start.enter(each, each.queue)


@dataclass(slots=True)
class _Start:
    """`first` is the job that blocks a strict queue; `undecided` one that all later jobs depend on."""

    cohorts: Cohorts
    first: dict[str, str] = field(default_factory=dict)
    undecided: str = ""

    def enter(self, judged: Judged, queue: ClusterQueue) -> None:
        if judged.verdict == "fits":
            judged.verdict, judged.reason = self._outcome(judged, queue)
        if queue.strict and judged.verdict != "fits":
            self.first.setdefault(queue.name, judged.job.full_name)

    def _outcome(self, judged: Judged, queue: ClusterQueue) -> tuple[Verdict, str]:
        """The verdict on a job that fits alone, and the reason."""
        if first := self.first.get(queue.name):
            return "waits", f"stands behind {first}: ClusterQueue {queue.name} is StrictFIFO"
        if self.undecided:
            return "unknown", f"fits alone; whether it waits depends on {self.undecided}, which is unknown"
        try:
            usage = find(judged.choices, lambda key: self.cohorts.left(queue.name, key))
            if usage is None:
                return "waits", too_much_now(judged.choices, queue, self.cohorts)
        except Undecided:
            self.undecided = judged.job.full_name
            return "unknown", "fits alone; there are too many ways to give its pod sets flavors beside others"
        for key, number in usage.items():
            self.cohorts.use(queue.name, key, number)
        return "fits", ""
