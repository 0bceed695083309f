"""Kueue objects among the cluster facts, parsed into what admission needs. Both API versions are read. The facts must
be free of errors by `trainform.k8s.schema.facts.check`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.labels import labels_of
from trainform.k8s.quantity import parse
from trainform.k8s.rules.fact import HOSTNAME, cohort_of
from trainform.k8s.tree import Tree, name_of, number, table, tables, text, texts
from trainform.review.capacity.amounts import PODS, Amounts, amount, amounts

if TYPE_CHECKING:
    from trainform.core.cluster.facts import Facts

MOST_PODS = 110
"""The kubelet's default."""

METADATA_NAME = "kubernetes.io/metadata.name"
"""The label with a namespace's own name, which Kubernetes sets."""


class FlavorResource(NamedTuple):
    """The subject of a quota."""

    flavor: str
    resource: str


@dataclass(frozen=True, slots=True)
class Quota:
    """`borrowing_limit` and `lending_limit` are None if unlimited."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


Quotas = dict[FlavorResource, Quota]


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources for which a pod set gets one flavor, and the flavors in order of preference."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flavor:
    """`declared` is false if a ClusterQueue names the flavor but no ResourceFlavor describes it. `topology` is empty
    for none; `levels` are its node labels from the top down, empty if it is not declared."""

    name: str
    labels: dict[str, str]
    taints: list[Tree]
    tolerations: list[Tree]
    topology: str = ""
    levels: tuple[str, ...] = ()
    declared: bool = True


@dataclass(frozen=True, slots=True)
class Node:
    """A node that is ready and takes pods, and what it has for them."""

    name: str
    labels: dict[str, str]
    taints: list[Tree]
    allocatable: Amounts


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """`namespace_selector` is None if no namespace may use the queue. `stop_policy` is empty for None.
    `tries_next_rather_than_borrow`: no flavor is borrowed while a later one may have quota. `can_always_reclaim`: what
    others borrowed from it comes back, whoever they are. `admission_checks` are decided by others once the quota is
    reserved."""

    name: str
    cohort: str
    groups: tuple[ResourceGroup, ...]
    quotas: Quotas
    flavors: dict[str, Flavor]
    namespace_selector: Tree | None
    stop_policy: str = ""
    strict: bool = False
    tries_next_rather_than_borrow: bool = False
    can_always_reclaim: bool = False
    preempts_while_borrowing: bool = False
    admission_checks: tuple[str, ...] = ()

    def undeclared(self) -> str:
        """The first missing fact about a flavor, or the empty string."""
        for flavor in self.flavors.values():
            if not flavor.declared:
                return f"ResourceFlavor {flavor.name}"
            if flavor.topology and not flavor.levels:
                return f"Topology {flavor.topology} of flavor {flavor.name}"
        return ""

    @property
    def is_tas_only(self) -> bool:
        """Whether every flavor has a topology, as far as known: then pods that request none are placed by it too."""
        return all(flavor.topology or not flavor.declared for flavor in self.flavors.values())

    def group_of(self, resource: str) -> ResourceGroup | None:
        return next((group for group in self.groups if resource in group.resources), None)


def cluster_queues(facts: Facts) -> list[ClusterQueue]:
    """The declared ClusterQueues by name."""
    named = ((name, facts.get("ClusterQueue", name)) for name in facts.names("ClusterQueue"))
    return [_cluster_queue(name, tree, facts) for name, tree in named if tree]


def quotas_of(tree: Tree) -> Quotas:
    """The quotas of a ClusterQueue or Cohort."""
    return {
        FlavorResource(text(flavor, "name"), text(quota, "name")): _quota(quota)
        for group in tables(table(tree, "spec"), "resourceGroups")
        for flavor in tables(group, "flavors")
        for quota in tables(flavor, "resources")
    }


def nodes(facts: Facts) -> list[Node] | None:
    """The declared nodes that are ready and schedulable, those of pools included; None if none is declared, and so
    nothing is known of them."""
    single = [facts.get("Node", name) or {} for name in facts.names("Node")]
    pools = [facts.get("NodePool", name) or {} for name in facts.names("NodePool")]
    if not single and not pools:
        return None
    return [*map(_node, filter(_takes_pods, single)), *(node for pool in pools for node in _nodes_of_pool(pool))]


def _takes_pods(node: Tree) -> bool:
    """A Node without conditions was written by hand, and is taken as ready."""
    conditions = tables(table(node, "status"), "conditions")
    ready = all(text(each, "status") == "True" for each in conditions if text(each, "type") == "Ready")
    return ready and table(node, "spec").get("unschedulable") is not True


def _node(tree: Tree) -> Node:
    status = table(tree, "status")
    allocatable = _allocatable(table(status, "allocatable") or table(status, "capacity"))
    return Node(name_of(tree), labels_of(tree), tables(table(tree, "spec"), "taints"), allocatable)


def _nodes_of_pool(tree: Tree) -> Iterator[Node]:
    """Nodes that differ only in their names, which their hostname label has too."""
    spec = table(tree, "spec")
    allocatable = {PODS: MOST_PODS, **_allocatable(table(spec, "allocatable"))}
    for index in range(number(spec, "count") or 0):
        name = f"{name_of(tree)}-{index}"
        yield Node(name, {HOSTNAME: name, **table(spec, "labels")}, tables(spec, "taints"), allocatable)


def _allocatable(quantities: Tree) -> Amounts:
    return amounts({name: parse(quantity) for name, quantity in quantities.items()})


def stop_policy_of(tree: Tree) -> str:
    """`Hold` or `HoldAndDrain` of a ClusterQueue or LocalQueue, which then starts nothing new; else empty."""
    policy = text(table(tree, "spec"), "stopPolicy")
    return "" if policy == "None" else policy


def namespace_labels(namespace: str, facts: Facts) -> tuple[dict[str, str], bool]:
    """A namespace's labels, and whether they are complete: of an undeclared one only the name is known."""
    tree = facts.get("Namespace", namespace)
    labels = labels_of(tree or {})
    return {**labels, METADATA_NAME: namespace}, tree is not None


def _cluster_queue(name: str, tree: Tree, facts: Facts) -> ClusterQueue:
    spec = table(tree, "spec")
    groups = tuple(_group(group) for group in tables(spec, "resourceGroups"))
    selector, preemption = spec.get("namespaceSelector"), table(spec, "preemption")
    return ClusterQueue(
        name,
        cohort_of(tree),
        groups,
        quotas_of(tree),
        {flavor: _flavor(flavor, facts) for group in groups for flavor in group.flavors},
        selector if isinstance(selector, dict) else None,
        stop_policy_of(tree),
        text(spec, "queueingStrategy") == "StrictFIFO",
        text(table(spec, "flavorFungibility"), "whenCanBorrow") == "TryNextFlavor",
        text(preemption, "reclaimWithinCohort") == "Any",
        text(table(preemption, "borrowWithinCohort"), "policy") not in ("", "Never"),
        tuple(_admission_checks(spec)),
    )


def _admission_checks(spec: Tree) -> Iterator[str]:
    yield from texts(spec, "admissionChecks")
    strategy = table(spec, "admissionChecksStrategy")
    yield from (text(each, "name") for each in tables(strategy, "admissionChecks"))


def _group(tree: Tree) -> ResourceGroup:
    flavors = (text(flavor, "name") for flavor in tables(tree, "flavors"))
    return ResourceGroup(tuple(texts(tree, "coveredResources")), tuple(flavors))


def _flavor(name: str, facts: Facts) -> Flavor:
    tree = facts.get("ResourceFlavor", name)
    spec = table(tree or {}, "spec")
    topology = text(spec, "topologyName")
    return Flavor(
        name,
        table(spec, "nodeLabels"),
        tables(spec, "nodeTaints"),
        tables(spec, "tolerations"),
        topology,
        _levels(topology, facts) if topology else (),
        tree is not None,
    )


def _levels(topology: str, facts: Facts) -> tuple[str, ...]:
    spec = table(facts.get("Topology", topology) or {}, "spec")
    return tuple(text(level, "nodeLabel") for level in tables(spec, "levels"))


def _quota(tree: Tree) -> Quota:
    resource = text(tree, "name")
    limits = (tree.get("nominalQuota"), tree.get("borrowingLimit"), tree.get("lendingLimit"))
    nominal, borrowing, lending = (None if each is None else amount(resource, parse(each)) for each in limits)
    return Quota(nominal or 0, borrowing, lending)
