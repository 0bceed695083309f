"""How much of each quota a ClusterQueue can use: its own, and what its cohorts lend. A cohort is a tree of Cohorts and
ClusterQueues. Each node has the quota of its subtree; it keeps what its lending limit withholds, and its parent hands
out the rest. Usage counts against the kept part first. Named as in Kueue's `pkg/cache/scheduler/resource_node.go`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.k8s.rules.fact import parent_of
from trainform.k8s.rules.fact_links import circle
from trainform.review.capacity.kueue_facts import ClusterQueue, FlavorResource, Quotas, quotas_of

if TYPE_CHECKING:
    from trainform.core.cluster.facts import Facts

Usage = Mapping[FlavorResource, int]
"""What a job uses of each quota."""

Counts = defaultdict[FlavorResource, int]


@dataclass(slots=True, eq=False)
class ResourceNode:
    """`subtree_quota` is the quota below that reaches this node; `usage` counts against it. `height` is the longest way
    down to a ClusterQueue."""

    quotas: Quotas
    parent: ResourceNode | None = None
    height: int = 0
    subtree_quota: Counts = field(default_factory=lambda: defaultdict(int))
    usage: Counts = field(default_factory=lambda: defaultdict(int))

    def guaranteed_quota(self, key: FlavorResource) -> int:
        """The part of the quota that is never lent."""
        quota = self.quotas.get(key)
        if quota is None or quota.lending_limit is None:
            return 0
        return max(0, self.subtree_quota[key] - quota.lending_limit)

    def local_available(self, key: FlavorResource) -> int:
        return max(0, self.guaranteed_quota(key) - self.usage[key])

    def is_borrowing_with(self, key: FlavorResource, number: int) -> bool:
        """Whether `number` more would exceed the quota of this subtree."""
        return self.usage[key] + number > self.subtree_quota[key]

    def path_to_root(self) -> list[ResourceNode]:
        """This node and its ancestors, up to the root."""
        return [self, *(self.parent.path_to_root() if self.parent else ())]


class Cohorts:
    """The quotas of all ClusterQueues in their cohorts, with the usage of the jobs admitted so far."""

    def __init__(self, queues: Iterable[ClusterQueue], facts: Facts) -> None:
        self._parents = {name: parent_of(facts.get("Cohort", name) or {}) for name in facts.names("Cohort")}
        self._cohorts: dict[str, ResourceNode] = {}
        self._queues: dict[str, ResourceNode] = {}
        self.circles: dict[str, list[str]] = {}
        """By ClusterQueue: the cycle of cohorts above it, below which nothing is admitted."""
        for queue in queues:
            self._add_queue(queue, facts)
        for name in self._parents:  # cohorts without a queue may have quota to lend
            if not circle(name, self._parents):
                self._cohort(name, facts)
        self._sum_up()

    def potential_available(self, queue: str, key: FlavorResource) -> int:
        """What the queue could use if nobody else used anything."""
        return self._available(queue, key, in_use=False)

    def available(self, queue: str, key: FlavorResource) -> int:
        """What the queue can still use."""
        return max(0, self._available(queue, key, in_use=True))

    def used(self, queue: str, key: FlavorResource) -> int:
        """What the queue's own jobs use."""
        return self._queues[queue].usage[key]

    def lowest_subtree_that_fits(self, queue: str, key: FlavorResource, number: int) -> tuple[int, bool]:
        """The height of the smallest subtree around the queue in whose quota `number` more fits (0: the queue itself,
        which then does not borrow), and whether that is less than the whole tree, so that the rest may give back what
        it borrowed."""
        node = self._queues[queue]
        if node.parent is None or not node.is_borrowing_with(key, number):
            return 0, node.parent is not None
        remaining = number - node.local_available(key)
        for above in node.path_to_root()[1:]:
            if not above.is_borrowing_with(key, remaining) or above.parent is None:
                return above.height, above.parent is not None
            remaining -= above.local_available(key)
        raise AssertionError("a way up ends at a root")

    def add_usage(self, queue: str, usage: Usage) -> None:
        """Record usage: what a node does not keep for itself counts at its parent."""
        for key, number in usage.items():
            remaining = number
            for node in self._queues[queue].path_to_root():
                local = node.local_available(key)
                node.usage[key] += remaining
                remaining -= local
                if remaining <= 0:
                    break

    def remove_usage(self, queue: str, usage: Usage) -> None:
        """Take back what `add_usage` recorded."""
        for key, number in usage.items():
            remaining = number
            for node in self._queues[queue].path_to_root():
                in_parent = max(0, node.usage[key] - node.guaranteed_quota(key))
                node.usage[key] -= remaining
                remaining = min(remaining, in_parent)
                if remaining <= 0:
                    break

    def _nodes(self) -> list[ResourceNode]:
        return [*self._queues.values(), *self._cohorts.values()]

    def _available(self, queue: str, key: FlavorResource, *, in_use: bool) -> int:
        available = 0
        for node in reversed(self._queues[queue].path_to_root()):
            kept, used = node.guaranteed_quota(key), node.usage[key] if in_use else 0
            if node.parent is None:
                available = node.subtree_quota[key] - used
                continue
            quota = node.quotas.get(key)
            limit = quota.borrowing_limit if quota else None
            if limit is not None:
                available = min(node.subtree_quota[key] - kept - max(0, used - kept) + limit, available)
            available += max(0, kept - used)
        return available

    def _add_queue(self, queue: ClusterQueue, facts: Facts) -> None:
        way = circle(queue.cohort, self._parents) if queue.cohort else []
        if way:
            self.circles[queue.name] = way
        parent = self._cohort(queue.cohort, facts) if queue.cohort and not way else None
        self._queues[queue.name] = ResourceNode(queue.quotas, parent)

    def _cohort(self, name: str, facts: Facts) -> ResourceNode:
        """The node of a cohort, created on first mention, and its ancestors."""
        way = [name]
        while way[-1] not in self._cohorts and (parent := self._parents.get(way[-1], "")):
            way.append(parent)
        above: ResourceNode | None = None
        for each in reversed(way):
            if each not in self._cohorts:
                self._cohorts[each] = ResourceNode(quotas_of(facts.get("Cohort", each) or {}), above)
            above = self._cohorts[each]
        return self._cohorts[name]

    def _sum_up(self) -> None:
        """Sum up quotas bottom-up: every node before its parent."""
        for node in sorted(self._nodes(), key=lambda node: len(node.path_to_root()), reverse=True):
            for key, quota in node.quotas.items():
                node.subtree_quota[key] += quota.nominal
            if node.parent:
                node.parent.height = max(node.parent.height, node.height + 1)
                for key, number in node.subtree_quota.items():
                    node.parent.subtree_quota[key] += number - node.guaranteed_quota(key)
