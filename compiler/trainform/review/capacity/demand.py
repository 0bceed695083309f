"""What a rendered JobSet requests from Kueue: queue, priority, and the pods of each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainform.core.jobset_view import JobSetView, ReplicatedJob
from trainform.diagnostics import dotted
from trainform.k8s.admission import admitted_pod_spec
from trainform.k8s.labels import labels_of
from trainform.k8s.pod_requests import pod_requests
from trainform.k8s.rules import limit as limit_rules
from trainform.k8s.tree import Tree, metadata_of, name_of, number, text
from trainform.review.capacity.amounts import Amounts, amounts

if TYPE_CHECKING:
    from trainform.core.facts import Facts

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
GROUP_ANNOTATION = "kueue.x-k8s.io/podset-group-name"
LEVEL_ANNOTATIONS = (
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-slice-required-topology",
)
UNCONSTRAINED_ANNOTATION = "kueue.x-k8s.io/podset-unconstrained-topology"
DEFAULT_QUEUE = "default"
"""The LocalQueue for jobs without the label, if their namespace has one of this name."""

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


@dataclass(frozen=True, slots=True)
class PodSetDemand:
    """The pods of one step. `requests` are per pod; `pod_spec` restricts where they may run. Pod sets with the same
    `group` get the same flavors; it is the pod set's own name if it has none. `levels` are its topology levels, None if
    it requests no topology."""

    name: str
    count: int
    requests: Amounts
    pod_spec: Tree
    group: str = ""
    levels: tuple[str, ...] | None = None


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


def job_demand(jobset: Tree, facts: Facts) -> JobDemand:
    """The demand of a valid JobSet, with pods as admission under these facts leaves them."""
    namespace, labels = text(metadata_of(jobset), "namespace"), labels_of(jobset)
    steps = JobSetView.of(jobset).jobs
    return JobDemand(
        namespace,
        name_of(jobset),
        _queue(labels, namespace, facts),
        tuple(_pod_set(step, namespace, facts) for step in steps),
        _priority(labels, steps, facts),
        tuple(refusal for step in steps for refusal in _refusals(step, namespace, facts)),
    )


def _queue(labels: Tree, namespace: str, facts: Facts) -> str:
    if queue := text(labels, QUEUE_LABEL):
        return queue
    return DEFAULT_QUEUE if facts.get("LocalQueue", DEFAULT_QUEUE, namespace) else ""


def _pod_set(step: ReplicatedJob, namespace: str, facts: Facts) -> PodSetDemand:
    pod_spec = admitted_pod_spec(step.pod_spec, namespace, facts)
    requests = amounts(pod_requests(pod_spec, limits_default_requests=True))
    group = text(step.annotations, GROUP_ANNOTATION)
    return PodSetDemand(step.name, step.pods, requests, pod_spec, group or step.name, _topology(step.annotations))


def _topology(annotations: Tree) -> tuple[str, ...] | None:
    levels = tuple(filter(None, (text(annotations, key) for key in LEVEL_ANNOTATIONS)))
    wanted = levels or text(annotations, UNCONSTRAINED_ANNOTATION) == "true"
    return levels if wanted else None


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
