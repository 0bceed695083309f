"""Full schema check. Unknown fields are problems because the API server drops them silently; nulls count as absent. CEL
rules and webhooks are not covered."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from trainform.diagnostics import Path
from trainform.k8s.schema import messages
from trainform.k8s.schema.definitions import Schema, definitions, resolved
from trainform.k8s.schema.fits import fits
from trainform.k8s.schema.keywords import LIST_KEYS, REFUSES_NULL, broken_keyword, duplicates, type_of, types_of
from trainform.k8s.schema.messages import SchemaProblem

__all__ = ["SchemaProblem", "check", "check_each", "first"]


def check(kind: str, tree: object) -> list[SchemaProblem]:
    """Problems of `tree` as a `kind` in field order, at most one per element. KeyError for an unknown `kind`.

    `kind` is the API name of any type in a TrainJob, runtime or JobSet ("JobSetSpec", "EnvVar", "PodTemplateSpec"),
    "ConfigMap", "coscheduling PodGroup", "volcano PodGroup" or a kind of cluster fact.
    """
    return [] if fits(kind)(tree) else first(_problems(definitions()[kind], tree, ()))


def check_each(kind: str, trees: list[object]) -> list[SchemaProblem]:
    """Problems of a list of objects of one kind; paths start with the list index."""
    if all(map(fits(kind), trees)):
        return []
    schema = definitions()[kind]
    return first(problem for index, tree in enumerate(trees) for problem in _problems(schema, tree, (index,)))


def first(problems: Iterator[SchemaProblem]) -> list[SchemaProblem]:
    """The first problems of an object, and one that says that there are more."""
    found = list(islice(problems, messages.MOST_PROBLEMS))
    more = next(problems, None)
    return [*found, messages.more_problems(more.path)] if more else found


def _problems(schema: Schema, value: Any, path: Path) -> Iterator[SchemaProblem]:
    schema = resolved(schema)
    allowed = types_of(schema)
    if allowed and type_of(value) not in allowed:
        yield from messages.wrong_type(path, allowed, value)
        return
    if isinstance(value, dict):
        value = _without_nulls(schema, value)
        yield from _of_fields(schema, value, path)
    elif isinstance(value, list):
        yield from _of_entries(schema, value, path)
    if keyword := broken_keyword(schema, value):
        yield SchemaProblem(path, "TF104", *messages.out_of_limit(keyword, schema.get(keyword), value))


def _of_fields(schema: Schema, tree: dict[str, Any], path: Path) -> Iterator[SchemaProblem]:
    fields, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    unknown = [name for name in tree if fields.get(name, others) is False]
    reported = frozenset(unknown[: messages.MOST_UNKNOWN])
    for name, value in tree.items():
        known = fields.get(name, others)
        if name in reported:
            yield messages.unknown(path, name, fields, tree)
        elif known is not False:
            yield from _problems(known, value, (*path, name))
    if len(unknown) > len(reported):
        yield messages.more_unknown(path, len(unknown) - len(reported))
    for name in schema.get("required", ()):
        if name not in tree:
            yield messages.missing(path, name, fields, tree)


def _of_entries(schema: Schema, items: list[Any], path: Path) -> Iterator[SchemaProblem]:
    for index, item in enumerate(items):
        yield from _problems(schema.get("items", {}), item, (*path, index))
    if (keys := schema.get(LIST_KEYS)) is not None:
        for index, before, values in duplicates(keys, items):
            yield messages.duplicate((*path, index), keys, values, before)


def _without_nulls(schema: Schema, tree: dict[str, Any]) -> dict[str, Any]:
    """`tree` without nulls, except in unknown fields, which are reported (but not kubectl's `creationTimestamp:
    null`)."""
    if schema.get(REFUSES_NULL):
        return tree
    fields, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    return {
        name: value
        for name, value in tree.items()
        if value is not None or (fields.get(name, others) is False and name != "creationTimestamp")
    }
