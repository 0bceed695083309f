"""Kubernetes' own types as JSON Schema, from the schemas that the compiler checks with.

A definition has no `type`: each use says it, since a null counts as absent in a field, but not as an entry of a list.
What only our check understands (`x-…`) is left out.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from trainform.k8s.schema.definitions import Schema, definitions, referenced, resolved
from trainform.k8s.schema.keywords import LIST_KEYS, REFUSES_NULL, types_of

_SCALAR_KEYWORDS = (
    "default", "enum", "pattern", "minimum", "maximum",
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
)  # fmt: skip
_WRITTEN_BY_KUBECTL: Schema = {"patternProperties": {"^creationTimestamp$": {"type": "null"}}}
"""`kubectl create --dry-run` writes it into the metadata of templates. Our check takes it in any object."""

Refer = Callable[[str], Schema]
"""Makes a reference to a type by its name, and sees to it that the type is defined."""


def use(schema: Schema, refer: Refer, *, nullable: bool = False) -> Schema:
    """A schema where it is used: as a field, or with `nullable` as one that may be null."""
    name = referenced(schema)
    found = refer(name) if name else define(schema, refer)
    types = types_of(resolved(schema))
    return typed(found, *types, nullable=nullable) if types else found


def typed(schema: Schema, *types: str, nullable: bool) -> Schema:
    """The schema for values of these types, and null."""
    allowed = [*types, "null"] if nullable else [*types]
    found = {"type": allowed if len(allowed) > 1 else allowed[0], **schema}
    return found | {"enum": [*found["enum"], None]} if nullable and "enum" in found else found


def define(schema: Schema, refer: Refer, texts: dict[str, str] | None = None) -> Schema:
    """What a schema says beside its type. `texts` describe its fields."""
    found = {keyword: schema[keyword] for keyword in _SCALAR_KEYWORDS if keyword in schema}
    if "properties" in schema:
        found["properties"] = dict(_fields(schema, refer, texts or {}))
    if "additionalProperties" in schema:
        others = schema["additionalProperties"]
        nullable = not schema.get(REFUSES_NULL)
        found["additionalProperties"] = others and use(others, refer, nullable=nullable)
        found |= {} if others else _WRITTEN_BY_KUBECTL
    if "items" in schema:
        found["items"] = use(schema["items"], refer)
    if schema.get(LIST_KEYS) == []:
        found["uniqueItems"] = True
    return found | ({"required": schema["required"]} if "required" in schema else {})


def definition(name: str, refer: Refer) -> Schema:
    """The definition of a type of Kubernetes, JobSet or Kueue; KeyError if it is unknown."""
    return define(definitions()[name], refer, _texts().get(name))


def _fields(schema: Schema, refer: Refer, texts: dict[str, str]) -> Iterator[tuple[str, Schema]]:
    for name, field in schema["properties"].items():
        found = use(field, refer, nullable=name not in schema.get("required", ()))
        yield name, found | ({"description": texts[name]} if name in texts else {})


@cache
def _texts() -> dict[str, dict[str, str]]:
    """What upstream says of each field, by type and field."""
    data = pkgutil.get_data("trainform.k8s.schema", "descriptions.json")
    found: dict[str, dict[str, Any]] = json.loads(data or b"{}")
    return found
