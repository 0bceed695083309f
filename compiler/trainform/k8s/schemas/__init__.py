"""The schemas of everything read or written, in kubernetes.json (made by scripts/derive_schemas.py).

Every type stands in `$defs` under its API name. Two keywords speak of more than shape: `default` is what the
CRD fills in, and `x-go-omitempty` marks fields whose zero value vanishes when Go writes the object.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

Schema = dict[str, Any]

_PREFIX = "#/$defs/"
_SPACE = "%20"
"""As in any URI; no name holds anything else that would have to be quoted."""


@cache
def definitions() -> dict[str, Schema]:
    """The schema of every type, by its API name. Read only: the dict is shared."""
    import json
    import pkgutil

    data = pkgutil.get_data("trainform.k8s.schemas", "kubernetes.json")
    if data is None:
        raise FileNotFoundError("trainform.k8s.schemas: kubernetes.json")
    found: dict[str, Schema] = json.loads(data)["$defs"]
    return found


def reference(kind: str) -> Schema:
    """The schema that stands for a `kind`; KeyError when there is none."""
    if kind not in definitions():
        raise KeyError(kind)
    return {"$ref": _PREFIX + kind.replace(" ", _SPACE)}


def reachable(kind: str) -> dict[str, Schema]:
    """The definitions that a `kind` is made of, its own included: a validator compiles all that it is given."""
    found: dict[str, Schema] = {}
    left = [kind]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = definitions()[name]
            left += _referenced(found[name])
    return found


def _referenced(schema: Schema) -> Iterator[str]:
    """The types that a schema refers to, with repetitions."""
    if "$ref" in schema:
        yield referenced(schema)
    inner = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    for each in inner:
        if each:
            yield from _referenced(each)


def resolved(schema: Schema) -> Schema:
    """The schema itself, or the one that its `$ref` names."""
    while "$ref" in schema:
        schema = definitions()[referenced(schema)]
    return schema


def referenced(schema: Schema) -> str:
    """The API name of the type that `schema` refers to, or the empty string."""
    target: str = schema.get("$ref", "")
    return target.removeprefix(_PREFIX).replace(_SPACE, " ")
