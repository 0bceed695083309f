"""The schemas of everything that is read or written, in kubernetes.json (made by scripts/derive_schemas.py).

Every type stands in `$defs` under its API name. Four keywords say more than JSON Schema does: `default` is what the
CRD fills in, `x-go-omitempty` marks fields whose zero value vanishes when Go writes the object,
`x-kubernetes-list-map-keys` names the fields in which the entries of a list must differ (none: the entries themselves),
and `x-refuses-null` marks maps in which a null is a value of a wrong type, not an absent entry.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainform.diagnostics import Path

Schema = dict[str, Any]

_PREFIX = "#/$defs/"
_SPACE = "%20"
"""As in any URI; no name holds anything else that would have to be quoted."""


@cache
def definitions() -> dict[str, Schema]:
    """The schema of every type, by its API name. Read only: the dict is shared."""
    import json
    import pkgutil

    data = pkgutil.get_data("trainform.k8s.schema", "kubernetes.json")
    if data is None:
        raise FileNotFoundError("trainform.k8s.schema: kubernetes.json")
    found: dict[str, Schema] = json.loads(data)["$defs"]
    return found


def reference(kind: str) -> Schema:
    """The schema that stands for a `kind`; KeyError when there is none."""
    if kind not in definitions():
        raise KeyError(kind)
    return {"$ref": _PREFIX + kind.replace(" ", _SPACE)}


def resolved(schema: Schema) -> Schema:
    """The schema itself, or the one that its `$ref` names."""
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
    """The API name of the type that `schema` refers to, or the empty string."""
    target: str = schema.get("$ref", "")
    return target.removeprefix(_PREFIX).replace(_SPACE, " ")
