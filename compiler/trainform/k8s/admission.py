"""A pod spec as admission leaves it: the overhead of its RuntimeClass, the defaults of its LimitRanges.

As in the API server and Kueue, limits become requests first; then LimitRange defaults fill what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from trainform.k8s.tree import Tree, table, tables, text

CONTAINERS = ("initContainers", "containers")


class ClusterFacts(Protocol):
    """What is declared of a cluster: objects by kind, name and namespace (empty for cluster-wide kinds)."""

    def get(self, kind: str, name: str, namespace: str = "") -> Tree | None: ...

    def names(self, kind: str, namespace: str = "") -> list[str]: ...


def admitted_pod_spec(pod_spec: Tree, namespace: str, facts: ClusterFacts) -> Tree:
    """`pod_spec` with what admission adds to its resources in `namespace`; itself where that is nothing.

    Requests that follow from limits are written out. The result shares its unchanged parts with the given spec.
    """
    overhead = overhead_of(pod_spec, facts)
    changes: Tree = {"overhead": overhead} if overhead and not table(pod_spec, "overhead") else {}
    limits, requests = container_defaults(namespace, facts)
    for key in CONTAINERS:
        containers = tables(pod_spec, key)
        admitted = [_with_defaults(each, limits, requests) for each in containers]
        if any(new is not old for new, old in zip(admitted, containers, strict=True)):
            changes[key] = admitted
    return {**pod_spec, **changes} if changes else pod_spec


def limit_items(namespace: str, facts: ClusterFacts) -> Iterator[tuple[str, Tree]]:
    """Each entry of each declared LimitRange of a namespace, with the name of that; names in order."""
    for name in facts.names("LimitRange", namespace):
        declared = facts.get("LimitRange", name, namespace) or {}
        yield from ((name, item) for item in tables(table(declared, "spec"), "limits"))


def container_defaults(namespace: str, facts: ClusterFacts) -> tuple[Tree, Tree]:
    """The limits and requests that a container of a namespace gets where it has none; the first one counts.

    As the API server completes a LimitRange: a maximum is the limit of who names none, the default limit
    is the default request, and so is a minimum.
    """
    limits: Tree = {}
    requests: Tree = {}
    for _, item in limit_items(namespace, facts):
        if text(item, "type") == "Container":
            default = {**table(item, "max"), **table(item, "default")}
            request = {**table(item, "min"), **default, **table(item, "defaultRequest")}
            limits = {**default, **limits}
            requests = {**request, **requests}
    return limits, requests


def overhead_of(pod_spec: Tree, facts: ClusterFacts) -> Tree | None:
    """The overhead that the RuntimeClass of a pod has, perhaps none; None where no class is declared."""
    name = text(pod_spec, "runtimeClassName")
    declared = facts.get("RuntimeClass", name) if name else None
    return None if declared is None else table(table(declared, "overhead"), "podFixed")


def _with_defaults(container: Tree, limits: Tree, requests: Tree) -> Tree:
    resources = table(container, "resources")
    given = {"limits": table(resources, "limits"), "requests": table(resources, "requests")}
    admitted = {
        "limits": {**limits, **given["limits"]},
        "requests": {**requests, **given["limits"], **given["requests"]},
    }
    if admitted == given:
        return container
    kept = {key: amounts for key, amounts in admitted.items() if amounts}
    return {**container, "resources": {**resources, **kept}}
