"""The schemas of everything read or written, in kubernetes.json (made by scripts/derive_schemas.py).

Every type stands in `$defs` under its API name. Two keywords speak of more than shape: `default` is what the
CRD fills in, and `x-go-omitempty` marks fields whose zero value vanishes when Go writes the object.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import quote, unquote

Schema = dict[str, Any]

_PREFIX = "#/$defs/"


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
    return {"$ref": _PREFIX + quote(kind)}


def resolved(schema: Schema) -> Schema:
    """The schema itself, or the one that its `$ref` names."""
    while "$ref" in schema:
        schema = definitions()[referenced(schema)]
    return schema


def referenced(schema: Schema) -> str:
    """The API name of the type that `schema` refers to, or the empty string."""
    return unquote(schema.get("$ref", "").removeprefix(_PREFIX))
