"""Whether a tree is valid beyond doubt, decided fast: nearly every tree is, and then nothing else runs.

A schema becomes a function from a value to yes or no, the first time that it is used. No means "look closer": a null,
which may stand for an absent field, is such a doubt. `validate` looks closer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from trainform.k8s.schema.definitions import Schema, definitions, referenced
from trainform.k8s.schema.keywords import LIST_KEYS, broken_keyword, duplicates, types_of

Fits = Callable[[Any], bool]

_PYTHON = {"string": str, "integer": int, "boolean": bool}
_LIMITS = frozenset(["enum", "pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"])


@cache
def fits(kind: str) -> Fits:
    """Whether a value is a valid `kind` beyond doubt; KeyError where there is no such kind."""
    return _made(definitions()[kind])


def _made(schema: Schema) -> Fits:
    if "$ref" in schema:
        return fits(referenced(schema))
    match schema.get("type"):
        case None:
            return _anything
        case "object":
            return _object(schema)
        case "array":
            return _array(schema)
    return _scalar(schema)


def _anything(_value: Any) -> bool:
    return True


def _nothing(_value: Any) -> bool:
    return False


class _Fields(dict[str, Fits]):
    """The functions for the fields of an object by name, each made when it is first needed."""

    def __init__(self, schema: Schema) -> None:
        others = schema.get("additionalProperties", {})
        self.fields = schema.get("properties", {})
        self.other = _nothing if others is False else _made(others)

    def __missing__(self, name: str) -> Fits:
        if name not in self.fields:
            return self.other
        self[name] = made = _made(self.fields[name])
        return made


def _object(schema: Schema) -> Fits:
    fields, required, least = _Fields(schema), frozenset(schema.get("required", ())), schema.get("minProperties", 0)

    def fits_object(tree: Any) -> bool:
        if type(tree) is not dict or len(tree) < least:
            return False
        for name, value in tree.items():
            if not fields[name](value):
                return False
        return tree.keys() >= required

    return fits_object


def _array(schema: Schema) -> Fits:
    fits_item, keys, is_limited = _made(schema["items"]), schema.get(LIST_KEYS), not _LIMITS.isdisjoint(schema)

    def fits_array(items: Any) -> bool:
        if type(items) is not list or (is_limited and broken_keyword(schema, items)):
            return False
        for item in items:
            if not fits_item(item):
                return False
        return keys is None or len(items) < 2 or not any(duplicates(keys, items))

    return fits_array


def _scalar(schema: Schema) -> Fits:
    types = tuple(_PYTHON[name] for name in types_of(schema))
    if _LIMITS.isdisjoint(schema):
        return lambda value: type(value) in types
    return lambda value: type(value) in types and not broken_keyword(schema, value)
