"""The price list of an Environment, applied to what jobs request.

A flavor may have prices of its own. Where Kueue could choose among several, a job costs as much as a range says: from
the cheapest flavor of its ClusterQueue to the dearest, each resource by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from trainform.k8s.tree import table, text
from trainform.review.capacity.amounts import Amounts, is_binary
from trainform.review.capacity.assignment import Assignment
from trainform.review.capacity.demand import DEFAULT_QUEUE, JobDemand, PodSetDemand
from trainform.review.capacity.kueue_facts import ClusterQueue, cluster_queues
from trainform.review.cost.money import NOTHING, Cost, Range

if TYPE_CHECKING:
    from trainform.api.environment import Environment, Prices
    from trainform.core.cluster.facts import Facts

_SECONDS = 3600

Flavors = tuple[str, ...]
"""The flavors that a resource may come from; the empty name is any that has no prices of its own."""

ANY: Flavors = ("",)


@dataclass(frozen=True, slots=True)
class Pricing:
    """Prices of a counted unit (see `amounts`) for an hour: everywhere, and in flavors that differ. `queues` has the
    ClusterQueues that LocalQueues lead to, by namespace and name."""

    currency: str
    resources: Mapping[str, Fraction]
    flavors: Mapping[str, Mapping[str, Fraction]]
    queues: Mapping[tuple[str, str], ClusterQueue] = field(default_factory=dict)

    @classmethod
    def of(cls, environment: Environment | None, facts: Facts) -> Pricing | None:
        """The prices of a valid Environment; None without any. `facts` must be free of errors."""
        given = environment.spec.prices if environment else None
        return None if given is None else cls(given.currency, *_prices(given), _queues(facts))

    def cost(self, demand: JobDemand, assignment: Assignment | None = None) -> Cost:
        """What a job costs in the flavors that it was assigned, else in any that its queue has. In the course of a run,
        it may get any of them."""
        hourly, run = NOTHING, Fraction()
        is_bounded = True
        for pod_set in demand.pod_sets:
            own = _assigned(pod_set, assignment)
            asked = {name: number * pod_set.count for name, number in pod_set.pod_requests.items()}
            possible = self.hourly(asked, demand.namespace, demand.queue)
            hourly += self._range(asked, own) if own else possible
            if pod_set.seconds is not None:
                run += possible.high * pod_set.seconds / _SECONDS
            elif possible.high:
                is_bounded = False
        return Cost(self.currency, hourly, run if is_bounded else None)

    def hourly(self, asked: Amounts, namespace: str, queue: str) -> Range:
        """What resources cost for an hour, in any flavor of a LocalQueue; of one that is not known, in any at all."""
        if not self.flavors:
            return self._range(asked, dict.fromkeys(asked, ANY))
        found = self.queues.get((namespace, queue or DEFAULT_QUEUE))
        if found is None:
            return self._range(asked, dict.fromkeys(asked, (*ANY, *self.flavors)))
        groups = {name: found.group_of(name) for name in asked}
        every = tuple(found.flavors) or ANY
        return self._range(asked, {name: group.flavors if group else every for name, group in groups.items()})

    def _range(self, asked: Amounts, flavors: Mapping[str, Flavors]) -> Range:
        found = NOTHING
        for name, number in asked.items():
            prices = [self.flavors.get(flavor, {}).get(name, self.resources.get(name)) for flavor in flavors[name]]
            each = [price or Fraction() for price in prices]
            found += Range(min(each), max(each)) * number
        return found


def _assigned(pod_set: PodSetDemand, assignment: Assignment | None) -> Mapping[str, Flavors]:
    """The flavor of each resource. One that quotas do not count comes from the same nodes as the others."""
    found = next((each for each in assignment.pod_sets if each.pod_set is pod_set), None) if assignment else None
    if found is None or not found.flavors:
        return {}
    every = tuple(dict.fromkeys(each.name for each in found.flavors.values()))
    own = {name: (each.name,) for name, each in found.flavors.items()}
    return {name: own.get(name, every) for name in pod_set.pod_requests}


def _prices(given: Prices) -> tuple[dict[str, Fraction], dict[str, dict[str, Fraction]]]:
    return _exact(given.resources), {flavor: _exact(each) for flavor, each in given.flavors.items()}


def _exact(prices: Mapping[str, str]) -> dict[str, Fraction]:
    return {name: Fraction(price) / _units(name) for name, price in prices.items()}


def _units(resource: str) -> int:
    """How many counted units a price is for: the millicores of a core, the bytes of a GiB."""
    return 1000 if resource == "cpu" else 2**30 if is_binary(resource) else 1


def _queues(facts: Facts) -> dict[tuple[str, str], ClusterQueue]:
    known = {queue.name: queue for queue in cluster_queues(facts)}
    found: dict[tuple[str, str], ClusterQueue] = {}
    for kind, namespace, name in _keys(facts):
        queue = known.get(text(table(facts.get(kind, name, namespace) or {}, "spec"), "clusterQueue"))
        if queue:
            found[namespace, name] = queue
    return found


def _keys(facts: Facts) -> Iterable[tuple[str, str, str]]:
    return (key for key in facts.objects if key[0] == "LocalQueue")
