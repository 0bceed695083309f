"""What a rendered JobSet requests from Kueue: queue, priority, and the pods of each step."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.jobset_view import JobSetView, ReplicatedJob
from trainform.diagnostics import dotted
from trainform.k8s.admission import admitted_pod_spec
from trainform.k8s.cluster import limit as limit_rules
from trainform.k8s.cluster.classes import SYSTEM_PRIORITIES
from trainform.k8s.kueue_configuration import KueueConfiguration, kueue_configuration
from trainform.k8s.labels import labels_of
from trainform.k8s.pod_requests import pod_requests
from trainform.k8s.quantity import QuantityError
from trainform.k8s.schema.validate import check
from trainform.k8s.tree import Tree, metadata_of, name_of, number, text
from trainform.review.capacity.amounts import Amounts, amounts
from trainform.review.capacity.deadline import longest_runs

if TYPE_CHECKING:
    from trainform.core.cluster.facts import Facts

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
_ANNOTATION = "kueue.x-k8s.io/podset-"
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
"""What Go reads as true."""
DEFAULT_QUEUE = "default"
"""The LocalQueue for jobs without the label, if their namespace has one of this name."""


class TopologyRequest(NamedTuple):
    """Where the pods of a step may stand, by levels (node labels). `slices` are the levels that hold so many pods each,
    from the outside in. Two steps of a `group` share their flavor and their domain."""

    required: str = ""
    preferred: str = ""
    unconstrained: bool = False
    slices: tuple[tuple[str, int], ...] = ()
    group: str = ""

    @property
    def is_explicit(self) -> bool:
        return bool(self.required or self.preferred or self.unconstrained or self.slices)


@dataclass(frozen=True, slots=True)
class PodSetDemand:
    """The pods of one step. `requests` are per pod, as quotas count them; `pod_requests` as nodes do, which hold the
    same unless Kueue's configuration leaves out or renames resources. `pod_spec` restricts where they may run. In one
    run of the job, they run for `seconds` at most, if a deadline bounds that."""

    name: str
    count: int
    requests: Amounts
    pod_spec: Tree
    topology: TopologyRequest | None = None
    pod_requests: Amounts = field(default_factory=dict)
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class JobDemand:
    """One job. `queue` is its LocalQueue or empty; `refusals` are admission's objections to its pods."""

    namespace: str
    name: str
    queue: str
    pod_sets: tuple[PodSetDemand, ...]
    priority: int = 0
    refusals: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def pods(self) -> int:
        """The pods of all steps."""
        return sum(each.count for each in self.pod_sets)

    @property
    def resources(self) -> Amounts:
        """What all of them request."""
        total: Amounts = {}
        for pod_set in self.pod_sets:
            for name, each in pod_set.pod_requests.items():
                total[name] = total.get(name, 0) + each * pod_set.count
        return total


def demand_of(jobset: Tree, facts: Facts, name: str = "") -> JobDemand | None:
    """The demand of whatever is in a manifest, maybe edited by hand; None if it is no valid JobSet."""
    if check("JobSet", jobset):
        return None
    try:
        return job_demand(jobset, facts, name)
    except QuantityError:
        return None


def job_demand(jobset: Tree, facts: Facts, name: str = "") -> JobDemand:
    """The demand of a valid JobSet, with pods as admission under these facts leaves them. `name` is the TrainJob's,
    where the JobSet's carries a content hash."""
    namespace, labels = text(metadata_of(jobset), "namespace"), labels_of(jobset)
    view, configuration = JobSetView.of(jobset), kueue_configuration(facts)
    steps, queue = view.jobs, _queue(labels, namespace, facts)
    runs = longest_runs(view, is_queued=bool(queue))
    return JobDemand(
        namespace,
        name or name_of(jobset),
        queue,
        tuple(_pod_set(*each, namespace, facts, configuration) for each in zip(steps, runs, strict=True)),
        _priority(labels, steps, facts),
        tuple(refusal for step in steps for refusal in _refusals(step, namespace, facts)),
    )


def _queue(labels: Tree, namespace: str, facts: Facts) -> str:
    if queue := text(labels, QUEUE_LABEL):
        return queue
    return DEFAULT_QUEUE if facts.get("LocalQueue", DEFAULT_QUEUE, namespace) else ""


def _pod_set(
    step: ReplicatedJob, seconds: int | None, namespace: str, facts: Facts, configuration: KueueConfiguration
) -> PodSetDemand:
    pod_spec = admitted_pod_spec(step.pod_spec, namespace, facts)
    requests = pod_requests(pod_spec, limits_default_requests=True)
    counted, topology = amounts(configuration.counted(requests)), topology_request(step.annotations)
    return PodSetDemand(step.name, step.pods, counted, pod_spec, topology, amounts(requests), seconds)


def topology_request(annotations: Tree) -> TopologyRequest | None:
    """The topology in a pod's annotations, which Kueue's webhook has accepted; None if they ask for none."""

    def value(name: str) -> str:
        return text(annotations, f"{_ANNOTATION}{name}-topology")

    request = TopologyRequest(
        value("required"),
        value("preferred"),
        value("unconstrained") in _TRUE,
        _slices(annotations),
        text(annotations, f"{_ANNOTATION}group-name"),
    )
    return request if request.is_explicit else None


def _slices(annotations: Tree) -> tuple[tuple[str, int], ...]:
    if layers := text(annotations, f"{_ANNOTATION}slice-required-topology-constraints"):
        try:
            return tuple((str(layer["topology"]), int(layer["size"])) for layer in json.loads(layers))
        except (ValueError, TypeError, KeyError):
            return ()
    level = text(annotations, f"{_ANNOTATION}slice-required-topology")
    size = text(annotations, f"{_ANNOTATION}slice-size")
    return ((level, int(size)),) if level and size.isdecimal() and int(size) else ()


def _refusals(step: ReplicatedJob, namespace: str, facts: Facts) -> list[str]:
    problems = limit_rules.check(admitted_pod_spec(step.pod_spec, namespace, facts), namespace, facts)
    return [f"{step.name}: {dotted(each.path)}: {each.message}" for each in problems]


def _priority(labels: Tree, steps: list[ReplicatedJob], facts: Facts) -> int:
    """From the WorkloadPriorityClass, else the first step that names a PriorityClass, else the default class."""
    if own := text(labels, PRIORITY_LABEL):
        return _value(facts.get("WorkloadPriorityClass", own))
    names = (text(step.pod_spec, "priorityClassName") for step in steps)
    if name := next(filter(None, names), ""):
        return SYSTEM_PRIORITIES.get(name) or _value(facts.get("PriorityClass", name))
    classes = (facts.get("PriorityClass", each) or {} for each in facts.names("PriorityClass"))
    return min((_value(each) for each in classes if each.get("globalDefault") is True), default=0)


def _value(priority_class: Any) -> int:
    """An undeclared class counts as zero."""
    return number(priority_class or {}, "value") or 0
