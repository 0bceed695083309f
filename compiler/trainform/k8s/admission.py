"""A pod spec after admission: RuntimeClass overhead and LimitRange defaults. As in the API server and Kueue, limits
become requests before LimitRange defaults fill the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from trainform.k8s.tree import Tree, table, tables, text

CONTAINERS = ("initContainers", "containers")


class ClusterFacts(Protocol):
    """Declared objects of a cluster by kind, name and namespace (empty for cluster-wide kinds)."""

    def get(self, kind: str, name: str, namespace: str = "") -> Tree | None: ...

    def names(self, kind: str, namespace: str = "") -> list[str]: ...


def admitted_pod_spec(pod_spec: Tree, namespace: str, facts: ClusterFacts) -> Tree:
    """`pod_spec` with the resources that admission adds in `namespace`, and with requests derived from limits written
    out. Shares unchanged parts with `pod_spec`, and is `pod_spec` itself if nothing changes."""
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
    """Each entry of each LimitRange declared for a namespace, with the LimitRange's name; sorted by name."""
    for name in facts.names("LimitRange", namespace):
        declared = facts.get("LimitRange", name, namespace) or {}
        yield from ((name, item) for item in tables(table(declared, "spec"), "limits"))


def container_defaults(namespace: str, facts: ClusterFacts) -> tuple[Tree, Tree]:
    """Default limits and requests of a container; the first LimitRange to set one wins. As in the API server, the
    default limit falls back to `max`, and the default request to the default limit, then to `min`."""
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
    """The overhead of a pod's RuntimeClass, possibly empty; None if the class is not declared."""
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
