"""Resources of a node: the TrainJob's merged with the runtime's, and what counts as a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.k8s.devices import counts_as_gpu, is_gpu, is_gpu_share
from trainform.k8s.quantity import whole_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainform.k8s.tree import Tree


def merge_resources(base: Tree | None, override: Tree | None) -> Tree:
    """Overlay container resources: requests and limits key by key, claims by name. Source: kubeflow/trainer
    `pkg/runtime/resourcerequirements.go`; for claims D21."""
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
    """Whole GPUs per node, from requests, else limits; one if only a share of a GPU is requested (D09). 0 without."""
    return _first_count(resources, _gpus) or _first_count(resources, _shared_gpus)


def cpu_count(resources: Tree | None) -> int:
    """CPUs per node, rounded up, from requests, else limits. 0 if none are requested."""
    return _first_count(resources, lambda asked: whole_units(asked.get("cpu") or 0))


def _first_count(resources: Tree | None, count: Callable[[Tree], int]) -> int:
    for field in ("requests", "limits"):
        asked = (resources or {}).get(field)
        if asked and (found := count(asked)) > 0:
            return found
    return 0


def gpu_names(resources: Iterable[str]) -> list[str]:
    """The resource names that the controller counts as GPUs."""
    return [name for name in resources if counts_as_gpu(name)]


def _gpus(resources: Tree) -> int:
    names = [name for name in resources if is_gpu(name)]
    if len(names) > 1:
        names.sort(key=lambda n: (not n.endswith("/gpu"), -whole_units(resources[n]), n))
    return whole_units(resources[names[0]]) if names else 0


def _shared_gpus(resources: Tree) -> int:
    return int(any(whole_units(amount) > 0 for name, amount in resources.items() if is_gpu_share(name)))
