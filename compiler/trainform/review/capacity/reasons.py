"""Why Kueue does not admit a job: the resource, the flavor, what is requested and what is available."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from trainform.review.capacity.amounts import written
from trainform.review.capacity.assignment import Room, by_group, find
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.flavors import Choice
from trainform.review.capacity.kueue_facts import ClusterQueue, FlavorResource

Has = Callable[[FlavorResource], str]
"""A quota's capacity, in words."""


def too_much(choices: Sequence[Choice], queue: ClusterQueue, cohorts: Cohorts) -> str:
    """Why no assignment of flavors can ever fit."""
    room = partial(cohorts.most, queue.name)

    def has(key: FlavorResource) -> str:
        nominal = queue.quotas[key].nominal
        borrowable = written(key.resource, room(key) - nominal)
        return f"{written(key.resource, nominal)} nominal + {borrowable} borrowable"

    return _no_flavor(choices, queue) or _shortage(choices, queue, room, has)


def too_much_now(choices: Sequence[Choice], queue: ClusterQueue, cohorts: Cohorts) -> str:
    """Why no assignment of flavors fits next to the jobs admitted before."""
    room = partial(cohorts.left, queue.name)

    def has(key: FlavorResource) -> str:
        return f"{written(key.resource, max(0, room(key)))} left beside the jobs before it"

    return _shortage(choices, queue, room, has)


def _no_flavor(choices: Sequence[Choice], queue: ClusterQueue) -> str:
    for choice in choices:
        if not choice.flavors:
            names, resources = ", ".join(choice.pod_sets), ", ".join(choice.amounts)
            why = "; ".join(choice.mismatches)
            return f"no flavor of ClusterQueue {queue.name} has {resources} for {names}: {why}"
    return ""


def _shortage(choices: Sequence[Choice], queue: ClusterQueue, room: Room, has: Has) -> str:
    """The first pod sets that fit nowhere on their own; else all those of a resource group."""
    for choice in choices:
        if find([choice], room) is None:
            return _told(choice, queue, room, has)
    for group in by_group(choices):
        if find(group, room) is None:
            together = _together(group)
            # With several flavors, not even giving the pod sets different ones helps.
            divided = "; no division among the flavors fits either" if len(together.flavors) > 1 else ""
            return _told(together, queue, room, has) + divided
    return ""


def _told(choice: Choice, queue: ClusterQueue, room: Room, has: Has) -> str:
    """`trainer asks nvidia.com/gpu 16; flavor h100 of ClusterQueue gpu has 8 nominal + 0 borrowable`."""
    usages = (choice.usage(flavor) for flavor in choice.flavors)
    short = [key for usage in usages for key, number in usage.items() if number > room(key)]
    resources = list(dict.fromkeys(key.resource for key in short))
    asked = " and ".join(f"{each} {written(each, choice.amounts[each])}" for each in resources)
    verb = "asks" if len(choice.pod_sets) == 1 else "ask"
    return f"{' and '.join(choice.pod_sets)} {verb} {asked}; " + "; ".join(
        f"flavor {key.flavor} of ClusterQueue {queue.name} has {has(key)}"
        + (f" of {key.resource}" if len(resources) > 1 else "")
        for key in short
    )


def _together(members: Sequence[Choice]) -> Choice:
    """The pod sets as if they had to share one flavor."""
    amounts: dict[str, int] = {}
    for member in members:
        for resource, number in member.amounts.items():
            amounts[resource] = amounts.get(resource, 0) + number
    names = tuple(name for member in members for name in member.pod_sets)
    flavors = dict.fromkeys(flavor for member in members for flavor in member.flavors)
    return Choice(members[0].group, names, amounts, tuple(flavors))
