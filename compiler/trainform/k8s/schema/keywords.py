"""The JSON Schema keywords that our schemas use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from trainform.k8s.schema.definitions import Schema

LIST_KEYS = "x-kubernetes-list-map-keys"
REFUSES_NULL = "x-refuses-null"

_TYPES = {
    **{dict: "object", list: "array", str: "string", int: "integer", float: "number", bool: "boolean"},
    type(None): "null",
}
_SIZES = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_LIST_KEY_DEFAULTS = {"protocol": "TCP"}
"""CRD defaults that apply before list entries are compared."""


def types_of(schema: Schema) -> list[str]:
    """JSON types that a schema allows; empty if any."""
    allowed = schema.get("type", [])
    return allowed if isinstance(allowed, list) else [allowed]


def type_of(value: Any) -> str:
    """The JSON type of a value. Integral numbers are read as `int`, so that a float has a fraction or is too large."""
    return _TYPES[type(value)]


def broken_keyword(schema: Schema, value: Any) -> str:
    """The keyword that a value of an allowed type breaks, ignoring its contents; empty if none."""
    kind = type_of(value)
    if kind == "null":
        return ""
    if kind == "string" and value not in schema.get("enum", (value,)):
        return "enum"
    least, most = _SIZES.get(kind, ("minimum", "maximum"))
    size = len(value) if kind in _SIZES else value
    if size < schema.get(least, size):
        return least
    if size > schema.get(most, size):
        return most
    # All our patterns are anchored at both ends.
    return "pattern" if kind == "string" and "pattern" in schema and not re.fullmatch(schema["pattern"], value) else ""


def duplicates(keys: Sequence[str], items: list[Any]) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    """Entries with the key of an earlier one: both indexes and the key's values."""
    first: dict[tuple[Any, ...], int] = {}
    for index, item in enumerate(items):
        values = _key_of(keys, item)
        if values and first.setdefault(values, index) != index:
            yield index, first[values], values


def _key_of(keys: Sequence[str], item: Any) -> tuple[Any, ...]:
    """The values that identify an entry; empty if one is missing, which is reported elsewhere."""
    if not keys:
        return (item,) if isinstance(item, (str, int)) else ()
    if not isinstance(item, dict):
        return ()
    values = tuple(_LIST_KEY_DEFAULTS.get(key) if item.get(key) is None else item[key] for key in keys)
    return values if all(isinstance(value, (str, int)) for value in values) else ()
