"""Is an object shaped as the API server wants it?

The schemas are those of the CRDs of Trainer, JobSet and the gang schedulers, pod templates included. A field
that they do not know is a problem, because the API server drops it without a word. CEL rules and webhooks are
no part of them. As the API server does, a null counts as an absent field.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Path
from trainform.k8s.schema_explain import SchemaProblem, explain
from trainform.k8s.schemas import Schema, definitions, reference, resolved

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

__all__ = ["SchemaProblem", "check", "check_each"]

_KEYS = "x-kubernetes-list-map-keys"
_KEY_DEFAULTS = {"protocol": "TCP"}
"""What the CRDs fill in before they compare the entries of a list."""


def check(kind: str, tree: object) -> list[SchemaProblem]:
    """All problems of `tree` as a `kind`, in the schema's order; none when it is valid.

    `kind` is the API's name of any type that a TrainJob, a runtime or a JobSet is made of ("JobSetSpec",
    "EnvVar", "PodTemplateSpec"), "ConfigMap", "coscheduling PodGroup" or "volcano PodGroup"; another one is a
    KeyError. At most one problem is found per element.
    """
    if _validator(kind).is_valid(tree) and not (isinstance(tree, dict) and _repeats(_keyed_lists(kind), tree)):
        return []
    return _problems(kind, tree)


def check_each(kind: str, trees: list[object]) -> list[SchemaProblem]:
    """All problems of a list of objects of one kind; paths begin with the place in the list."""
    if _validator(kind, many=True).is_valid(trees) and not _keyed_lists(kind):
        return []
    return [
        SchemaProblem((index, *problem.path), problem.code, problem.message, problem.hint)
        for index, tree in enumerate(trees)
        for problem in check(kind, tree)
    ]


def _problems(kind: str, tree: object) -> list[SchemaProblem]:
    tree = _without_nulls(reference(kind), tree)
    found = [problem for error in _validator(kind).iter_errors(tree) for problem in explain(error)]
    found += _duplicates(_keyed_lists(kind), tree, ())
    # A wrong type says it all; an enum of the same element would say it twice.
    found.sort(key=lambda problem: problem.code == "TF104")
    return list({problem.path: problem for problem in reversed(found)}.values())[::-1]


@cache
def _validator(kind: str, *, many: bool = False) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator, RegexOptions

    schema = {"items": reference(kind)} if many else reference(kind)
    schema = schema | {"$defs": definitions()}
    return Draft202012Validator(schema, pattern_options=RegexOptions())


def _without_nulls(schema: Schema, tree: Any) -> Any:
    """A copy of `tree` without the nulls that the API server takes for absent fields.

    Nulls in lists and of unknown fields stay, except the `creationTimestamp: null` that kubectl prints.
    """
    schema = resolved(schema)
    if isinstance(tree, list):
        return [_without_nulls(schema.get("items", {}), item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    fields = schema.get("properties", {})
    others = schema.get("additionalProperties") or None
    kept = {}
    for name, value in tree.items():
        known = fields.get(name, others)
        if value is not None or (known is None and name != "creationTimestamp"):
            kept[name] = value if known is None else _without_nulls(known, value)
    return kept


class _Step(NamedTuple):
    """A field that is, or leads to, a list whose entries must differ in some fields."""

    keys: tuple[str, ...] | None
    many: bool
    inner: _Steps


_Steps = dict[str, _Step]


@cache
def _keyed_lists(kind: str) -> _Steps:
    return _steps(reference(kind))


def _steps(schema: Schema) -> _Steps:
    found = {}
    for name, declared in resolved(schema).get("properties", {}).items():
        field = resolved(declared)
        many = field.get("type") == "array"
        inner = _steps(field["items"] if many else field)
        keys = tuple(field[_KEYS]) if _KEYS in field else None
        if inner or keys is not None:
            found[name] = _Step(keys, many, inner)
    return found


def _repeats(steps: _Steps, tree: dict[str, Any]) -> bool:
    """Might a list of `tree`, which is valid otherwise, hold an entry twice? Fast, for `_duplicates`."""
    for name, value in tree.items():
        step = steps.get(name)
        if step is None:
            continue
        keys, many, inner = step
        if not many:
            if _repeats(inner, value):
                return True
            continue
        if keys is not None and len(value) > 1 and _repeated_key(keys, value):
            return True
        if inner:
            for item in value:
                if _repeats(inner, item):
                    return True
    return False


def _repeated_key(keys: tuple[str, ...], items: list[Any]) -> bool:
    if len(keys) == 1:
        key = keys[0]
        return len({item.get(key) for item in items}) < len(items)
    return len({_identity(keys, item) for item in items}) < len(items)


def _duplicates(steps: _Steps, tree: Any, path: Path) -> Iterator[SchemaProblem]:
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
            yield from _duplicates(inner, item, (*path, name, index) if many else (*path, name))


def _repeated(keys: tuple[str, ...], items: list[Any], path: Path) -> Iterator[SchemaProblem]:
    first: dict[tuple[Any, ...], int] = {}
    for index, item in enumerate(items):
        identity = _identity(keys, item)
        if identity is None:
            continue
        before = first.setdefault(identity, index)
        if before != index:
            yield _duplicate((*path, index), keys, identity, before)


def _identity(keys: tuple[str, ...], item: Any) -> tuple[Any, ...] | None:
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
    return SchemaProblem(path, "TF105", message, "keep one of the two, or tell them apart")
