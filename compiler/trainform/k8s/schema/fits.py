"""A fast check that most trees pass, so that nothing else runs. Schemas become functions on first use. False means that
`validate` must look closer, since a null may be an absent field."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any

from trainform.k8s.schema.definitions import Schema, definitions, referenced, resolved
from trainform.k8s.schema.keywords import LIST_KEYS, broken_keyword, duplicates, types_of

Fits = Callable[[Any], bool]

_PYTHON = {"string": str, "integer": int, "boolean": bool}
_LIMITS = frozenset(["enum", "pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"])


@cache
def fits(kind: str) -> Fits:
    """The fast check for `kind`; KeyError if unknown."""
    return _made(definitions()[kind])


def _made(schema: Schema) -> Fits:
    if "$ref" in schema:
        return fits(referenced(schema))
    match schema.get("type"):
        case None:
            return lambda value: True
        case "object":
            return _object(schema) if "properties" in schema else _map(schema)
        case "array":
            return _array(schema)
    return _scalar(schema)


def _plain_type(schema: Schema) -> type | None:
    """The Python type that is all of `schema`, if it says nothing else. Comparing types saves a call for each value."""
    types = [] if "$ref" in schema or not _LIMITS.isdisjoint(schema) else types_of(schema)
    return _PYTHON.get(types[0]) if len(types) == 1 else None


class _Fields(dict[str, Fits]):
    """Checks for an object's fields by name, each made on first use."""

    def __init__(self, schema: Schema) -> None:
        others = schema.get("additionalProperties", {})
        self.fields = schema["properties"]
        self.other = (lambda value: False) if others is False else _made(others)

    def __missing__(self, name: str) -> Fits:
        if name not in self.fields:
            return self.other
        self[name] = made = _made(self.fields[name])
        return made


def _object(schema: Schema) -> Fits:
    fields, required, least = _Fields(schema), frozenset(schema.get("required", ())), schema.get("minProperties", 0)
    plain = {name: _plain_type(field) for name, field in schema["properties"].items()}

    def fits_object(tree: Any) -> bool:
        if type(tree) is not dict or len(tree) < least:
            return False
        for name, value in tree.items():
            if plain.get(name) is not type(value) and not fields[name](value):
                return False
        return not required or tree.keys() >= required

    return fits_object


def _map(schema: Schema) -> Fits:
    values, least = schema.get("additionalProperties", {}), schema.get("minProperties", 0)
    fits_value, plain = _made(values), frozenset([_plain_type(values)])
    if None not in plain:
        return lambda tree: type(tree) is dict and len(tree) >= least and plain.issuperset(map(type, tree.values()))
    return lambda tree: type(tree) is dict and len(tree) >= least and all(map(fits_value, tree.values()))


def _array(schema: Schema) -> Fits:
    fits_item, is_limited = _made(schema["items"]), not _LIMITS.isdisjoint(schema)
    are_distinct = _distinct(schema)

    def fits_array(items: Any) -> bool:
        if type(items) is not list or (is_limited and broken_keyword(schema, items)):
            return False
        return all(map(fits_item, items)) and (len(items) < 2 or are_distinct(items))

    return fits_array


def _distinct(schema: Schema) -> Callable[[list[Any]], bool]:
    """Whether the items of a list, each valid, differ in the keys that `schema` names."""
    keys = schema.get(LIST_KEYS)
    if keys is None:
        return lambda items: True
    if keys and set(keys) <= set(resolved(schema["items"]).get("required", ())):
        key_of = itemgetter(*keys)
        return lambda items: len(set(map(key_of, items))) == len(items)
    return lambda items: not any(duplicates(keys, items))


def _scalar(schema: Schema) -> Fits:
    types = [_PYTHON[name] for name in types_of(schema)]
    if not _LIMITS.isdisjoint(schema):
        is_sound = lru_cache(lambda value: not broken_keyword(schema, value))  # jobs repeat a few values
        return lambda value: type(value) in types and is_sound(value)
    if len(types) == 1:
        only = types[0]
        return lambda value: type(value) is only
    return lambda value: type(value) in types
