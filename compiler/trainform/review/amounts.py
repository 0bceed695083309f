"""Amounts as Kueue counts them: milli units of cpu, whole units of anything else, rounded up.

Integers, so that sums and comparisons are exact and the same as Kueue's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainform.k8s.quantity import NANO, Quantity

Amounts = dict[str, int]
"""By resource name: `{"cpu": 1500, "nvidia.com/gpu": 8}` are one and a half cores and eight GPUs."""

PODS = "pods"
"""The resource that a quota may limit although no container asks for it: Kueue counts it itself."""


def amount(resource: str, quantity: Quantity) -> int:
    return -(-quantity.nano // _unit(resource))


def amounts(quantities: Mapping[str, Quantity]) -> Amounts:
    return {resource: amount(resource, quantity) for resource, quantity in quantities.items()}


def written(resource: str, number: int) -> str:
    """The amount as Kubernetes writes it: `1500m`, `64Gi`, `8`."""
    binary = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    return str(Quantity(number * _unit(resource), "BinarySI" if binary else "DecimalSI"))


def _unit(resource: str) -> int:
    """Nano units in the unit that is counted."""
    return NANO // 1000 if resource == "cpu" else NANO
