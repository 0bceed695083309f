"""Lists whose entries must differ in some of their fields: what JSON Schema has no words for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from trainform.diagnostics import Path
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.schemas import Schema, reference, resolved

KEYS = "x-kubernetes-list-map-keys"
"""The keyword that names those fields."""

_KEY_DEFAULTS = {"protocol": "TCP"}
"""What the CRDs fill in before they compare the entries of a list."""


class _Step(NamedTuple):
    """A field that is, or leads to, a list whose entries must differ in some fields."""

    keys: tuple[str, ...] | None
    many: bool
    inner: Steps


Steps = dict[str, _Step]


@cache
def keyed_lists(kind: str) -> Steps:
    """The keyed lists of a `kind`, by the fields that lead to them."""
    return _steps(reference(kind))


def _steps(schema: Schema) -> Steps:
    found = {}
    for name, declared in resolved(schema).get("properties", {}).items():
        field = resolved(declared)
        many = field.get("type") == "array"
        inner = _steps(field["items"] if many else field)
        keys = tuple(field[KEYS]) if KEYS in field else None
        if inner or keys is not None:
            found[name] = _Step(keys, many, inner)
    return found


def repeats(steps: Steps, tree: dict[str, Any]) -> bool:
    """Might a list of `tree`, which is valid otherwise, hold an entry twice? Fast, for `duplicates`."""
    for name, (keys, many, inner) in steps.items():
        value = tree.get(name)
        if value is None:
            continue
        if not many:
            if repeats(inner, value):
                return True
            continue
        if keys is not None and len(value) > 1 and repeated_key(keys, value):
            return True
        if inner:
            for item in value:
                if repeats(inner, item):
                    return True
    return False


def repeated_key(keys: Sequence[str], items: list[Any]) -> bool:
    """Do some of `items`, each of which is valid, have one key?"""
    if len(keys) == 1:
        key = keys[0]
        return len({item.get(key) for item in items}) < len(items)
    return len({_identity(keys, item) for item in items}) < len(items)


def duplicates(steps: Steps, tree: Any, path: Path) -> Iterator[SchemaProblem]:
    """The entries of lists in `tree` that repeat an earlier one; `tree` may be of any shape."""
    if not isinstance(tree, dict):
        return
    for name, (keys, many, inner) in steps.items():
        if name not in tree:
            continue
        items = tree[name] if many else [tree[name]]
        if not isinstance(items, list):
            continue
        if keys is not None:
            yield from _repeated(keys, items, (*path, name))
        for index, item in enumerate(items):
            yield from duplicates(inner, item, (*path, name, index) if many else (*path, name))


def _repeated(keys: tuple[str, ...], items: list[Any], path: Path) -> Iterator[SchemaProblem]:
    first: dict[tuple[Any, ...], int] = {}
    for index, item in enumerate(items):
        identity = _identity(keys, item)
        if identity is None:
            continue
        before = first.setdefault(identity, index)
        if before != index:
            yield _duplicate((*path, index), keys, identity, before)


def _identity(keys: Sequence[str], item: Any) -> tuple[Any, ...] | None:
    """What tells an entry from the others; None when it lacks a key (which is a problem of its own)."""
    if not keys:
        return (item,) if isinstance(item, (str, int)) else None
    if not isinstance(item, dict):
        return None
    found = tuple(item.get(key, _KEY_DEFAULTS.get(key)) for key in keys)
    return found if all(isinstance(part, (str, int)) for part in found) else None


def _duplicate(path: Path, keys: tuple[str, ...], identity: tuple[Any, ...], before: int) -> SchemaProblem:
    parts = [f"{key} {value}" for key, value in zip(keys, identity, strict=False)] or [str(identity[0])]
    message = f"has the same {' and '.join(parts)} as entry [{before}]"
    return SchemaProblem(path, "TF105", message, "remove one of them, or make them distinct")
