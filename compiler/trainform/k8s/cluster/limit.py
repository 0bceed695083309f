"""LimitRange bounds and RuntimeClass overhead, as in Kubernetes' admission plugins LimitRanger and RuntimeClass."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trainform.diagnostics import Path
from trainform.k8s.admission import CONTAINERS, ClusterFacts, container_defaults, limit_items, overhead_of
from trainform.k8s.pod_requests import Requests, pod_requests
from trainform.k8s.quantity import NANO, Quantity, parse
from trainform.k8s.rules.parts import Found
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, table, tables, text

_Bound = Callable[[Quantity, "Quantity | None", "Quantity | None"], str]
"""Why a bound rejects a request and a limit, or empty."""


def check(pod_spec: Tree, namespace: str, facts: ClusterFacts) -> list[SchemaProblem]:
    """What admission rejects in a result of `admitted_pod_spec`; amounts must be readable, paths count from the
    spec."""
    found = Found()
    for name, item in limit_items(namespace, facts):
        if text(item, "type") == "Container":
            _check_containers(pod_spec, item, name, found)
        elif text(item, "type") == "Pod":
            requests, limits = _of_pod(pod_spec, "requests"), _of_pod(pod_spec, "limits")
            where = f"LimitRange {name}, for the whole pod"
            _check_bounds(requests, limits, item, where, ("containers",), found)
    _check_defaults(pod_spec, namespace, facts, found)
    _check_overhead(pod_spec, facts, found)
    return found


def _check_containers(pod_spec: Tree, item: Tree, name: str, found: Found) -> None:
    for key in CONTAINERS:
        for index, container in enumerate(tables(pod_spec, key)):
            resources = table(container, "resources")
            requests, limits = _read(table(resources, "requests")), _read(table(resources, "limits"))
            where = f"LimitRange {name}, per container"
            _check_bounds(requests, limits, item, where, (key, index, "resources"), found)


def _check_defaults(pod_spec: Tree, namespace: str, facts: ClusterFacts, found: Found) -> None:
    """A default limit below the request: without a LimitRange there is no limit, and nothing to compare."""
    default, _ = container_defaults(namespace, facts)
    for key in CONTAINERS if default else ():
        for index, container in enumerate(tables(pod_spec, key)):
            resources = table(container, "resources")
            requests, limits = _read(table(resources, "requests")), _read(table(resources, "limits"))
            told = {problem.message.partition(":")[0] for problem in found if problem.path[:2] == (key, index)}
            for resource, limit in limits.items():
                defaulted = resource in default and resource in requests and resource not in told
                if defaulted and limit < requests[resource]:
                    message = (
                        f"{resource}: requests {requests[resource]}, more than the limit {limit}, "
                        "which a LimitRange sets where the container sets none"
                    )
                    found.tell((key, index, "resources"), "TF564", message, f"write a limit of {resource} too")


def _of_pod(pod_spec: Tree, kind: str) -> Requests:
    """The pod's total requests or limits, without overhead."""
    counted = {
        key: [
            {**each, "resources": {"requests": table(table(each, "resources"), kind)}} for each in tables(pod_spec, key)
        ]
        for key in CONTAINERS
    }
    whole = {"requests": table(table(pod_spec, "resources"), kind)}
    return pod_requests({**counted, "resources": whole})


def _check_bounds(requests: Requests, limits: Requests, item: Tree, where: str, path: Path, found: Found) -> None:
    for key, refusal in _BOUNDS.items():
        for resource, bound in table(item, key).items():
            reason = refusal(parse(bound), requests.get(resource), limits.get(resource))
            if reason:
                found.tell(path, "TF564", f"{resource}: {reason} ({where})")


def _below(least: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    if request is None:
        return f"has no request, but at least {least} is required"
    if request < least:
        return f"requests {request}, but at least {least} is required"
    return f"has limit {limit}, but at least {least} is required" if limit and limit < least else ""


def _above(most: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    if limit is None:
        return f"has no limit, but a limit of at most {most} is required"
    if most < limit:
        return f"has limit {limit}, but at most {most} is allowed"
    return f"requests {request}, but at most {most} is allowed" if request and most < request else ""


def _too_far_apart(ratio: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    if not request or not limit or not request.nano or not limit.nano:
        return f"needs a request, and a limit of at most {ratio} times the request"
    if limit.nano * NANO > ratio.nano * request.nano:
        return f"has limit {limit}, which is more than {ratio} times its request {request}"
    return ""


_BOUNDS: dict[str, _Bound] = {"min": _below, "max": _above, "maxLimitRequestRatio": _too_far_apart}


def _check_overhead(pod_spec: Tree, facts: ClusterFacts, found: Found) -> None:
    overhead = overhead_of(pod_spec, facts)
    given = table(pod_spec, "overhead")
    if overhead is not None and given and _read(given) != _read(overhead):
        name = text(pod_spec, "runtimeClassName")
        message = f"differs from the overhead of RuntimeClass {name}"
        hint = "remove it: the API server fills it in" if overhead else "remove it: the RuntimeClass has no overhead"
        found.tell(("overhead",), "TF565", message, hint)


def _read(amounts: Mapping[str, str | int]) -> Requests:
    return {name: parse(amount) for name, amount in amounts.items()}
