"""Kubernetes objects as plain trees of dict, list and scalars."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

Tree = dict[str, Any]
"""A JSON object. What Kubernetes owns stays untyped: a schema says what is valid."""


def without_nulls(tree: T) -> T:
    """The tree without keys whose value is null, as the API server prunes them.

    Subtrees without nulls are shared with the given tree, which is not changed.
    """
    pruned: T = _without_nulls(tree) if _has_nulls(tree) else tree
    return pruned


def _has_nulls(value: Any) -> bool:
    """Whether any key below has the value null; nearly no tree has one, so this comes before the pruning."""
    if isinstance(value, dict):
        for child in value.values():
            if child is None or (isinstance(child, (dict, list)) and _has_nulls(child)):
                return True
    elif isinstance(value, list):
        for child in value:
            if isinstance(child, (dict, list)) and _has_nulls(child):
                return True
    return False


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_nulls(child) for key, child in value.items() if child is not None}
        same = len(kept) == len(value) and all(kept[key] is value[key] for key in kept)
        return value if same else kept
    if isinstance(value, list):
        items = [_without_nulls(child) for child in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value
