"""ResourceQuotas, as far as one job decides: its own pods alone exceed one, or lack an amount that one needs to count.
Source: Kubernetes' admission plugin ResourceQuota and `pkg/quota/v1/evaluator/core`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainform.k8s.admission import CONTAINERS, ClusterFacts
from trainform.k8s.labels import holds
from trainform.k8s.pod_requests import pod_requests
from trainform.k8s.quantity import ZERO, Quantity, parse
from trainform.k8s.tree import Tree, name_of, table, tables, text, texts

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_COUNTS = frozenset(("pods", "count/pods"))


class Pods(NamedTuple):
    """The pods of one step, as admission leaves them, and how many run at once."""

    name: str
    number: int
    spec: Tree


class OverQuota(NamedTuple):
    """`step` is where to show it; empty for the job as a whole."""

    step: str
    message: str


def check(steps: Iterable[Pods], jobs: int, namespace: str, facts: ClusterFacts) -> list[OverQuota]:
    """What the quotas of a namespace refuse of a job whose `steps` run in so many Jobs."""
    pods = list(steps)
    quotas = [facts.get("ResourceQuota", name, namespace) or {} for name in facts.names("ResourceQuota", namespace)]
    return [problem for quota in quotas for problem in _of_quota(quota, pods, jobs)]


def _of_quota(quota: Tree, steps: list[Pods], jobs: int) -> Iterator[OverQuota]:
    spec = table(quota, "spec")
    scoped = bool(texts(spec, "scopes") or table(spec, "scopeSelector"))
    counted = [step for step in steps if _in_scope(step.spec, spec)]
    for resource, hard in table(spec, "hard").items():
        most = parse(hard)
        if resource in ("count/jobs.batch", "count/jobsets.jobset.x-k8s.io"):
            number = 0 if scoped else jobs if resource == "count/jobs.batch" else 1
            if parse(number) > most:
                yield OverQuota("", f"needs {number} Jobs, but {_named(quota)} allows {most} {resource}")
            continue
        yield from _missing(resource, counted, quota)
        asked = sum((_asked(resource, step) for step in counted), start=ZERO)
        if asked > most:
            message = f"its pods together ask {resource} {asked}, but {_named(quota)} allows {most}"
            yield OverQuota(counted[0].name if len(counted) == 1 else "", message)


def _missing(resource: str, steps: Iterable[Pods], quota: Tree) -> Iterator[OverQuota]:
    """A quota for compute resources refuses pods of which it cannot tell the amount."""
    kind, name = _split(resource)
    for step in steps if name in _COMPUTE and resource not in _COUNTS else ():
        whole = table(table(step.spec, "resources"), kind)
        containers = [each for key in CONTAINERS for each in tables(step.spec, key)]
        without = [text(each, "name") for each in containers if name not in table(table(each, "resources"), kind)]
        if without and name not in whole and step.number:
            field = f"{kind}.{name}"
            yield OverQuota(step.name, f"container {without[0]} must set resources.{field}: {_named(quota)} counts it")


def _asked(resource: str, step: Pods) -> Quantity:
    """What the pods of a step ask of a quota's resource."""
    if resource in _COUNTS:
        return parse(step.number)
    kind, name = _split(resource)
    spec = step.spec if kind == "requests" else _limits_as_requests(step.spec)
    return pod_requests(spec).get(name, ZERO) * step.number


def _split(resource: str) -> tuple[str, str]:
    """`limits.cpu` is of the limits; `cpu` and `requests.cpu` of the requests."""
    kind, _, name = resource.partition(".")
    return (kind, name) if kind in ("requests", "limits") else ("requests", resource)


def _limits_as_requests(spec: Tree) -> Tree:
    def swapped(tree: Tree) -> Tree:
        return {**tree, "resources": {"requests": table(table(tree, "resources"), "limits")}}

    return {**swapped(spec), **{key: [swapped(each) for each in tables(spec, key)] for key in CONTAINERS}}


def _in_scope(pod_spec: Tree, spec: Tree) -> bool:
    """Whether a quota counts these pods: all of its scopes must hold."""
    selected = tables(table(spec, "scopeSelector"), "matchExpressions")
    return all(_has_scope(pod_spec, scope) for scope in texts(spec, "scopes")) and all(
        _selects(pod_spec, each) for each in selected
    )


def _selects(pod_spec: Tree, expression: Tree) -> bool:
    scope, operator = text(expression, "scopeName"), text(expression, "operator")
    if scope != "PriorityClass":
        return _has_scope(pod_spec, scope)
    return holds(operator, text(pod_spec, "priorityClassName") or None, texts(expression, "values"))


def _has_scope(pod_spec: Tree, scope: str) -> bool:
    ends = pod_spec.get("activeDeadlineSeconds") is not None
    best_effort = not any(_sets_amounts(each) for key in CONTAINERS for each in tables(pod_spec, key))
    affinity = table(pod_spec, "affinity")
    held = {
        "Terminating": ends,
        "NotTerminating": not ends,
        "BestEffort": best_effort and not _sets_amounts(pod_spec),
        "NotBestEffort": not best_effort or _sets_amounts(pod_spec),
        "PriorityClass": bool(text(pod_spec, "priorityClassName")),
        "CrossNamespacePodAffinity": _crosses_namespaces(affinity),
    }
    return held.get(scope, False)


def _sets_amounts(tree: Tree) -> bool:
    resources = table(tree, "resources")
    return any(table(resources, kind).get(name) for kind in ("requests", "limits") for name in ("cpu", "memory"))


def _crosses_namespaces(affinity: Tree) -> bool:
    terms = [
        term
        for key in ("podAffinity", "podAntiAffinity")
        for kind in table(affinity, key)
        for each in tables(table(affinity, key), kind)
        for term in (table(each, "podAffinityTerm") or each,)
    ]
    return any(texts(term, "namespaces") or term.get("namespaceSelector") is not None for term in terms)


def _named(quota: Tree) -> str:
    return f"ResourceQuota {name_of(quota)}"
