"""Which flavors of a ClusterQueue a pod set may get, and what it uses of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainform.k8s.labels import node_matches, untolerated
from trainform.k8s.tree import Tree, tables, text
from trainform.review.capacity.amounts import PODS, Amounts
from trainform.review.capacity.demand import PodSetDemand
from trainform.review.capacity.kueue_facts import ClusterQueue, Flavor, FlavorResource


@dataclass(frozen=True, slots=True)
class Choice:
    """Pod sets that share a flavor for one group's resources, and the amounts of all their pods. `group` numbers the
    ClusterQueue's resource groups, which share no flavor or resource. `flavors` are those that match, in order of
    preference; `mismatches` say why the others do not."""

    group: int
    pod_sets: tuple[str, ...]
    amounts: Amounts
    flavors: tuple[str, ...]
    mismatches: tuple[str, ...] = ()

    def usage(self, flavor: str) -> dict[FlavorResource, int]:
        """What the pod sets use of each of this flavor's quotas."""
        return {FlavorResource(flavor, resource): number for resource, number in self.amounts.items()}


def choices(pod_sets: Sequence[PodSetDemand], queue: ClusterQueue) -> list[Choice]:
    """One choice per group of pod sets and resource group that it requests something of."""
    together: dict[str, list[PodSetDemand]] = {}
    for pod_set in pod_sets:
        together.setdefault(pod_set.group or pod_set.name, []).append(pod_set)
    return [
        _choice(members, amounts, index, queue)
        for members in together.values()
        for index, group in enumerate(queue.groups)
        if (amounts := {name: number for name in group.resources if (number := total(members, name))})
    ]


def uncovered(pod_sets: Sequence[PodSetDemand], queue: ClusterQueue) -> list[str]:
    """The sorted resources that pod sets request but no resource group covers."""
    asked = {name for each in pod_sets for name, number in each.requests.items() if number * each.count}
    return sorted(asked.difference(*(group.resources for group in queue.groups)))


def total(pod_sets: Sequence[PodSetDemand], resource: str) -> int:
    """What all pods request of one resource; for `pods`, their number."""
    return sum((1 if resource == PODS else each.requests.get(resource, 0)) * each.count for each in pod_sets)


def _choice(members: Sequence[PodSetDemand], amounts: Amounts, group: int, queue: ClusterQueue) -> Choice:
    names = queue.groups[group].flavors
    keys = {key for name in names for key in queue.flavors[name].labels}
    found = {name: _mismatch(members, queue.flavors[name], keys, queue) for name in names}
    return Choice(
        group,
        tuple(member.name for member in members),
        amounts,
        tuple(name for name, mismatch in found.items() if not mismatch),
        tuple(mismatch for mismatch in found.values() if mismatch),
    )


def _mismatch(members: Sequence[PodSetDemand], flavor: Flavor, keys: set[str], queue: ClusterQueue) -> str:
    """Why these pod sets cannot use the flavor. An undeclared flavor is assumed to match all."""
    if not flavor.declared:
        return ""
    reasons = (
        _topology_mismatch(member, flavor, queue)
        or _taint_mismatch(member, flavor)
        or _label_mismatch(member, flavor, keys)
        for member in members
    )
    return next(filter(None, reasons), "")


def _topology_mismatch(member: PodSetDemand, flavor: Flavor, queue: ClusterQueue) -> str:
    if member.levels is None:
        suits = not flavor.topology or queue.may_imply_topology()
        return "" if suits else f"flavor {flavor.name} is only for pods that ask for a topology"
    if not flavor.topology:
        return f"flavor {flavor.name} has no topology, and {member.name} asks for one"
    missing = [level for level in member.levels if flavor.levels and level not in flavor.levels]
    return f"the topology of flavor {flavor.name} has no level {missing[0]}" if missing else ""


def _taint_mismatch(member: PodSetDemand, flavor: Flavor) -> str:
    tolerations = [*tables(member.pod_spec, "tolerations"), *flavor.tolerations]
    taint = untolerated(flavor.taints, tolerations)
    if taint is None:
        return ""
    return f"flavor {flavor.name} has taint {_taint(taint)}, which {member.name} does not tolerate"


def _taint(taint: Tree) -> str:
    value = f"={taint['value']}" if text(taint, "value") else ""
    return f"{text(taint, 'key')}{value}:{text(taint, 'effect')}"


def _label_mismatch(member: PodSetDemand, flavor: Flavor, keys: set[str]) -> str:
    if node_matches(member.pod_spec, flavor.labels, keys):
        return ""
    return f"flavor {flavor.name} has other node labels than {member.name} selects"
