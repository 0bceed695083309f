"""Finds flavors for all pod sets of a job such that every quota suffices, or shows that none exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from trainform.review.capacity.flavors import Choice
from trainform.review.capacity.kueue_facts import FlavorResource

Room = Callable[[FlavorResource], int]
"""How much of a quota is available to the job."""

Usage = dict[FlavorResource, int]

MOST_STEPS = 20_000
"""The search gives up after trying this many flavors: undecided is better than wrong."""


class Undecided(Exception):
    """The search took too many steps."""


def find(choices: Sequence[Choice], room: Room) -> Usage | None:
    """What the job uses of each quota under the first assignment that fits, or None. Raises Undecided. Flavors are
    tried in order of preference, pod sets in their own order. Kueue tries pod sets one by one and returns to later
    flavors on its next attempts, so what fits here is eventually admitted."""
    usage: Usage = {}
    for group in by_group(choices):
        found = _find(group, room)
        if found is None:
            return None
        usage |= found
    return usage


def by_group(choices: Sequence[Choice]) -> list[list[Choice]]:
    """The choices of each resource group; groups are independent."""
    groups: dict[int, list[Choice]] = {}
    for choice in choices:
        groups.setdefault(choice.group, []).append(choice)
    return list(groups.values())


def _find(choices: Sequence[Choice], room: Room) -> Usage | None:
    possible = [replace(each, flavors=_fitting(each, room)) for each in choices]
    if not all(each.flavors for each in possible) or _exceeds_all(possible, room):
        return None
    search = _Search(possible, room)
    return search.usage if search.run(0) else None


def _fitting(choice: Choice, room: Room) -> tuple[str, ...]:
    """The flavors that suffice for the choice on its own."""
    return tuple(
        flavor for flavor in choice.flavors if all(number <= room(key) for key, number in choice.usage(flavor).items())
    )


def _exceeds_all(choices: Sequence[Choice], room: Room) -> bool:
    """Whether the choices need more of a resource than all their possible flavors have."""
    asked: dict[str, int] = {}
    flavors: dict[str, set[str]] = {}
    for choice in choices:
        for resource, number in choice.amounts.items():
            asked[resource] = asked.get(resource, 0) + number
            flavors.setdefault(resource, set()).update(choice.flavors)
    return any(
        number > sum(max(0, room(FlavorResource(flavor, resource))) for flavor in flavors[resource])
        for resource, number in asked.items()
    )


@dataclass(slots=True)
class _Search:
    choices: Sequence[Choice]
    room: Room
    usage: Usage = field(default_factory=dict)
    steps: int = 0
    dead_ends: set[tuple[int, frozenset[tuple[FlavorResource, int]]]] = field(default_factory=set)

    def run(self, index: int) -> bool:
        """Assign the choices from `index` on. On failure, `usage` is restored."""
        if index == len(self.choices):
            return True
        state = (index, frozenset(self.usage.items()))
        if state in self.dead_ends:
            return False
        if any(self._try(index, flavor) for flavor in self.choices[index].flavors):
            return True
        self.dead_ends.add(state)
        return False

    def _try(self, index: int, flavor: str) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Undecided
        before = self.usage
        self.usage = _added(before, self.choices[index], flavor)
        fits = all(self.usage[key] <= self.room(key) for key in self.choices[index].usage(flavor))
        if fits and self.run(index + 1):
            return True
        self.usage = before
        return False


def _added(usage: Usage, choice: Choice, flavor: str) -> Usage:
    added = dict(usage)
    for key, number in choice.usage(flavor).items():
        added[key] = added.get(key, 0) + number
    return added


def preferred(choices: Sequence[Choice]) -> Usage:
    """What the job requests of each quota if each pod set gets its first matching flavor."""
    usage: Usage = {}
    for choice in choices:
        if choice.flavors:
            usage = _added(usage, choice, choice.flavors[0])
    return usage
