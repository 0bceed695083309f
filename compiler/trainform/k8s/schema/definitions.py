"""The schemas in kubernetes.json (made by scripts/derive_schemas.py), under `$defs` by API name.

Beyond JSON Schema: `default` is the CRD's default, `x-go-omitempty` marks fields whose zero value Go drops,
`x-kubernetes-list-map-keys` names the fields that must be unique in a list (none: the entries themselves), and
`x-refuses-null` marks maps in which a null is a value of a wrong type, not an absent entry.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainform.diagnostics import Path

Schema = dict[str, Any]

_PREFIX = "#/$defs/"
_SPACE = "%20"
"""URI-escaped; names contain no other character that needs quoting."""


@cache
def definitions() -> dict[str, Schema]:
    """Every schema by API name. Shared: do not mutate."""
    import json
    import pkgutil

    data = pkgutil.get_data("trainform.k8s.schema", "kubernetes.json")
    if data is None:
        raise FileNotFoundError("trainform.k8s.schema: kubernetes.json")
    found: dict[str, Schema] = json.loads(data)["$defs"]
    return found


def reference(kind: str) -> Schema:
    """A schema that references `kind`; KeyError if unknown."""
    if kind not in definitions():
        raise KeyError(kind)
    return {"$ref": _PREFIX + kind.replace(" ", _SPACE)}


def resolved(schema: Schema) -> Schema:
    """The schema, with `$ref` followed."""
    while "$ref" in schema:
        schema = definitions()[referenced(schema)]
    return schema


def schema_at(kind: str, path: Path) -> Schema:
    """The schema of the element at `path` of a `kind`; empty where anything goes."""
    schema = definitions()[kind]
    for part in path:
        inner = schema.get("items") if isinstance(part, int) else schema.get("properties", {}).get(part)
        schema = resolved(schema.get("additionalProperties") or {} if inner is None else inner)
    return schema


def referenced(schema: Schema) -> str:
    """The API name in the schema's `$ref`, or empty."""
    target: str = schema.get("$ref", "")
    return target.removeprefix(_PREFIX).replace(_SPACE, " ")
