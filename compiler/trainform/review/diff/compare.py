"""Compares two versions of an object field by field, by meaning. List entries are matched by their type's merge key
(containers by name, for instance), quantities by amount, and an explicit default equals an absent one. Lists of a
JobSet keep their order: the API compares them whole, and refuses reordered containers or variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from trainform.diagnostics import Path
from trainform.k8s.defaults import admit
from trainform.k8s.patch.merge_keys import JOB_SET, OBJECT, PLAIN, MergeNode
from trainform.k8s.quantity import QuantityError, parse
from trainform.k8s.schema.validate import check
from trainform.k8s.tree import Tree, map_texts

_OPEN_MAPS = frozenset(
    [
        *("labels", "annotations", "nodeSelector", "matchLabels"),
        *("data", "stringData", "binaryData", "encryptedData"),
        *("limits", "requests", "overhead", "minResources"),
    ]
)
"""Mappings whose keys are the user's: absent equals empty."""

_STRUCTS = frozenset(["metadata", "resources", "status"])
"""Fields that Go holds by value: absent equals empty, so what comes or goes with them is what is in them."""

_AMOUNTS = frozenset(["limits", "requests", "overhead", "minResources", "capacity"])
_AMOUNT_FIELDS = frozenset(["sizeLimit", "divisor"])


class FieldChange(NamedTuple):
    """One changed field. `before` or `after` is None if the field is absent there. `path` uses list indexes after the
    change, or before it if the entry is gone. `named` is the same path for people, with merge keys for indexes:
    `spec.replicatedJobs[node].replicas`."""

    path: Path
    named: str
    before: Any
    after: Any


def compare(before: Tree, after: Tree) -> list[FieldChange]:
    """Every difference between two objects of one kind, in field order."""
    is_jobset = before.get("kind") == "JobSet"
    found: list[FieldChange] = []
    walk = _Walk(found.append, ordered=is_jobset)
    walk.values((), "", _stored(before), _stored(after), JOB_SET if is_jobset else OBJECT)
    return found


def _stored(tree: Tree) -> Tree:
    """The object as the API server would store it; unchanged if it would be rejected."""
    return tree if tree.get("kind") == "JobSet" and check("JobSet", tree) else admit(tree)


class _Walk(NamedTuple):
    tell: Callable[[FieldChange], None]
    ordered: bool

    def values(self, path: Path, named: str, before: Any, after: Any, node: MergeNode) -> None:
        if path and _is_never_absent(path) and not isinstance(before or after, list):
            before, after = before or {}, after or {}
        if isinstance(before, dict) and isinstance(after, dict):
            self._maps(path, named, before, after, node)
        elif isinstance(before, list) and isinstance(after, list):
            self._lists(path, named, before, after, node)
        elif not _same(path, before, after):
            self.tell(FieldChange(path, named, before, after))

    def _maps(self, path: Path, named: str, before: Tree, after: Tree, node: MergeNode) -> None:
        for key in before | after:
            old, new = before.get(key), after.get(key)
            if old is not new:
                inner = f"{named}.{key}" if named else key
                self.values((*path, key), inner, old, new, node.fields.get(key, PLAIN))

    def _lists(self, path: Path, named: str, before: list[Any], after: list[Any], node: MergeNode) -> None:
        old, new = _by_key(before, node), _by_key(after, node)
        if old is not None and new is not None:
            self._keyed(path, named, old, new, node)
        elif len(before) == len(after) and all(isinstance(item, dict) for item in (*before, *after)):
            for index, (left, right) in enumerate(zip(before, after, strict=True)):
                self.values((*path, index), f"{named}[{index}]", left, right, MergeNode(node.fields))
        elif before != after and not (node.merges and sorted(map(repr, before)) == sorted(map(repr, after))):
            self.tell(FieldChange(path, named, before, after))

    def _keyed(self, path: Path, named: str, old: _Entries, new: _Entries, node: MergeNode) -> None:
        for key in old | new:
            index = (new.get(key) or old[key])[0]
            left, right = (entries[key][1] if key in entries else None for entries in (old, new))
            self.values((*path, index), f"{named}[{key}]", left, right, MergeNode(node.fields))
        kept = [[key for key in these if key in others] for these, others in ((old, new), (new, old))]
        if self.ordered and kept[0] != kept[1]:
            self.tell(FieldChange(path, f"{named} (order)", *kept))


_Entries = dict[Any, tuple[int, Tree]]


def _by_key(items: list[Any], node: MergeNode) -> _Entries | None:
    """Entries with their indexes, by merge key; None if the list has no key or an entry lacks it."""
    if not node.merge_key:
        return None
    entries = {
        item[node.merge_key]: (index, item)
        for index, item in enumerate(items)
        if isinstance(item, dict) and isinstance(item.get(node.merge_key), str | int)
    }
    return entries if len(entries) == len(items) else None


def _is_never_absent(path: Path) -> bool:
    """Whether an absent mapping equals an empty one. A pod's own `resources` are a pointer, unlike a container's."""
    of_pods = path[-3:] == ("template", "spec", "resources")
    return path[-1] in _OPEN_MAPS or (path[-1] in _STRUCTS and not of_pods)


def _same(path: Path, before: Any, after: Any) -> bool:
    if before == after:
        return isinstance(before, bool) == isinstance(after, bool)
    is_amount = path[-1] in _AMOUNT_FIELDS or (len(path) > 1 and path[-2] in _AMOUNTS)
    if not is_amount or before is None or after is None:
        return False
    try:
        return parse(before) == parse(after)
    except QuantityError:
        return False


def renamed(value: Any, name: str, to: str) -> Any:
    """A copy of a tree in which `to` replaces `name` in every string."""
    return map_texts(value, lambda text: text.replace(name, to))
