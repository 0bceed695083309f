"""How much of each quota a ClusterQueue can use: its own, and what its cohorts lend. A cohort is a tree of Cohorts and
ClusterQueues. Each node has the quota of its subtree; it keeps what its lending limit withholds, and its parent hands
out the rest. Usage counts against the kept part first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.k8s.rules.fact import parent_of
from trainform.k8s.rules.fact_links import circle
from trainform.review.capacity.kueue_facts import ClusterQueue, FlavorResource, Quotas, quotas_of

if TYPE_CHECKING:
    from trainform.core.facts import Facts


@dataclass(slots=True, eq=False)
class _Node:
    """`subtree` is the quota below that reaches this node; `usage` counts against it."""

    quotas: Quotas
    parent: _Node | None = None
    subtree: defaultdict[FlavorResource, int] = field(default_factory=lambda: defaultdict(int))
    usage: defaultdict[FlavorResource, int] = field(default_factory=lambda: defaultdict(int))

    def kept(self, key: FlavorResource) -> int:
        """The part of the quota that is never lent."""
        quota = self.quotas.get(key)
        if quota is None or quota.lending_limit is None:
            return 0
        return max(0, self.subtree[key] - quota.lending_limit)

    def way_up(self) -> list[_Node]:
        """This node and its ancestors, up to the root."""
        return [self, *(self.parent.way_up() if self.parent else ())]


class Cohorts:
    """The quotas of all ClusterQueues in their cohorts, with the usage of the jobs admitted so far."""

    def __init__(self, queues: Iterable[ClusterQueue], facts: Facts) -> None:
        self._parents = {name: parent_of(facts.get("Cohort", name) or {}) for name in facts.names("Cohort")}
        self._cohorts: dict[str, _Node] = {}
        self._queues: dict[str, _Node] = {}
        self.circles: dict[str, list[str]] = {}
        """By ClusterQueue: the cycle of cohorts above it, below which nothing is admitted."""
        for queue in queues:
            self._add_queue(queue, facts)
        for name in self._parents:  # cohorts without a queue may have quota to lend
            if not circle(name, self._parents):
                self._cohort(name, facts)
        self._hand_up()

    def most(self, queue: str, key: FlavorResource) -> int:
        """What the queue could use if nobody else used anything."""
        return self._available(queue, key, in_use=False)

    def left(self, queue: str, key: FlavorResource) -> int:
        """What the queue can still use."""
        return self._available(queue, key, in_use=True)

    def _available(self, queue: str, key: FlavorResource, *, in_use: bool) -> int:
        available = 0
        for node in reversed(self._queues[queue].way_up()):
            kept, used = node.kept(key), node.usage[key] if in_use else 0
            if node.parent is None:
                available = node.subtree[key] - used
                continue
            quota = node.quotas.get(key)
            limit = quota.borrowing_limit if quota else None
            if limit is not None:
                available = min(node.subtree[key] - kept - max(0, used - kept) + limit, available)
            available += max(0, kept - used)
        return available

    def use(self, queue: str, key: FlavorResource, number: int) -> None:
        """Record usage: what a node does not keep for itself counts at its parent."""
        for node in self._queues[queue].way_up():
            kept_left = max(0, node.kept(key) - node.usage[key])
            node.usage[key] += number
            number -= kept_left
            if number <= 0:
                return

    def _add_queue(self, queue: ClusterQueue, facts: Facts) -> None:
        way = circle(queue.cohort, self._parents) if queue.cohort else []
        if way:
            self.circles[queue.name] = way
        parent = self._cohort(queue.cohort, facts) if queue.cohort and not way else None
        self._queues[queue.name] = _Node(queue.quotas, parent)

    def _cohort(self, name: str, facts: Facts) -> _Node:
        """The node of a cohort, created on first mention, and its ancestors."""
        way = [name]
        while way[-1] not in self._cohorts and (parent := self._parents.get(way[-1], "")):
            way.append(parent)
        above: _Node | None = None
        for each in reversed(way):
            if each not in self._cohorts:
                self._cohorts[each] = _Node(quotas_of(facts.get("Cohort", each) or {}), above)
            above = self._cohorts[each]
        return self._cohorts[name]

    def _hand_up(self) -> None:
        """Sum up quotas bottom-up: every node before its parent."""
        nodes = [*self._queues.values(), *self._cohorts.values()]
        for node in sorted(nodes, key=lambda node: len(node.way_up()), reverse=True):
            for key, quota in node.quotas.items():
                node.subtree[key] += quota.nominal
            if node.parent:
                for key, number in node.subtree.items():
                    node.parent.subtree[key] += number - node.kept(key)
