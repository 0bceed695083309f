"""The leaves of an object, each under a key that stays stable while lists around it grow or are reordered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.k8s.patch.merge_keys import JOB_SET, OBJECT, PLAIN, MergeNode

if TYPE_CHECKING:
    from trainform.core.provenance import Key
    from trainform.diagnostics import Path
    from trainform.k8s.tree import Tree

_NAMED_BY_WEBHOOK = re.compile(r"failurePolicyRule\d+")
"""Names that JobSet derives from a rule's index, which therefore do not identify it."""


class Leaf(NamedTuple):
    """A scalar, or an empty map or list, with its key and its path in the tree."""

    key: Key
    path: Path
    value: Any


def node_of(kind: str) -> MergeNode:
    """How the lists in an object of this kind are keyed."""
    return JOB_SET if kind == "JobSet" else OBJECT


def node_below(node: MergeNode, key: Key) -> MergeNode:
    """How lists below an element are keyed."""
    for part in key:
        if isinstance(part, str):
            node = node.fields.get(part, PLAIN)
    return node


def leaves(tree: Any, node: MergeNode, key: Key = (), path: Path = ()) -> Iterator[Leaf]:
    """Every leaf of `tree`, in order, without nulls. `key` and `path` are those of `tree` itself."""
    if isinstance(tree, dict) and tree:
        for name, value in tree.items():
            yield from leaves(value, node.fields.get(name, PLAIN), (*key, name), (*path, name))
    elif isinstance(tree, list) and tree:
        names = _names(tree, node.merge_key)
        for index, (name, value) in enumerate(zip(names, tree, strict=True)):
            yield from leaves(value, node, (*key, name), (*path, index))
    elif tree is not None:
        yield Leaf(key, path, type(tree)() if tree in ({}, []) else tree)


def leaves_of(tree: Tree) -> Iterator[Leaf]:
    """Every leaf of an object."""
    return leaves(tree, node_of(tree["kind"]))


def same(left: object, right: object) -> bool:
    """Whether two leaves are equal; true and 1 are not."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _names(entries: list[Any], merge_key: str) -> list[tuple[str, int]]:
    seen: dict[str, int] = {}
    names = []
    for entry in entries:
        name = _name(entry, merge_key)
        names.append((name, seen.setdefault(name, 0)))
        seen[name] += 1
    return names


def _name(entry: Any, merge_key: str) -> str:
    """An entry's identity: its merge key, else its name, else the name of the one thing it references."""
    if not isinstance(entry, dict):
        return ""
    name = entry.get(merge_key or "name")
    if name is None and not merge_key:
        name = next((inner["name"] for inner in entry.values() if _is_named(inner)), None)
    return "" if name is None or _NAMED_BY_WEBHOOK.fullmatch(str(name)) else str(name)


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)
