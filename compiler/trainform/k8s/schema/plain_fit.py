"""A look at a tree by hand, which finds most trees valid: the validator of `schema` takes 13 ms to import and to
make, and a run that has few trees, all of them good, needs none.

It is the validator's word that counts. What is said here is "surely", or nothing: every doubt is a no.
"""

from __future__ import annotations

import re
from typing import Any

from trainform.k8s.schema.keyed_lists import KEYS, repeated_key
from trainform.k8s.schemas import Schema, resolved

_TYPES = {dict: "object", list: "array", str: "string", int: "integer", bool: "boolean"}
_LARGE = 2**63


def surely_fits(schema: Schema, tree: object) -> bool:
    """Is `tree` valid without any doubt, its lists free of entries of one key included?"""
    schema = resolved(schema)
    found, wanted = _TYPES.get(type(tree)), schema.get("type")
    if found is None or (found != wanted and not (isinstance(wanted, list) and found in wanted)):
        return False
    return bool(_FITS[found](schema, tree))


def _object_fits(schema: Schema, tree: dict[str, Any]) -> bool:
    if len(tree) < schema.get("minProperties", 0) or not all(name in tree for name in schema.get("required", ())):
        return False
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, value in tree.items():
        known = fields.get(name, others)
        if not known or not surely_fits(known, value):
            return False
    return True


def _array_fits(schema: Schema, items: list[Any]) -> bool:
    if not schema.get("minItems", 0) <= len(items) <= schema.get("maxItems", len(items)):
        return False
    if not all(surely_fits(schema["items"], item) for item in items):
        return False
    return KEYS not in schema or not repeated_key(schema[KEYS], items)


def _string_fits(schema: Schema, text: str) -> bool:
    if not schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text)):
        return False
    if text not in schema.get("enum", (text,)):
        return False
    # The end that `$` stands for is another one in the validator, where the text ends with a newline.
    return "pattern" not in schema or ("\n" not in text and re.search(schema["pattern"], text) is not None)


def _integer_fits(schema: Schema, number: int) -> bool:
    return bool(schema.get("minimum", -_LARGE) <= number <= schema.get("maximum", _LARGE))


def _boolean_fits(schema: Schema, flag: bool) -> bool:
    return True


_FITS: dict[str, Any] = {
    "object": _object_fits,
    "array": _array_fits,
    "string": _string_fits,
    "integer": _integer_fits,
    "boolean": _boolean_fits,
}
