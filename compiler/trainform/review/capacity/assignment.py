"""What an attempt to assign flavors has found: for each pod set, its flavors or the reasons why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from trainform.review.capacity.amounts import Amounts
from trainform.review.capacity.demand import PodSetDemand
from trainform.review.capacity.kueue_facts import FlavorResource
from trainform.review.capacity.tas import (
    TASUsage,
    TopologyAssignment,
    add_usage,
)


class Mode(IntEnum):
    """How well a flavor fits, worst first. `PREEMPT`: only after others have gone, and no one can be preempted."""

    NO_FIT = 0
    PREEMPT = 1
    FIT = 2


class Granular(NamedTuple):
    """A mode, and how far up the cohorts the quota is borrowed from (0: not borrowed)."""

    mode: Mode
    borrowing: int


BEST, WORST = Granular(Mode.FIT, 0), Granular(Mode.NO_FIT, 2**31)


class Mismatch(NamedTuple):
    """Why a flavor does not suit a pod set, whatever its quota."""

    flavor: str
    reason: str


class Shortage(NamedTuple):
    """A quota that does not suffice: `asked` by the pod sets, beside what the pod sets before them `assumed`."""

    key: FlavorResource
    asked: int
    assumed: int


class Uncovered(NamedTuple):
    """A resource that no group of the queue has."""

    resource: str


Reason = Mismatch | Shortage | Uncovered


@dataclass(slots=True)
class FlavorAssignment:
    """`tried_index` is the place of the last flavor that was looked at, -1 after all of them."""

    name: str
    mode: Mode
    borrowing: int
    tried_index: int = -1


Flavors = dict[str, FlavorAssignment]
"""By resource name."""

LastTried = tuple[Mapping[str, int], ...]
"""By pod set and resource: the place of the flavor after which the next attempt goes on."""

NOTHING_TRIED: LastTried = ()


@dataclass(slots=True)
class PodSetAssignment:
    """The flavors of one pod set. `error` is a reason that no other flavor of the same attempt mends."""

    pod_set: PodSetDemand
    flavors: Flavors
    reasons: list[Reason] = field(default_factory=list)
    error: str = ""

    @property
    def mode(self) -> Mode:
        if not self.reasons and not self.error:
            return Mode.FIT
        if self.error or not self.flavors:
            return Mode.NO_FIT
        return min(each.mode for each in self.flavors.values())


@dataclass(slots=True)
class Assignment:
    """One attempt. `usage` is what the pod sets use of each quota; `topology` where their pods stand, by flavor and pod
    set. After a pod set that fits nowhere, the later ones are not looked at."""

    pod_sets: list[PodSetAssignment] = field(default_factory=list)
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    topology: dict[str, dict[str, TopologyAssignment]] = field(default_factory=dict)
    borrowing: int = 0

    @property
    def mode(self) -> Mode:
        return min((each.mode for each in self.pod_sets), default=Mode.NO_FIT)

    @property
    def last_tried(self) -> LastTried:
        return tuple(
            {resource: flavor.tried_index for resource, flavor in each.flavors.items()} for each in self.pod_sets
        )

    @property
    def has_pending_flavors(self) -> bool:
        """Whether another attempt would look at flavors that this one did not reach."""
        return any(index != -1 for tried in self.last_tried for index in tried.values())

    def append(self, pod_set: PodSetAssignment, requests: Amounts) -> None:
        self.pod_sets.append(pod_set)
        for resource, flavor in pod_set.flavors.items():
            self.borrowing = max(self.borrowing, flavor.borrowing)
            key = FlavorResource(flavor.name, resource)
            self.usage[key] = self.usage.get(key, 0) + requests.get(resource, 0)

    def tas_usage(self) -> dict[str, TASUsage]:
        """What the pods use of each leaf, by flavor."""
        found: dict[str, TASUsage] = {}
        for flavor, by_pod_set in self.topology.items():
            for assignment in by_pod_set.values():
                add_usage(found.setdefault(flavor, {}), assignment.usage())
        return found
