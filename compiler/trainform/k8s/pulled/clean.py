"""A live object without what the compiler does not read: status, history, owners, free text."""

from __future__ import annotations

from typing import Any

from trainform.k8s.fact_kinds import fact_kind
from trainform.k8s.schema.definitions import Schema, reference, resolved
from trainform.k8s.tree import Tree, metadata_of

OWN_NAME = "kubernetes.io/metadata.name"
"""The label with a namespace's own name, which Kubernetes sets."""

_UNREAD: dict[str, tuple[str, ...]] = {
    "Namespace": ("spec",),
    "PriorityClass": ("description",),
    "StorageClass": ("allowVolumeExpansion", "allowedTopologies", "mountOptions", "parameters"),
    "WorkloadPriorityClass": ("description",),
}
"""Fields that the loader accepts and nothing reads."""

_UNREAD_IN_SPEC: dict[str, tuple[str, ...]] = {"HyperNode": ("members",), "ResourceClaimTemplate": ("metadata",)}
"""The members of a HyperNode are nodes by their names, which come and go."""


def as_fact(live: Tree) -> Tree:
    """The fact that describes a live object, with sorted keys. Lists keep their order, which often has a meaning."""
    kind = fact_kind(live)
    known: Tree = _known(live, reference(kind))
    left_out = {"status", "metadata", *_UNREAD.get(kind, ())}
    fact = {key: value for key, value in known.items() if key not in left_out}
    spec = fact.get("spec")
    if isinstance(spec, dict):
        fact["spec"] = {key: value for key, value in spec.items() if key not in _UNREAD_IN_SPEC.get(kind, ())}
    return {**fact, "apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": _metadata(live, kind)}


def _metadata(live: Tree, kind: str) -> Tree:
    """Name, namespace, and the labels of a namespace: nobody reads those of other kinds."""
    given = metadata_of(live)
    kept: Tree = {key: given[key] for key in ("name", "namespace") if given.get(key)}
    labels = given.get("labels")
    if kind == "Namespace" and isinstance(labels, dict):
        own = {key: labels[key] for key in sorted(labels) if key != OWN_NAME}
        kept |= {"labels": own} if own else {}
    return kept


def _known(value: Any, schema: Schema) -> Any:
    """What the schema knows of a value; all of it where the schema says nothing."""
    schema = resolved(schema)
    if isinstance(value, dict):
        fields, others = schema.get("properties"), schema.get("additionalProperties")
        inner = others if isinstance(others, dict) else {}
        present = [key for key in sorted(value) if value[key] is not None and (fields is None or key in fields)]
        return {key: _known(value[key], inner if fields is None else fields[key]) for key in present}
    if isinstance(value, list):
        return [_known(each, schema.get("items", {})) for each in value]
    return value
