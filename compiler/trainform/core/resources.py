"""Resources of a node: what the TrainJob and the runtime ask for together, and what counts as GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.k8s.quantity import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainform.k8s.tree import Tree

NO_DEVICE = ("gpumem", "gpucores", "gpualloc")
"""Shares of a GPU that schedulers offer beside the device itself (D09)."""


def merge_resources(base: Tree | None, override: Tree | None) -> Tree:
    """Overlay container resources: requests and limits key by key, claims by name.

    Source: kubeflow/trainer `pkg/runtime/resourcerequirements.go`; for claims D21.
    """
    merged = dict(base or {})
    for field in ("limits", "requests"):
        values = (override or {}).get(field)
        if values:
            merged[field] = {**(merged.get(field) or {}), **values}
    claims = (override or {}).get("claims")
    if claims:
        names = {claim.get("name") for claim in claims}
        kept = [claim for claim in merged.get("claims") or () if claim.get("name") not in names]
        merged["claims"] = [*kept, *claims]
    return merged


def gpu_count(resources: Tree | None) -> int:
    """GPUs per node: requests before limits, whole devices (D09). 0 without a GPU."""
    for field in ("requests", "limits"):
        count = _devices((resources or {}).get(field) or {})
        if count:
            return count
    return 0


def cpu_count(resources: Tree | None) -> int:
    """CPUs per node, rounded up: requests before limits. 0 where none are asked for."""
    for field in ("requests", "limits"):
        cpus = ((resources or {}).get(field) or {}).get("cpu")
        if cpus is not None and parse(cpus).value() > 0:
            return parse(cpus).value()
    return 0


def gpu_names(resources: Mapping[str, object]) -> list[str]:
    """The resource names that the controller takes for GPUs: any that contain "gpu"."""
    return [name for name in resources if "gpu" in name.lower()]


def _devices(resources: Tree) -> int:
    names = [n for n in gpu_names(resources) if not any(share in n.lower() for share in NO_DEVICE)]
    if not names:
        return 0
    first = min(names, key=lambda n: (not n.endswith("/gpu"), -parse(resources[n]).value(), n))
    return parse(resources[first]).value()
