"""What a pod requests of its node, as in Kubernetes' `PodRequests`: containers add up, the largest init container
counts together with the sidecars started before it, pod-level requests replace the sum, and overhead is added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainform.k8s.quantity import ZERO, Quantity, canonical, parse

Requests = dict[str, Quantity]
"""Amounts by resource name, `{"cpu": …, "nvidia.com/gpu": …}`."""


def pod_requests(pod_spec: Mapping[str, Any], *, limits_default_requests: bool = False) -> Requests:
    """Requests of one pod of this spec, overhead included. With `limits_default_requests`, a limit without a request
    counts as the request, as the API server defaults it. Raises QuantityError for an invalid amount."""
    defaults = limits_default_requests
    requests: Requests = {}
    for container in pod_spec.get("containers") or ():
        _add(requests, _requested(container, defaults))
    _count_init_containers(requests, pod_spec.get("initContainers") or (), defaults)
    _apply_pod_level(requests, pod_spec.get("resources") or {}, defaults)
    _add(requests, _amounts(pod_spec.get("overhead")))
    return requests


def scaled_sum(pods: Iterable[tuple[Mapping[str, Quantity], int]]) -> dict[str, str]:
    """The canonical sum over `(requests of one pod, number of pods)`, sorted by name: the group's `minResources`."""
    total: Requests = {}
    for requests, count in pods:
        for name, amount in requests.items():
            total[name] = total.get(name, ZERO) + amount * count
    return format_requests(total)


def format_requests(requests: Mapping[str, Quantity]) -> dict[str, str]:
    """Canonical amounts, sorted by name."""
    return {name: str(requests[name]) for name in sorted(requests)}


def pod_level_supports(resource: str) -> bool:
    """Whether a pod-level `resources` may set this resource."""
    return resource in ("cpu", "memory") or resource.startswith("hugepages-")


def _requested(container: Mapping[str, Any], limits_default: bool) -> Requests:
    resources = container.get("resources") or {}
    requests = _amounts(resources.get("requests"))
    if limits_default:
        requests = _amounts(resources.get("limits")) | requests
    return requests


def _amounts(resources: Mapping[str, str | int] | None) -> Requests:
    # Canonical first: a sum with `1e1`, stored as `10`, has no exponent.
    return {name: parse(canonical(amount)) for name, amount in resources.items()} if resources else {}


def _count_init_containers(
    requests: Requests, init_containers: Iterable[Mapping[str, Any]], limits_default: bool
) -> None:
    """Adds the sidecars to `requests`, and raises it to the peak of the startup sequence."""
    sidecars: Requests = {}
    peak: Requests = {}
    for container in init_containers:
        needed = _requested(container, limits_default)
        if container.get("restartPolicy") == "Always":
            _add(requests, needed)
            _add(sidecars, needed)
            needed = sidecars
        else:
            _add(needed, sidecars)
        _raise_to(peak, needed)
    _raise_to(requests, peak)


def _apply_pod_level(requests: Requests, resources: Mapping[str, Any], limits_default: bool) -> None:
    pod_level = _amounts(resources.get("requests"))
    if limits_default:
        for name, limit in _amounts(resources.get("limits")).items():
            # Huge pages cannot be overcommitted: the limit counts whatever the containers request.
            if name not in requests or name.startswith("hugepages-"):
                pod_level.setdefault(name, limit)
    requests.update((name, amount) for name, amount in pod_level.items() if pod_level_supports(name))


def _add(total: Requests, more: Mapping[str, Quantity]) -> None:
    # The first amount is copied, not added to zero, to keep its format.
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _raise_to(total: Requests, least: Mapping[str, Quantity]) -> None:
    for name, amount in least.items():
        if name not in total or total[name] < amount:
            total[name] = amount
