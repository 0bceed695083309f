"""Gives each pod set of a job its flavors, as in Kueue's `pkg/scheduler/flavorassigner`: pod set by pod set in their
order, flavor by flavor in the queue's order, and the first that fits is taken. It never goes back to an earlier pod
set. If a later one fits nowhere, the next attempt goes on with the next flavors of all. The names are Kueue's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainform.k8s.labels import flavor_matches, untolerated
from trainform.k8s.tree import Tree, tables, text
from trainform.review.capacity.amounts import PODS, Amounts
from trainform.review.capacity.assignment import (
    BEST,
    NOTHING_TRIED,
    WORST,
    Assignment,
    FlavorAssignment,
    Flavors,
    Granular,
    LastTried,
    Mismatch,
    Mode,
    PodSetAssignment,
    Reason,
    Shortage,
    Uncovered,
)
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.demand import PodSetDemand
from trainform.review.capacity.kueue_facts import ClusterQueue, Flavor, FlavorResource, ResourceGroup
from trainform.review.capacity.tas import (
    DoesNotFit,
    TASFlavorSnapshot,
    TASPodSetRequest,
    TASUsage,
    TopologyAssignment,
    add_usage,
)


@dataclass(slots=True)
class FlavorAssigner:
    """Assigns flavors in one queue. `tas_flavors` are those with a topology. `ignores_undeclared`: resources that no
    group covers are not counted. `own_keys`: the node labels that a pod selects by are compared with those of each
    flavor that has them; in older versions of Kueue, with those of all flavors of the group."""

    queue: ClusterQueue
    cohorts: Cohorts
    tas_flavors: Mapping[str, TASFlavorSnapshot]
    ignores_undeclared: bool = False
    own_keys: bool = True

    def assign(
        self,
        pod_sets: Sequence[PodSetDemand],
        last_tried: LastTried = NOTHING_TRIED,
        only: Mapping[str, frozenset[str]] | None = None,
    ) -> Assignment:
        """One attempt. `only`: the flavors that each pod set may get."""
        assignment = Assignment()
        for ids in _grouped(pod_sets):
            members = [pod_sets[each] for each in ids]
            tried = last_tried[ids[0]] if ids[0] < len(last_tried) else {}
            self._assign_group(assignment, members, tried, only)
            if any(each.mode == Mode.NO_FIT for each in assignment.pod_sets[-len(members) :]):
                return assignment
        self._assign_topology(assignment)
        return assignment

    # Quotas

    def _assign_group(
        self,
        assignment: Assignment,
        members: Sequence[PodSetDemand],
        tried: Mapping[str, int],
        only: Mapping[str, frozenset[str]] | None,
    ) -> None:
        """Give flavors to one pod set, or to two that share them."""
        each_requests = [self._requests(each) for each in members]
        total = _total(each_requests)
        flavors, reasons = self._flavors_of(members, total, tried, only, assignment.usage)
        for pod_set, requests in zip(members, each_requests, strict=True):
            own = {name: flavor for name, flavor in flavors.items() if name in requests}
            if not requests and len(members) > 1:
                own = {name: flavor for name, flavor in flavors.items() if flavor.name in self.tas_flavors}
            assignment.append(PodSetAssignment(pod_set, own, list(reasons)), requests)

    def _flavors_of(
        self,
        members: Sequence[PodSetDemand],
        total: Amounts,
        tried: Mapping[str, int],
        only: Mapping[str, frozenset[str]] | None,
        assumed: Mapping[FlavorResource, int],
    ) -> tuple[Flavors, list[Reason]]:
        flavors: Flavors = {}
        reasons: list[Reason] = []
        for resource, number in total.items():
            group = self.queue.group_of(resource)
            if group is None:
                if number == 0 or self.ignores_undeclared:
                    continue
                return {}, [Uncovered(resource)]
            if resource in flavors:
                continue
            requests = {name: total[name] for name in total if name in group.resources}
            found, why = self.find_flavor_for_pod_sets(members, requests, group, tried.get(resource, -1), only, assumed)
            reasons += why
            if not found:
                return {}, why
            flavors |= found
        return flavors, reasons

    def _requests(self, pod_set: PodSetDemand) -> Amounts:
        """What all pods request; zero of a resource is a request too, and wants a flavor."""
        requests = {name: number * pod_set.count for name, number in pod_set.requests.items()}
        if self.queue.group_of(PODS):
            requests[PODS] = pod_set.count
        return requests

    def find_flavor_for_pod_sets(
        self,
        members: Sequence[PodSetDemand],
        requests: Amounts,
        group: ResourceGroup,
        last_tried: int,
        only: Mapping[str, frozenset[str]] | None,
        assumed: Mapping[FlavorResource, int],
    ) -> tuple[Flavors, list[Reason]]:
        """The flavor for all resources of a group, and why others, or this one for now, do not do."""
        reasons: list[Reason] = []
        best: Flavors = {}
        best_mode, attempted = WORST, last_tried
        for index in range(last_tried + 1, len(group.flavors)):
            attempted, name = index, group.flavors[index]
            if only is not None and not any(name in only.get(each.name, ()) for each in members):
                continue
            if mismatch := self.check_flavor_for_pod_sets(members, self.queue.flavors[name], group):
                reasons.append(Mismatch(name, mismatch))
                continue
            flavors, mode, short = self._fits(name, requests, assumed)
            reasons += short
            if not _should_try_next_flavor(mode, self.queue):
                best, best_mode = flavors, mode
                break
            if _is_preferred(mode, best_mode):
                best, best_mode = flavors, mode
        is_last = attempted == len(group.flavors) - 1
        for flavor in best.values():
            flavor.tried_index = -1 if is_last else attempted
        return best, [] if best_mode.mode == Mode.FIT else reasons

    def _fits(
        self, flavor: str, requests: Amounts, assumed: Mapping[FlavorResource, int]
    ) -> tuple[Flavors, Granular, list[Reason]]:
        """How one flavor fits all resources: as well as the worst of them."""
        flavors: Flavors = {}
        reasons: list[Reason] = []
        worst = BEST
        for resource, number in requests.items():
            key = FlavorResource(flavor, resource)
            mode = self.fits_resource_quota(key, assumed.get(key, 0) + number)
            if mode.mode != Mode.FIT:
                reasons.append(Shortage(key, number, assumed.get(key, 0)))
            if _is_preferred(worst, mode):
                worst = mode
            if worst.mode == Mode.NO_FIT:
                return {}, worst, reasons
            flavors[resource] = FlavorAssignment(flavor, mode.mode, mode.borrowing)
        return flavors, worst, reasons

    def fits_resource_quota(self, key: FlavorResource, number: int) -> Granular:
        if number > self.cohorts.potential_available(self.queue.name, key):
            return Granular(Mode.NO_FIT, 0)
        borrowing, may_reclaim = self.cohorts.lowest_subtree_that_fits(self.queue.name, key, number)
        if number <= self.cohorts.available(self.queue.name, key):
            return Granular(Mode.FIT, borrowing)
        can_preempt = self.queue.quotas[key].nominal >= number or may_reclaim or self.queue.preempts_while_borrowing
        return Granular(Mode.PREEMPT if can_preempt else Mode.NO_FIT, borrowing)

    def check_flavor_for_pod_sets(self, members: Iterable[PodSetDemand], flavor: Flavor, group: ResourceGroup) -> str:
        """Why these pod sets cannot use the flavor, or empty. An undeclared flavor is assumed to match all."""
        if not flavor.declared:
            return ""
        reasons = (
            self._topology_mismatch(member, flavor, group)
            or _taint_mismatch(member, flavor)
            or self._label_mismatch(member, flavor, group)
            for member in members
        )
        return next(filter(None, reasons), "")

    def _label_mismatch(self, member: PodSetDemand, flavor: Flavor, group: ResourceGroup) -> str:
        flavors = [flavor] if self.own_keys else [self.queue.flavors[name] for name in group.flavors]
        keys = {key for each in flavors for key in each.labels}
        if flavor_matches(member.pod_spec, flavor.labels, keys):
            return ""
        return f"flavor {flavor.name} has other node labels than {member.name} selects"

    def first_usage(self, pod_sets: Iterable[PodSetDemand]) -> dict[FlavorResource, int]:
        """What the pod sets would use of the first flavors that suit them, whatever the quotas."""
        usage: dict[FlavorResource, int] = {}
        for each in pod_sets:
            for resource, number in self._requests(each).items():
                group = self.queue.group_of(resource)
                for name in group.flavors if group else ():
                    if group and not self.check_flavor_for_pod_sets([each], self.queue.flavors[name], group):
                        key = FlavorResource(name, resource)
                        usage[key] = usage.get(key, 0) + number
                        break
        return usage

    # Topology

    def is_tas_implied(self, pod_set: PodSetDemand) -> bool:
        return pod_set.topology is None and self.queue.is_tas_only

    def is_tas_requested(self, pod_set: PodSetDemand) -> bool:
        return pod_set.topology is not None or self.queue.is_tas_only

    def _topology_mismatch(self, pod_set: PodSetDemand, flavor: Flavor, group: ResourceGroup) -> str:
        if pod_set.topology is None:
            suits = not flavor.topology or self.queue.is_tas_only
            return "" if suits else f"flavor {flavor.name} is only for pods that ask for a topology"
        if not flavor.topology:
            overlaps = any(name in group.resources for name in pod_set.pod_requests)
            return f"flavor {flavor.name} has no topology, and {pod_set.name} asks for one" if overlaps else ""
        snapshot = self.tas_flavors.get(flavor.name)
        if snapshot is None or snapshot.has_level(pod_set.topology):
            return ""  # without its Topology, the flavor may have any level
        wanted = dict.fromkeys((pod_set.topology.required, pod_set.topology.preferred))
        levels = [*filter(None, wanted), *(level for level, _ in pod_set.topology.slices)]
        missing = next(level for level in levels if level not in snapshot.levels)
        return f"the topology of flavor {flavor.name} has no level {missing}"

    def _assign_topology(self, assignment: Assignment) -> None:
        """Place all pods, and lower the mode of the pod sets that do not fit: on what is free now, else on what would
        be if nobody else were there."""
        requests = dict(self._tas_requests(assignment))
        if assignment.mode == Mode.FIT and (failed := self._place(assignment, requests, simulate_empty=False)):
            _lower(failed, Mode.PREEMPT)
        if assignment.mode == Mode.PREEMPT:
            if failed := self._place(assignment, requests, simulate_empty=True):
                _lower(failed, Mode.NO_FIT)
                return
            placed = [each.pod_set.name for group in requests.values() for each in group]
            for each in assignment.pod_sets:
                if each.pod_set.name in placed:
                    _lower(each, Mode.PREEMPT)

    def _tas_requests(self, assignment: Assignment) -> Iterator[tuple[str, list[TASPodSetRequest]]]:
        """The pod sets to place, by flavor. One without exactly one flavor that has a topology is an error."""
        found: dict[str, list[TASPodSetRequest]] = {}
        for each in assignment.pod_sets:
            if not self.is_tas_requested(each.pod_set) or not each.pod_set.count:
                continue
            flavors = {flavor.name: self.queue.flavors[flavor.name] for flavor in each.flavors.values()}
            if not all(flavor.declared for flavor in flavors.values()):
                continue  # who knows which of them has a topology
            names = sorted(name for name, flavor in flavors.items() if flavor.topology)
            if len(names) != 1:
                each.error = _not_one_flavor(each, names)
            elif names[0] in self.tas_flavors:
                found.setdefault(names[0], []).append(TASPodSetRequest(each.pod_set, self.is_tas_implied(each.pod_set)))
        yield from sorted(found.items())

    def _place(
        self, assignment: Assignment, requests: Mapping[str, list[TASPodSetRequest]], *, simulate_empty: bool
    ) -> PodSetAssignment | None:
        """Place all pod sets; else the one that does not fit, which gets the reason."""
        assumed: dict[str, TASUsage] = {}
        shared: TASUsage = {}
        topology: dict[str, dict[str, TopologyAssignment]] = {}
        for flavor, pod_sets in requests.items():
            snapshot = self.tas_flavors[flavor]
            own = shared if snapshot.leaf_is_node else assumed.setdefault(flavor, {})
            for ids in _grouped([each.pod_set for each in pod_sets]):
                workers, leader = _leader_and_workers([pod_sets[each] for each in ids])
                try:
                    found = snapshot.find_topology_assignment(workers, leader, own, simulate_empty=simulate_empty)
                except DoesNotFit as reason:
                    failed = next(each for each in assignment.pod_sets if each.pod_set is workers.pod_set)
                    told = Mismatch(flavor, f"topology {snapshot.flavor.topology} {reason}")
                    failed.reasons += [] if told in failed.reasons else [told]
                    return failed
                topology.setdefault(flavor, {}).update(found)
                for placed in found.values():
                    add_usage(own, placed.usage())
        assignment.topology = topology
        return None


def _leader_and_workers(members: Sequence[TASPodSetRequest]) -> tuple[TASPodSetRequest, TASPodSetRequest | None]:
    """The larger pod set, and the other one of a group."""
    if len(members) == 1:
        return members[0], None
    first, second = members[:2]
    return (second, first) if second.pod_set.count > first.pod_set.count else (first, second)


def _lower(pod_set: PodSetAssignment, mode: Mode) -> None:
    for flavor in pod_set.flavors.values():
        flavor.mode = min(flavor.mode, mode)


def _not_one_flavor(each: PodSetAssignment, names: Sequence[str]) -> str:
    name = each.pod_set.name
    if names:
        return f"{name} gets two flavors with a topology, {' and '.join(names)}, and Kueue can place pods by only one"
    return (
        f"{name} requests nothing, so it gets no flavor with a topology, and Kueue cannot place its pods; "
        "add a request of a resource of the queue, such as cpu: 100m"
    )


def _grouped(pod_sets: Sequence[PodSetDemand]) -> list[list[int]]:
    """The places of the pod sets that share flavors and domain, in the order of the first of each group."""
    groups: dict[str | int, list[int]] = {}
    for index, each in enumerate(pod_sets):
        groups.setdefault((each.topology and each.topology.group) or index, []).append(index)
    return list(groups.values())


def _total(requests: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for each in requests:
        for name, number in each.items():
            total[name] = total.get(name, 0) + number
    return dict(sorted(total.items()))


def _should_try_next_flavor(mode: Granular, queue: ClusterQueue) -> bool:
    """Nothing that could be preempted is ever there, so a flavor that needs it is like one that does not fit."""
    if mode.mode != Mode.FIT:
        return True
    return mode.borrowing > 0 and queue.tries_next_rather_than_borrow


def _is_preferred(mode: Granular, other: Granular) -> bool:
    """Whether `mode` is better. One that fits now is, whatever the queue prefers otherwise."""
    if mode.mode != other.mode:
        return mode.mode > other.mode
    return mode.mode != Mode.NO_FIT and mode.borrowing < other.borrowing


def _taint_mismatch(member: PodSetDemand, flavor: Flavor) -> str:
    tolerations = [*tables(member.pod_spec, "tolerations"), *flavor.tolerations]
    taint = untolerated(flavor.taints, tolerations)
    if taint is None:
        return ""
    return f"flavor {flavor.name} has taint {_taint(taint)}, which {member.name} does not tolerate"


def _taint(taint: Tree) -> str:
    value = f"={taint['value']}" if text(taint, "value") else ""
    return f"{text(taint, 'key')}{value}:{text(taint, 'effect')}"
