"""Places pods by topology, as in Kueue's `pkg/cache/scheduler/tas_flavor_snapshot.go`: how many pods fit into each
domain of a topology, and which domains a pod set gets. The names are Kueue's.

First, the counts of the leaves are summed up the tree. Then a level is found whose domains hold all pods: the requested
one, or wider ones if that is only preferred. From there the pods are handed down, level by level. Nodes that nobody
declared are taken to hold any number of pods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from trainform.k8s.labels import node_matches, untolerated
from trainform.k8s.rules.fact import HOSTNAME
from trainform.k8s.tree import tables
from trainform.review.capacity.amounts import PODS, Amounts
from trainform.review.capacity.demand import PodSetDemand, TopologyRequest
from trainform.review.capacity.kueue_facts import Flavor, Node

ANY_NUMBER = 2**31 - 1

LeafId = tuple[str, ...]
"""The values of all levels, or of the hostname alone if that is the lowest level: the same node in every topology."""

TASUsage = dict[LeafId, Amounts]


class TASPodSetRequest(NamedTuple):
    """A pod set to be placed. `is_implied`: it asks for no topology, but all flavors of its queue have one."""

    pod_set: PodSetDemand
    is_implied: bool

    @property
    def single_pod_requests(self) -> Amounts:
        return {**self.pod_set.pod_requests, PODS: 1}


class TopologyAssignment(NamedTuple):
    """How many pods of a pod set each leaf holds, and what one of them requests."""

    counts: dict[LeafId, int]
    single_pod_requests: Amounts

    def usage(self) -> TASUsage:
        return {
            leaf: {resource: number * count for resource, number in self.single_pod_requests.items()}
            for leaf, count in self.counts.items()
        }


class DoesNotFit(Exception):
    """Why a pod set cannot be placed: the text continues after the name of its topology."""


@dataclass(slots=True, eq=False)
class Domain:
    """A domain and how much fits into it. `leader_count` is 1 if it also holds the single pod of the group's other
    step; the counts `with_leader` are those that remain beside that one. After the placement, the counts are what it
    got."""

    level_values: LeafId
    parent: Domain | None = None
    children: list[Domain] = field(default_factory=list)
    nodes: list[Node] | None = None
    free_capacity: Amounts | None = None
    pod_count: int = 0
    slice_count: int = 0
    pod_count_with_leader: int = 0
    slice_count_with_leader: int = 0
    leader_count: int = 0

    def clear(self) -> None:
        self.pod_count = self.slice_count = self.leader_count = 0
        self.pod_count_with_leader = self.slice_count_with_leader = 0

    def slices(self, leader_count: int) -> int:
        return self.slice_count_with_leader if leader_count else self.slice_count

    def pods(self, leader_count: int) -> int:
        return self.pod_count_with_leader if leader_count else self.pod_count

    def fits_slices(self, slice_count: int, leader_count: int) -> bool:
        return self.slices(leader_count) >= slice_count and self.leader_count >= leader_count


class Placement(NamedTuple):
    """What a placement asks for. `slice_size_at_level` has the sizes of inner slices."""

    pods: int
    slice_size: int
    leader_count: int
    requested_level: int
    slice_level: int
    slice_size_at_level: dict[int, int]
    required: bool
    unconstrained: bool


class TASFlavorSnapshot:
    """The domains of one flavor's topology. `nodes` is None if none are declared."""

    def __init__(self, flavor: Flavor, nodes: Iterable[Node] | None, usage: TASUsage) -> None:
        self.flavor = flavor
        self.levels = flavor.levels
        self.usage = usage
        """Of jobs admitted before; shared by flavors over the same nodes."""
        self.domains_per_level: list[dict[LeafId, Domain]] = [{} for _ in self.levels]
        if nodes is None:
            self._add_leaf(tuple("?" for _ in self.levels))
            return
        for node in nodes:
            is_of_flavor = all(node.labels.get(key) == value for key, value in flavor.labels.items())
            if is_of_flavor and set(self.levels) <= set(node.labels):
                self._add_node(node)

    @property
    def leaf_is_node(self) -> bool:
        return self.levels[-1] == HOSTNAME

    def _add_node(self, node: Node) -> None:
        leaf = self._add_leaf(tuple(node.labels[level] for level in self.levels))
        leaf.nodes = [*(leaf.nodes or ()), node]
        capacity = dict(leaf.free_capacity or {})
        for resource, number in node.allocatable.items():
            capacity[resource] = capacity.get(resource, 0) + number
        leaf.free_capacity = capacity

    def _add_leaf(self, values: LeafId) -> Domain:
        above: Domain | None = None
        for depth in range(1, len(values) + 1):
            here = self.domains_per_level[depth - 1]
            if values[:depth] not in here:
                here[values[:depth]] = Domain(values[:depth], above)
                if above:
                    above.children.append(here[values[:depth]])
            above = here[values[:depth]]
        assert above is not None
        return above

    def leaf_id(self, leaf: Domain) -> LeafId:
        return leaf.level_values[-1:] if self.leaf_is_node else leaf.level_values

    # What is asked for

    def has_level(self, request: TopologyRequest) -> bool:
        """Whether the topology has every level that is asked for."""
        return self._level_key(request) in self.levels and all(key in self.levels for key, _ in request.slices)

    def _level_key(self, request: TopologyRequest | None) -> str:
        if request is None:
            return self.levels[-1]
        widest = self.levels[0] if request.slices else self.levels[-1]
        return request.required or request.preferred or widest

    def _parameters(self, workers: TASPodSetRequest, leader: TASPodSetRequest | None) -> Placement:
        request = workers.pod_set.topology
        slices = request.slices if request else ()
        key, slice_size = slices[0] if slices else (self.levels[-1], 1)
        requested, slice_level = self._resolve_level(self._level_key(request)), self._resolve_level(key)
        if requested > slice_level:
            raise DoesNotFit(f"has level {key} above {self.levels[requested]}, so no slice of one fits into the other")
        return Placement(
            workers.pod_set.count,
            slice_size,
            1 if leader else 0,
            requested,
            slice_level,
            self._slice_size_at_level(slices, slice_level),
            bool(request and request.required),
            workers.is_implied
            or bool(request and (request.unconstrained or (slices and not request.required and not request.preferred))),
        )

    def _resolve_level(self, key: str) -> int:
        if key not in self.levels:
            raise DoesNotFit(f"has no level {key}")
        return self.levels.index(key)

    def _slice_size_at_level(self, slices: Sequence[tuple[str, int]], level: int) -> dict[int, int]:
        """The sizes of inner slices at their levels, and at the levels between them."""
        found: dict[int, int] = {}
        for (outer, size), (key, inner_size) in pairwise(slices):
            inner = self._resolve_level(key)
            if inner <= level:
                raise DoesNotFit(f"has level {key} above {outer}, so slices of one do not fit into the other")
            if size % inner_size:
                raise DoesNotFit(f"cannot divide slices of {size} pods into slices of {inner_size}")
            found |= dict.fromkeys(range(level + 1, inner + 1), inner_size)
            level = inner
        return found

    # Phase 1: what fits where

    def _fill_in_counts(
        self,
        workers: TASPodSetRequest,
        leader: TASPodSetRequest | None,
        asked: Placement,
        assumed: TASUsage,
        simulate_empty: bool,
    ) -> None:
        for domains in self.domains_per_level:
            for domain in domains.values():
                domain.clear()
        for leaf in self.domains_per_level[-1].values():
            if not self.leaf_is_node or leaf.nodes is None or self._node_matches(leaf.nodes[0], workers.pod_set):
                self._fill_leaf_counts(leaf, workers, leader, assumed, simulate_empty)
        for root in self.domains_per_level[0].values():
            self._sum_up(root, asked, 0)

    def _node_matches(self, node: Node, pod_set: PodSetDemand) -> bool:
        tolerations = [*tables(pod_set.pod_spec, "tolerations"), *self.flavor.tolerations]
        return untolerated(node.taints, tolerations) is None and node_matches(pod_set.pod_spec, node.name, node.labels)

    def _fill_leaf_counts(
        self,
        leaf: Domain,
        workers: TASPodSetRequest,
        leader: TASPodSetRequest | None,
        assumed: TASUsage,
        simulate_empty: bool,
    ) -> None:
        remaining = self._remaining(leaf, assumed, simulate_empty)
        leaf.pod_count = count_in(workers.single_pod_requests, remaining)
        if leader is None:
            return
        if count_in(leader.single_pod_requests, remaining):
            leaf.leader_count = 1
            remaining = _less(remaining, leader.single_pod_requests)
        leaf.pod_count_with_leader = count_in(workers.single_pod_requests, remaining)

    def _remaining(self, leaf: Domain, assumed: TASUsage, simulate_empty: bool) -> Amounts | None:
        if leaf.free_capacity is None:
            return None
        key = self.leaf_id(leaf)
        used = {} if simulate_empty else self.usage.get(key, {})
        return _less(_less(leaf.free_capacity, used), assumed.get(key, {}))

    def _sum_up(self, domain: Domain, asked: Placement, level: int) -> None:
        """The counts of a domain from those of its children. Inner slices round down what a child contributes; the
        leader takes room where it takes least."""
        if domain.children:
            inner = asked.slice_size_at_level.get(level + 1, 1)
            pods = slices = 0
            pods_lost, slices_lost = ANY_NUMBER, ANY_NUMBER
            for child in domain.children:
                self._sum_up(child, asked, level + 1)
                whole = child.pod_count // inner * inner
                pods += whole
                slices += child.slice_count
                if child.leader_count:
                    pods_lost = min(pods_lost, whole - child.pod_count_with_leader // inner * inner)
                    slices_lost = min(slices_lost, child.slice_count - child.slice_count_with_leader)
                    domain.leader_count = child.leader_count
            domain.pod_count, domain.slice_count = pods, slices
            if domain.leader_count:
                domain.pod_count_with_leader, domain.slice_count_with_leader = pods - pods_lost, slices - slices_lost
        if level == asked.slice_level:
            domain.slice_count = domain.pod_count // asked.slice_size
            domain.slice_count_with_leader = domain.pod_count_with_leader // asked.slice_size

    # Phase 2: who gets what

    def find_topology_assignment(
        self,
        workers: TASPodSetRequest,
        leader: TASPodSetRequest | None,
        assumed: TASUsage,
        *,
        simulate_empty: bool = False,
    ) -> dict[str, TopologyAssignment]:
        """The leaves of each pod set, by its name. Raises DoesNotFit."""
        asked = self._parameters(workers, leader)
        self._fill_in_counts(workers, leader, asked, assumed, simulate_empty)
        level, domains = self._find_level_with_fit_domains(asked.requested_level, asked)
        domains = self._hand_out(domains, asked)
        last = len(self.levels) - 1
        while level < min(last, asked.slice_level):
            below = self._sorted_domains([child for each in domains for child in each.children], asked)
            domains = self._hand_out(below, asked)
            level += 1
        while level < last:
            domains = self._hand_down(domains, asked.slice_size_at_level.get(level + 1, 1), asked)
            level += 1
        found = {workers.pod_set.name: self._assignment(domains, workers, lambda each: each.pod_count)}
        if leader:
            found[leader.pod_set.name] = self._assignment(domains, leader, lambda each: each.leader_count)
        return found

    def _hand_out(self, domains: Sequence[Domain], asked: Placement) -> list[Domain]:
        """All slices, and the leader."""
        return self._update_counts_to_minimum(domains, asked.pods, asked.leader_count, asked.slice_size, asked, True)

    def _hand_down(self, domains: Sequence[Domain], slice_size: int, asked: Placement) -> list[Domain]:
        """What each domain got goes to its own children: below the slices' level pod by pod, or in inner slices."""
        found: list[Domain] = []
        in_slices = slice_size > 1
        for domain in domains:
            children = self._sorted_domains(domain.children, asked)
            for child in children if in_slices else ():
                child.slice_count = child.pod_count // slice_size
                child.slice_count_with_leader = child.pod_count_with_leader // slice_size
            found += self._update_counts_to_minimum(
                children, domain.pod_count, domain.leader_count, slice_size, asked, in_slices
            )
        return found

    def _assignment(
        self, domains: Iterable[Domain], request: TASPodSetRequest, of: Callable[[Domain], int]
    ) -> TopologyAssignment:
        counts = {self.leaf_id(each): of(each) for each in domains if of(each)}
        return TopologyAssignment(counts, request.single_pod_requests)

    def _find_level_with_fit_domains(self, level: int, asked: Placement) -> tuple[int, list[Domain]]:
        """The domains that hold everything: one of the level, else one of a wider level, else several of the widest."""
        if not self.domains_per_level[level]:
            raise DoesNotFit(f"has no node for flavor {self.flavor.name} with every level as a label")
        domains = self._sorted_domains(self.domains_per_level[level].values(), asked, asked.leader_count)
        slice_count = asked.pods // asked.slice_size
        fitting = [each for each in domains if each.fits_slices(slice_count, asked.leader_count)]
        if fitting and asked.unconstrained:
            return level, fitting[:1]
        if fitting:
            return level, [min(fitting, key=lambda each: each.slices(asked.leader_count))]
        if asked.required:
            raise DoesNotFit(self._too_little(max(each.slice_count for each in domains), asked))
        if level > 0 and not asked.unconstrained:
            return self._find_level_with_fit_domains(level - 1, asked)
        return level, self._several_domains(domains, slice_count, asked)

    def _several_domains(self, domains: list[Domain], slice_count: int, asked: Placement) -> list[Domain]:
        domains = self._prioritize_leader_domain(domains, asked.pods, asked.leader_count, asked.slice_size, True)
        found: list[Domain] = []
        if asked.leader_count:
            first = domains[0]
            if not first.leader_count:
                raise DoesNotFit("has no node for the single pod of the group")
            found.append(first)
            slice_count -= first.slice_count_with_leader
            domains = self._sorted_domains(domains[1:], asked)
        asked_slices = slice_count
        for index, each in enumerate(domains):
            if slice_count <= 0:
                break
            domain = each
            if not asked.unconstrained and each.slice_count >= slice_count:
                domain = _best_fit(domains[index:], slice_count, 0, in_slices=True)
            found.append(domain)
            slice_count -= domain.slice_count
        if slice_count > 0:
            raise DoesNotFit(self._too_little(asked_slices - slice_count, asked))
        return found

    def _too_little(self, slices: int, asked: Placement) -> str:
        wide = f"one {self.levels[asked.requested_level]}" if asked.required else "all its nodes"
        unit = "pods" if asked.slice_size == 1 else f"slices of {asked.slice_size} pods"
        fits = f"at most {slices}" if slices else "none"
        return f"has room for {fits} of {asked.pods // asked.slice_size} {unit} in {wide}"

    def _update_counts_to_minimum(
        self,
        domains: Sequence[Domain],
        count: int,
        leader_count: int,
        slice_size: int,
        asked: Placement,
        in_slices: bool,
    ) -> list[Domain]:
        """Hand out `count` pods, in slices or one by one, and the leader; returns the domains that got some. What is
        left goes to the domain that it fills best, unless pods go where the least is free anyway."""
        domains = self._prioritize_leader_domain(domains, count, leader_count, slice_size, in_slices)
        unit = slice_size if in_slices else 1
        remaining, found = count // unit, []
        for index, each in enumerate(domains):
            domain = each
            capacity = each.slices(leader_count) if in_slices else each.pods(leader_count)
            if not asked.unconstrained and capacity >= remaining and each.leader_count >= leader_count:
                domain = _best_fit(domains[index:], remaining, leader_count, in_slices=in_slices)
                capacity = domain.slices(leader_count) if in_slices else domain.pods(leader_count)
            taken = min(capacity, remaining)
            domain.slice_count = taken if in_slices else domain.slice_count
            domain.pod_count = taken * unit
            domain.leader_count = min(domain.leader_count, leader_count)
            leader_count -= domain.leader_count
            remaining -= taken
            found.append(domain)
            if remaining <= 0 and not leader_count:
                break
        return found

    def _prioritize_leader_domain(
        self, domains: Sequence[Domain], count: int, leader_count: int, slice_size: int, in_slices: bool
    ) -> list[Domain]:
        """The domains, first the one where the leader leaves room enough for the others."""
        if not leader_count:
            return list(domains)
        needed = count // slice_size if in_slices else count
        available = sum(each.slice_count if in_slices else each.pod_count for each in domains)
        for domain in domains:
            lost = (
                domain.slice_count - domain.slice_count_with_leader
                if in_slices
                else domain.pod_count - domain.pod_count_with_leader
            )
            if domain.leader_count >= leader_count and available - lost >= needed:
                return [domain, *(each for each in domains if each is not domain)]
        return list(domains)

    def _sorted_domains(self, domains: Iterable[Domain], asked: Placement, leader_count: int = 0) -> list[Domain]:
        """Best fit starts where most slices fit, least free capacity where fewest do. Ties by pods, then by name."""
        sign = 1 if asked.unconstrained else -1

        def order(domain: Domain) -> tuple[int, int, int, LeafId]:
            leaders = -domain.leader_count if leader_count else 0
            return leaders, sign * domain.slices(leader_count), domain.pods(leader_count), domain.level_values

        return sorted(domains, key=order)

    def fits(self, assignment: TopologyAssignment) -> bool:
        """Whether the leaves still have room for an assignment that was found earlier."""
        leaves = {self.leaf_id(leaf): leaf for leaf in self.domains_per_level[-1].values()}
        return all(
            count_in(assignment.single_pod_requests, self._remaining(leaves[leaf], {}, False)) >= count
            for leaf, count in assignment.counts.items()
        )


def _best_fit(domains: Sequence[Domain], needed: int, leader_count: int, *, in_slices: bool) -> Domain:
    """The first of the domains that hold what is needed and have the least to spare; else the first."""

    def capacity(domain: Domain) -> int:
        return domain.slices(leader_count) if in_slices else domain.pods(leader_count)

    fitting = [each for each in domains if capacity(each) >= needed and each.leader_count >= leader_count]
    return min(fitting, key=capacity, default=domains[0])


def count_in(requests: Amounts, capacity: Amounts | None) -> int:
    """How many times the requests fit into the capacity; None is any."""
    if capacity is None:
        return ANY_NUMBER
    counts = [max(0, capacity.get(name, 0) // number) for name, number in requests.items() if number > 0]
    return min(counts, default=ANY_NUMBER)


def _less(capacity: Amounts | None, usage: Mapping[str, int]) -> Amounts | None:
    if capacity is None or not usage:
        return capacity
    return {**capacity, **{name: capacity.get(name, 0) - number for name, number in usage.items()}}


def add_usage(total: TASUsage, usage: Mapping[LeafId, Amounts], sign: int = 1) -> None:
    """Count usage, or take it back if `sign` is -1."""
    for leaf, amounts in usage.items():
        held = total.setdefault(leaf, {})
        for resource, number in amounts.items():
            held[resource] = held.get(resource, 0) + sign * number
