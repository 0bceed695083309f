"""Compares rendered jobs' requests with the declared quotas: would Kueue ever admit these jobs, and which wait if all
start at once?

As in Kueue, a job is admitted if every pod set gets a matching flavor, and their total use of each flavor and resource
is within the nominal quota plus what cohorts lend, and if by topology its pods have room on the declared nodes.
Admission checks, fair sharing and preemption are not modeled: `never` is certain, `fits` means that nothing else ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from trainform.k8s.kueue_configuration import kueue_configuration
from trainform.review.capacity.amounts import Amounts, quantities, written
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.demand import JobDemand
from trainform.review.capacity.kueue_facts import ClusterQueue, FlavorResource, cluster_queues, nodes
from trainform.review.capacity.one_job import Judged, Verdict, judge
from trainform.review.capacity.reasons import not_admitted_now
from trainform.review.capacity.releases import own_keys
from trainform.review.capacity.scheduler import ClusterState, Scheduler, Workload
from trainform.review.cost.money import Cost, Sums

if TYPE_CHECKING:
    from trainform.core.cluster.facts import Facts
    from trainform.review.cost.pricing import Pricing


@dataclass(frozen=True, slots=True)
class QueueUse:
    """One quota of a ClusterQueue, and what all its jobs request of it."""

    nominal: int
    borrowable: int
    asked: int


@dataclass(frozen=True, slots=True)
class JobVerdict:
    """`reason` is empty for a job that fits. `pods` and `resources` are what it requests. `cost` is None without
    prices."""

    namespace: str
    name: str
    queue: str
    verdict: Verdict
    reason: str = ""
    pods: int = 0
    resources: Amounts = field(default_factory=dict)
    cost: Cost | None = None

    def to_json(self) -> dict[str, Any]:
        told = {key: getattr(self, key) for key in ("namespace", "name", "queue", "verdict", "reason", "pods")}
        cost = {"cost": self.cost.to_json()} if self.cost else {}
        return told | {"resources": quantities(self.resources)} | cost


@dataclass(frozen=True, slots=True)
class Capacity:
    """`queues` has the declared ClusterQueues by name; `jobs` are in input order."""

    queues: dict[str, dict[FlavorResource, QueueUse]]
    jobs: list[JobVerdict]

    def with_jobs(self, jobs: Iterable[JobVerdict]) -> Capacity:
        return replace(self, jobs=list(jobs))

    @property
    def has_never(self) -> bool:
        return any(job.verdict == "never" for job in self.jobs)

    def to_json(self) -> dict[str, Any]:
        """The environment's part of a `CapacityResult`, with amounts as Kubernetes quantities."""
        queues = {name: _uses(uses) for name, uses in self.queues.items()}
        return {"queues": queues, "jobs": [job.to_json() for job in self.jobs], **self._costs_to_json()}

    def _costs_to_json(self) -> dict[str, Any]:
        total = self.costs
        return {"perHour": {currency: total[currency].to_json() for currency in sorted(total)}} if total else {}

    @property
    def costs(self) -> Sums:
        """What all jobs cost for an hour, if all run at once; empty without prices."""
        return Sums.of(job.cost for job in self.jobs)


def _uses(uses: dict[FlavorResource, QueueUse]) -> dict[str, dict[str, str]]:
    return {
        f"{key.flavor}/{key.resource}": {
            field: written(key.resource, getattr(use, field)) for field in QueueUse.__slots__
        }
        for key, use in uses.items()
    }


def capacity(jobs: Sequence[JobDemand], facts: Facts, pricing: Pricing | None = None) -> Capacity:
    """The verdict on each job, and the use of each queue. Pure. `facts` must be free of errors
    (`trainform.k8s.schema.facts.check`) and complete: an undeclared ClusterQueue or Cohort lends nothing. Jobs that fit
    alone are then started together, by priority, namespace and name, to see which wait. Those that start cost what
    their flavors do; the others what any flavor of their queue could."""
    queues = {queue.name: queue for queue in cluster_queues(facts)}
    keys = own_keys(facts.versions.kueue, queues.values())
    first, *others = [_capacity(jobs, queues, own, facts, pricing) for own in keys]
    return first.with_jobs(map(_agreed, first.jobs, others[0].jobs)) if others else first


def _capacity(
    jobs: Sequence[JobDemand], queues: Mapping[str, ClusterQueue], own: bool, facts: Facts, pricing: Pricing | None
) -> Capacity:
    cluster = ClusterState(
        queues.values(),
        Cohorts(queues.values(), facts),
        nodes(facts),
        own_keys=own,
        ignores_undeclared=kueue_configuration(facts).ignores_undeclared,
    )
    judged = [judge(job, queues, cluster, facts) for job in jobs]
    uses = {name: _queue_uses(queue, cluster.cohorts, judged) for name, queue in queues.items()}
    _start_all(judged, cluster)
    return Capacity(uses, [_verdict(each, pricing) for each in judged])


def _verdict(judged: Judged, pricing: Pricing | None) -> JobVerdict:
    job, workload = judged.job, judged.workload
    assignment = workload.assignment if workload and workload.admitted else None
    cost = pricing.cost(job, assignment) if pricing else None
    asked = job.pods, job.resources
    return JobVerdict(job.namespace, job.name, job.queue, judged.verdict, judged.reason, *asked, cost)


def _agreed(newer: JobVerdict, older: JobVerdict) -> JobVerdict:
    """The verdict of both, or unknown: releases of Kueue compare node labels differently. The flavors may differ even
    if the verdicts do not."""
    if newer.cost and older.cost:
        newer = replace(newer, cost=newer.cost | older.cost)
    if newer.verdict == older.verdict:
        return newer
    reason = (
        f"{newer.verdict} in Kueue 0.17.6, 0.18.2, 0.19.0 and later, {older.verdict} in older releases: "
        "write the version with its patch release in spec.cluster.kueue"
    )
    return replace(newer, verdict="unknown", reason=reason)


def _queue_uses(queue: ClusterQueue, cohorts: Cohorts, judged: Sequence[Judged]) -> dict[FlavorResource, QueueUse]:
    here = [each.asked for each in judged if each.queue is queue and each.asked]
    return {
        key: QueueUse(
            quota.nominal,
            cohorts.potential_available(queue.name, key) - quota.nominal,
            sum(asked.get(key, 0) for asked in here),
        )
        for key, quota in queue.quotas.items()
    }


def _start_all(judged: Iterable[Judged], cluster: ClusterState) -> None:
    """Start all jobs at once, and update the verdict of those that fit alone but not next to the others. They arrive in
    the order of namespace and name. Nothing is preempted. Usage is recorded in `cluster`."""
    entered = [each for each in judged if each.workload]
    entered.sort(key=lambda each: (each.job.namespace, each.job.name))
    workloads = [each.workload for each in entered if each.workload]
    for place, workload in enumerate(workloads):
        workload.place = place
    Scheduler(workloads, cluster).run()
    for each, workload in zip(entered, workloads, strict=True):
        if each.verdict == "fits" and not workload.admitted:
            each.verdict, each.reason = "waits", _why_it_waits(workload, cluster.cohorts)


def _why_it_waits(workload: Workload, cohorts: Cohorts) -> str:
    if workload.behind:
        why = "is StrictFIFO" if workload.queue.strict else "tries that one over and over"
        return f"stands behind {workload.behind}: ClusterQueue {workload.queue.name} {why}"
    return not_admitted_now(workload, cohorts)
