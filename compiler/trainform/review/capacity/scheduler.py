"""Kueue's scheduling cycles, as in its `pkg/scheduler/scheduler.go` and `pkg/cache/queue`. Each cycle looks at the
heads of all queues: first those that stay within their nominal quota, then by priority, then by time. What is not
admitted goes back to its queue if that is strict or if there are flavors left to try; otherwise it steps aside."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trainform.review.capacity.assignment import NOTHING_TRIED, Assignment, LastTried, Mode
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.demand import JobDemand
from trainform.review.capacity.flavor_assigner import FlavorAssigner
from trainform.review.capacity.kueue_facts import ClusterQueue, FlavorResource, Node
from trainform.review.capacity.tas import TASFlavorSnapshot, TASUsage, add_usage


@dataclass(slots=True, eq=False)
class Workload:
    """A job in its queue, by its place in the order of arrival. `is_misconfigured`: Kueue never looks for flavors.
    `assignment` is the one that was admitted, else the last attempt. `behind`: the job at the head of a strict queue
    that this one waits for."""

    job: JobDemand
    queue: ClusterQueue
    place: int = 0
    is_misconfigured: bool = False
    assignment: Assignment = field(default_factory=Assignment)
    last_tried: LastTried = NOTHING_TRIED
    admitted: bool = False
    behind: str = ""

    @property
    def order(self) -> tuple[int, int]:
        """By priority, then by time."""
        return -self.job.priority, self.place


class ClusterState:
    """All quotas and nodes, and what the admitted jobs use of them. `nodes` is None if none are declared. The switches
    are those of `FlavorAssigner`."""

    def __init__(
        self,
        queues: Iterable[ClusterQueue],
        cohorts: Cohorts,
        nodes: Sequence[Node] | None,
        *,
        own_keys: bool = True,
        ignores_undeclared: bool = False,
    ) -> None:
        self.cohorts, self.own_keys, self.ignores_undeclared = cohorts, own_keys, ignores_undeclared
        self._snapshots: dict[str, TASFlavorSnapshot] = {}
        by_node: TASUsage = {}
        for flavor in (flavor for queue in queues for flavor in queue.flavors.values()):
            if flavor.levels and flavor.name not in self._snapshots:
                snapshot = TASFlavorSnapshot(flavor, nodes, {})
                if snapshot.leaf_is_node:
                    snapshot.usage = by_node
                self._snapshots[flavor.name] = snapshot

    def assigner(self, queue: ClusterQueue) -> FlavorAssigner:
        tas_flavors = {name: self._snapshots[name] for name in queue.flavors if name in self._snapshots}
        return FlavorAssigner(queue, self.cohorts, tas_flavors, self.ignores_undeclared, self.own_keys)

    def fits_quota(self, queue: ClusterQueue, assignment: Assignment) -> bool:
        return all(number <= self.cohorts.available(queue.name, key) for key, number in assignment.usage.items())

    def fits_topology(self, assignment: Assignment) -> bool:
        return all(
            self._snapshots[flavor].fits(each)
            for flavor, placed in assignment.topology.items()
            for each in placed.values()
        )

    def add_usage(self, queue: str, usage: Mapping[FlavorResource, int], topology: Mapping[str, TASUsage]) -> None:
        self.cohorts.add_usage(queue, usage)
        for flavor, by_leaf in topology.items():
            add_usage(self._snapshots[flavor].usage, by_leaf)

    def remove_usage(self, queue: str, usage: Mapping[FlavorResource, int], topology: Mapping[str, TASUsage]) -> None:
        self.cohorts.remove_usage(queue, usage)
        for flavor, by_leaf in topology.items():
            add_usage(self._snapshots[flavor].usage, by_leaf, sign=-1)


def admit_alone(workload: Workload, cluster: ClusterState) -> bool:
    """Whether the job is ever admitted if nothing else runs. Nothing is recorded in `cluster`. `assignment` is that of
    the attempt that succeeds, else the first one."""
    assigner = cluster.assigner(workload.queue)
    first = attempt = assigner.assign(workload.job.pod_sets)
    seen: list[LastTried] = []
    while attempt.mode != Mode.FIT and attempt.has_pending_flavors and attempt.last_tried not in seen:
        seen.append(attempt.last_tried)
        attempt = assigner.assign(workload.job.pod_sets, attempt.last_tried)
    workload.assignment = attempt if attempt.mode == Mode.FIT else first
    return attempt.mode == Mode.FIT


class Scheduler:
    """Admits workloads that have all arrived before the first cycle."""

    def __init__(self, workloads: Iterable[Workload], cluster: ClusterState) -> None:
        self.cluster = cluster
        self._heaps: dict[str, list[tuple[tuple[int, int], Workload]]] = {}
        for workload in workloads:
            self._push(workload)
        self._reserved: list[tuple[str, Mapping[FlavorResource, int], Mapping[str, TASUsage]]] = []

    def run(self) -> None:
        """Cycle until nothing changes any more: no job was admitted or stepped aside, and the attempts repeat."""
        seen: set[tuple[tuple[int, tuple[tuple[tuple[str, int], ...], ...]], ...]] = set()
        while heads := self._heads():
            state = tuple((each.place, _frozen(each.last_tried)) for each in heads)
            waiting = self._cycle(heads)
            stays = len(waiting) == len(heads)
            if stays and state in seen:
                break
            seen = {*seen, state} if stays else set()
        for heap in self._heaps.values():
            _wait_behind_the_head([workload for _, workload in sorted(heap, key=lambda item: item[0])])

    def _heads(self) -> list[Workload]:
        return [heapq.heappop(heap)[1] for heap in self._heaps.values() if heap]

    def _push(self, workload: Workload) -> None:
        heapq.heappush(self._heaps.setdefault(workload.queue.name, []), (workload.order, workload))

    def _cycle(self, heads: Sequence[Workload]) -> list[Workload]:
        """One look at the heads; returns those that went back to their queue."""
        for each in heads:
            if not each.is_misconfigured:
                each.assignment = self.cluster.assigner(each.queue).assign(each.job.pod_sets, each.last_tried)
                each.last_tried = each.assignment.last_tried
        waiting = []
        for each in sorted(heads, key=lambda each: (each.assignment.borrowing, *each.order)):
            again = not each.is_misconfigured and self._process(each)
            if not each.admitted and (again or each.queue.strict):
                self._push(each)
                waiting.append(each)
        for reserved in self._reserved:
            self.cluster.remove_usage(*reserved)
        self._reserved.clear()
        return waiting

    def _process(self, workload: Workload) -> bool:
        """Admit a workload if its assignment still fits; else, whether it goes back to its queue at once."""
        queue = workload.queue
        fits_quota = self.cluster.fits_quota(queue, workload.assignment)
        if fits_quota and not self.cluster.fits_topology(workload.assignment):
            self._recompute(workload)
            fits_quota = self.cluster.fits_quota(queue, workload.assignment)
        assignment = workload.assignment
        if assignment.mode == Mode.PREEMPT:
            self._reserve(workload)
        if assignment.mode != Mode.FIT:
            return assignment.has_pending_flavors
        if not fits_quota or not self.cluster.fits_topology(assignment):
            workload.last_tried = NOTHING_TRIED
            return True
        self.cluster.add_usage(queue.name, assignment.usage, assignment.tas_usage())
        workload.admitted = True
        return False

    def _recompute(self, workload: Workload) -> None:
        """Look for other nodes, in the flavors of the nomination."""
        only = {
            each.pod_set.name: frozenset(flavor.name for flavor in each.flavors.values())
            for each in workload.assignment.pod_sets
        }
        assigner = self.cluster.assigner(workload.queue)
        workload.assignment = assigner.assign(workload.job.pod_sets, only=only)
        workload.last_tried = workload.assignment.last_tried

    def _reserve(self, workload: Workload) -> None:
        """For this cycle, nobody of lower priority takes what this workload would get by preemption."""
        queue, cohorts = workload.queue, self.cluster.cohorts
        if queue.can_always_reclaim:
            return
        usage: dict[FlavorResource, int] = {}
        for key, number in workload.assignment.usage.items():
            quota, used = queue.quotas[key], cohorts.used(queue.name, key)
            if not workload.assignment.borrowing:
                usage[key] = max(0, min(number, quota.nominal - used))
            elif quota.borrowing_limit is None:
                usage[key] = number
            else:
                usage[key] = min(number, quota.nominal + quota.borrowing_limit - used)
        topology = workload.assignment.tas_usage()
        self.cluster.add_usage(queue.name, usage, topology)
        self._reserved.append((queue.name, usage, topology))


def _wait_behind_the_head(queue: Sequence[Workload]) -> None:
    for each in queue[1:]:
        each.behind = queue[0].job.full_name


def _frozen(last_tried: LastTried) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple(sorted(tried.items())) for tried in last_tried)
