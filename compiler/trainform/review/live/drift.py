"""Fields of a live object that are not as git has them, apart from what controllers write (docs/gitops.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainform.k8s.labels import labels_of
from trainform.k8s.schema.definitions import Schema, definitions, resolved
from trainform.k8s.tree import Tree, metadata_of, table
from trainform.review.capacity.demand import QUEUE_LABEL

Place = tuple[str, ...]
"""The keys on the way to a field; an entry of a list is `[name]`, or `[0]` where entries have no keys."""


class Drift(NamedTuple):
    """A field, git's value, and the cluster's; None where there is none."""

    field: str
    git: Any
    live: Any


_POD_TEMPLATE = ("spec", "replicatedJobs", "[]", "template", "spec", "template")
_OF_KUEUE = frozenset(
    (
        ("spec", "suspend"),
        *((*_POD_TEMPLATE, "metadata", key) for key in ("labels", "annotations")),
        *((*_POD_TEMPLATE, "spec", key) for key in ("nodeSelector", "tolerations", "schedulingGates")),
    )
)
"""What Kueue writes into a JobSet in a queue; the same as `KUEUE_CHANGES` of the bootstrap for Argo CD."""

_OF_ADMISSION = frozenset((("spec", "volumeClaimPolicies", "[]", "templates", "[]", "status"),))
_NOTHING: tuple[Any, ...] = (None, {}, [], "")
"""Values that Go leaves out, or writes, as it likes."""


def drift(git: Tree, live: Tree) -> list[Drift]:
    """The fields that git has and the cluster has otherwise. What only the cluster has is no drift, except in lists
    without keys, which are one value."""
    ignored = _OF_ADMISSION | (_OF_KUEUE if is_in_a_queue(git) else frozenset())
    kind = str(git.get("kind"))
    schema = definitions().get(kind, {})
    wanted = {key: value for key, value in git.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    metadata = {key: table(metadata_of(git), key) for key in ("labels", "annotations")}
    return [
        *_differences({"metadata": metadata}, live, {}, (), ignored),
        *_differences(wanted, live, schema, (), ignored),
    ]


def is_in_a_queue(tree: Tree) -> bool:
    """Whether it is a JobSet in a queue of Kueue."""
    return tree.get("kind") == "JobSet" and QUEUE_LABEL in labels_of(tree)


def _differences(git: Any, live: Any, schema: Schema, at: Place, ignored: frozenset[Place]) -> Iterator[Drift]:
    if tuple("[]" if part.startswith("[") else part for part in at) in ignored or git == live:
        return
    schema = resolved(schema)
    if isinstance(git, dict) and isinstance(live, dict):
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, value in git.items():
            inner = fields.get(key) or (others if isinstance(others, dict) else {})
            yield from _differences(value, live.get(key), inner, (*at, key), ignored)
    elif isinstance(git, list) and isinstance(live, list):
        yield from _in_list(git, live, schema, at, ignored)
    elif not (git in _NOTHING and live in _NOTHING):
        yield Drift(_written(at), git, live)


def _in_list(git: list[Any], live: list[Any], schema: Schema, at: Place, ignored: frozenset[Place]) -> Iterator[Drift]:
    """Entries with keys are compared one by one, those of other lists by their places."""
    keys, items = schema.get("x-kubernetes-list-map-keys"), schema.get("items", {})
    if keys:
        found = {_key(each, keys): each for each in live}
        for each in git:
            key = _key(each, keys)
            yield from _differences(each, found.get(key), items, (*at, f"[{key}]"), ignored)
    elif len(git) != len(live):
        yield Drift(_written(at), git, live)
    else:
        for place, (ours, theirs) in enumerate(zip(git, live, strict=True)):
            yield from _differences(ours, theirs, items, (*at, f"[{place}]"), ignored)


def _key(entry: Any, keys: list[str]) -> str:
    return ",".join(str(entry.get(key)) for key in keys) if isinstance(entry, dict) else ""


def _written(at: Place) -> str:
    """`spec.replicatedJobs[node].replicas`."""
    return ".".join(at).replace(".[", "[")
