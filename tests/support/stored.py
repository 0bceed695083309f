"""What an API server would change in an object, other than by defaults: empty maps, and quantities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainform.k8s.quantity import canonical

Path = tuple[str | int, ...]

MEANINGFUL = ("emptyDir",)
"""Fields of which an empty map says something."""

AMOUNTS = ("limits", "requests", "minResources", "overhead", "capacity")
QUANTITIES = ("sizeLimit", "divisor")


def empty_maps(tree: Any) -> list[Path]:
    """The empty maps that mean no more than nothing; a server leaves them out, and an engine sees a difference."""
    return [path for path, value in _values(tree) if value == {} and path[-1] not in MEANINGFUL]


def loose_quantities(tree: Any) -> list[Path]:
    """The quantities that are not written as a server writes them."""
    return [path for path, value in _values(tree) if _is_quantity(path) and canonical(value) != value]


def _is_quantity(path: Path) -> bool:
    return path[-1] in QUANTITIES or (len(path) > 1 and path[-2] in AMOUNTS)


def _values(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if path:
        yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from _values(child, (*path, key))
