"""What jobs request, summed by environment and queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trainform.k8s.tree import Tree, metadata_of, table, text
from trainform.review.capacity.amounts import Amounts, devices_first, quantities
from trainform.review.capacity.demand import QUEUE_LABEL, JobDemand, demand_of
from trainform.review.cost.money import NOTHING, Cost, Range

_OTHER_QUEUES = (("labels", "kai.scheduler/queue"), ("annotations", "scheduling.volcano.sh/queue-name"))

_KEPT = (b"restartPolicy", *(key.encode() for _, key in (("labels", QUEUE_LABEL), *_OTHER_QUEUES)))
_OPEN = frozenset(b"{}[]&*")
"""Characters by which a value may be more than plain text, in files that others wrote."""

_NUMBER = tuple(bytes([each]) for each in b"0123456789+-.")


@dataclass(frozen=True, slots=True)
class Ask:
    """What one job requests: the pods that run at once, and their requests, else limits."""

    queue: str
    pods: int
    resources: Amounts


@dataclass(slots=True)
class Sum:
    """The total requests of some jobs."""

    jobs: int = 0
    pods: int = 0
    resources: Amounts = field(default_factory=dict)

    def add(self, ask: Ask, jobs: int = 1) -> None:
        """Add `jobs` jobs with the same requests."""
        self.jobs += jobs
        self.pods += ask.pods * jobs
        for resource, number in ask.resources.items():
            self.resources[resource] = self.resources.get(resource, 0) + number * jobs

    def to_json(self) -> dict[str, Any]:
        """Requested resources as Kubernetes quantities."""
        return {"jobs": self.jobs, "pods": self.pods, "resources": quantities(self.resources)}


@dataclass(slots=True)
class Balance:
    """The jobs of one queue before and after a change."""

    before: Sum = field(default_factory=Sum)
    after: Sum = field(default_factory=Sum)


@dataclass(slots=True)
class CostBalance:
    """What all jobs of one environment cost for an hour, before and after a change, both by today's prices."""

    currency: str
    before: Range = NOTHING
    after: Range = NOTHING

    def add(self, before: Range | None, after: Range | None) -> None:
        self.before += before or NOTHING
        self.after += after or NOTHING

    def to_json(self) -> dict[str, Any]:
        sides = {"before": self.before, "after": self.after, "difference": self.after - self.before}
        return {"currency": self.currency, **{name: each.to_json() for name, each in sides.items()}}


class JobCosts(NamedTuple):
    """What one job costs before and after a change; None if it does not exist then."""

    before: Cost | None
    after: Cost | None

    def to_json(self) -> dict[str, Any]:
        return {"before": self.before and self.before.to_json(), "after": self.after and self.after.to_json()}


@dataclass(slots=True)
class Totals:
    """Balances by environment and queue; the queue is empty for jobs without one."""

    balances: dict[tuple[str, str], Balance] = field(default_factory=dict)

    def add(self, environment: str, before: Ask | None, after: Ask | None, jobs: int = 1) -> None:
        """Add a job, or several with the same requests, before and after the change; None if it does not exist."""
        if before:
            self._of(environment, before).before.add(before, jobs)
        if after:
            self._of(environment, after).after.add(after, jobs)

    def _of(self, environment: str, ask: Ask) -> Balance:
        return self.balances.setdefault((environment, ask.queue), Balance())

    def resources(self) -> list[str]:
        """All resource names, devices first."""
        balances = self.balances.values()
        return devices_first({name for each in balances for name in each.before.resources | each.after.resources})

    def to_json(self) -> dict[str, dict[str, Any]]:
        told: dict[str, dict[str, Any]] = {}
        for (environment, queue), balance in sorted(self.balances.items()):
            both = {"before": balance.before.to_json(), "after": balance.after.to_json()}
            told.setdefault(environment, {})[queue] = both
        return told


def ask_of(jobset: Tree) -> Ask | None:
    """What a rendered JobSet requests by itself, without cluster facts; None if it is invalid."""
    from trainform.core.cluster.facts import NO_FACTS

    demand = demand_of(jobset, NO_FACTS)
    return ask_for(demand, jobset) if demand else None


def ask_for(demand: JobDemand, jobset: Tree) -> Ask:
    """A demand, summed up. Its queue is Kueue's, else another scheduler's, which only the JobSet has."""
    return Ask(demand.queue or _other_queue(jobset), demand.pods, demand.resources)


def _other_queue(jobset: Tree) -> str:
    metadata = metadata_of(jobset)
    named = (text(table(metadata, where), key) for where, key in _OTHER_QUEUES)
    return next(filter(None, named), "")


class Asks:
    """What a fleet's JobSets request, from their files. Parsing YAML dominates the time. Files that differ only in text
    that no amount depends on (names, images, arguments) are parsed once; each line keeps its position, so that a
    container remains a container."""

    def __init__(self) -> None:
        self._lines = _Lines()
        self._known: dict[bytes, Ask | None] = {}

    def of(self, manifest: bytes) -> Ask | None:
        """For the JobSet in a multi-document file; None if it has none."""
        shape = b"\n".join(map(self._lines.__getitem__, manifest.split(b"\n")))
        if shape not in self._known:
            self._known[shape] = _first_ask(manifest)
        return self._known[shape]


_MANY = 20_000
"""Most lines to cache. Recurring lines are soon cached again; the others are names, one per job."""


class _Lines(dict[bytes, bytes]):
    """Cache of manifest lines, stripped of text that no amount depends on."""

    def __missing__(self, line: bytes) -> bytes:
        if len(self) >= _MANY:
            self.clear()
        self[line] = kept = _kept(line)
        return kept


def _kept(line: bytes) -> bytes:
    """`    - name: node` becomes `    - `; numbers and keys that open a mapping are kept."""
    text = line.lstrip(b" -")
    place = line[: len(line) - len(text)]
    key, colon, value = text.partition(b": ")
    if not colon:
        return line if text.endswith(b":") or _OPEN.intersection(text) else place
    is_number = value.lstrip(b"\"'").startswith(_NUMBER) and key != b"value"
    return line if is_number or key in _KEPT or _OPEN.intersection(value) else place


def _first_ask(manifest: bytes) -> Ask | None:
    from trainform.source import load

    trees = (document.tree for document in load(manifest, "").documents)
    return next((ask_of(tree) for tree in trees if tree.get("kind") == "JobSet"), None)
