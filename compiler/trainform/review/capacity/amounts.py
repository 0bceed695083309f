"""Amounts as Kueue counts them: millicores of cpu, whole units of anything else, rounded up. Integers, so that sums and
comparisons are exact and match Kueue's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainform.k8s.quantity import NANO, Quantity

Amounts = dict[str, int]
"""By resource name: `{"cpu": 1500, "nvidia.com/gpu": 8}` is 1.5 cores and 8 GPUs."""

_BYTES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")

PODS = "pods"
"""The resource that a quota may limit although no container requests it: Kueue counts pods itself."""


def amount(resource: str, quantity: Quantity) -> int:
    return -(-quantity.nano // _unit(resource))


def amounts(quantities: Mapping[str, Quantity]) -> Amounts:
    return {resource: amount(resource, quantity) for resource, quantity in quantities.items()}


def written(resource: str, number: int) -> str:
    """The amount as a Kubernetes quantity: `1500m`, `64Gi`, `8`."""
    return str(Quantity(number * _unit(resource), "BinarySI" if is_binary(resource) else "DecimalSI"))


def quantities(asked: Amounts) -> dict[str, str]:
    """Amounts that are not zero as Kubernetes quantities, by name."""
    return {name: written(name, asked[name]) for name in sorted(asked) if asked[name]}


def spelled(resource: str, *numbers: int) -> tuple[str, ...]:
    """Amounts in a comparable form: cores and devices in plain digits, bytes in one unit."""
    if resource == "cpu":
        return tuple(f"{number / 1000:.3f}".rstrip("0").rstrip(".") for number in numbers)
    if not is_binary(resource):
        return tuple(map(str, numbers))
    suffixes = [suffix for power, suffix in enumerate(_BYTES) if not any(n % 1024**power for n in numbers)]
    power = len(suffixes) - 1 if any(numbers) else 0
    return tuple(f"{number // 1024**power}{_BYTES[power] if number else ''}" for number in numbers)


def devices_first(resources: Iterable[str]) -> list[str]:
    """Resource names in display order: devices, cpu, memory, the rest."""
    return sorted(resources, key=lambda name: ("/" not in name, name))


def is_binary(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def _unit(resource: str) -> int:
    """Nano units per counted unit."""
    return NANO // 1000 if resource == "cpu" else NANO
