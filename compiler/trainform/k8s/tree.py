"""Kubernetes objects as plain trees. Trees come from users, so these readers never fail: a field of the wrong type
counts as absent, and `k8s.schema` reports it."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from trainform.diagnostics import Path

T = TypeVar("T")

Tree = dict[str, Any]
"""A JSON object. Kubernetes' own objects stay untyped; schemas validate them."""


def table(tree: Tree, key: str) -> Tree:
    """The mapping at `key`, or empty."""
    value = tree.get(key)
    return value if type(value) is dict else {}


def tables(tree: Tree, key: str) -> list[Tree]:
    """The list of mappings at `key`; entries of another type become empty ones."""
    value = tree.get(key)
    if type(value) is not list:
        return []
    for entry in value:
        if type(entry) is not dict:
            return [each if type(each) is dict else {} for each in value]
    return value


def text(tree: Tree, key: str) -> str:
    """The string at `key`, or empty."""
    value = tree.get(key)
    return value if type(value) is str else ""


def texts(tree: Tree, key: str) -> list[str]:
    """The list of strings at `key`; entries of another type become empty ones."""
    return [entry if type(entry) is str else "" for entry in sequence(tree.get(key))]


def number(tree: Tree, key: str) -> int | None:
    """The integer at `key`, or None."""
    value = tree.get(key)
    return value if type(value) is int else None


def sequence(value: Any) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if type(value) is list else []


def value_at(tree: Any, path: Path, default: Any = None) -> Any:
    """The value at `path`, or `default`."""
    for part in path:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            return default
    return tree


def replaced(tree: Any, path: Path, value: Any) -> Any:
    """A copy of a tree with `value` at `path`, which is not empty and whose parents exist. Shares everything else."""
    copy = tree.copy()
    copy[path[0]] = replaced(tree[path[0]], path[1:], value) if path[1:] else value
    return copy


def metadata_of(tree: Tree) -> Tree:
    """The object's metadata, or empty."""
    return table(tree, "metadata")


def name_of(tree: Tree) -> str:
    """`metadata.name`, or empty."""
    return text(metadata_of(tree), "name")


def object_name(tree: Tree) -> str:
    """Kind and name as kubectl writes them: `JobSet/llm`."""
    return f"{text(tree, 'kind')}/{name_of(tree)}"


def copied(value: Any) -> Any:
    """A deep copy of a plain tree."""
    if type(value) is dict:
        return {key: copied(each) if type(each) is dict or type(each) is list else each for key, each in value.items()}
    return [copied(each) for each in value] if type(value) is list else value


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a tree with `change` applied to every string value; keys stay."""
    if isinstance(value, dict):
        return {key: map_texts(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [map_texts(each, change) for each in value]
    return change(value) if isinstance(value, str) else value


def without_nulls(tree: T) -> T:
    """The tree without null values, as the API server prunes them. Shares subtrees without nulls."""
    return without(tree, _is_null) if _has_nulls(tree) else tree


def _has_nulls(value: Any) -> bool:
    """Whether any key below is null; nearly no tree has one, so this is checked before pruning."""
    if isinstance(value, dict):
        for child in value.values():
            if child is None or (isinstance(child, (dict, list)) and _has_nulls(child)):
                return True
    elif isinstance(value, list):
        for child in value:
            if isinstance(child, (dict, list)) and _has_nulls(child):
                return True
    return False


def _is_null(value: Any) -> bool:
    return value is None


def without(value: Any, is_gone: Callable[[Any], bool]) -> Any:
    """The tree without keys whose value satisfies `is_gone`; shares subtrees that have none."""
    if isinstance(value, dict):
        kept = {key: without(child, is_gone) for key, child in value.items() if not is_gone(child)}
        same = len(kept) == len(value) and all(map(is_, kept.values(), value.values()))
        return value if same else kept
    if isinstance(value, list):
        items = [without(child, is_gone) for child in value]
        return value if all(map(is_, items, value)) else items
    return value
