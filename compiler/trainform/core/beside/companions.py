"""Companions of a runtime: the service account that its pods run as, and its RBAC objects. They are annotated with the
runtime's name. Each job gets its own copies, in its namespace and named after it: a shared object would be applied
twice, and pruned with the first job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainform.k8s.labels import annotations_of
from trainform.k8s.tree import Tree, map_texts, metadata_of, table, without_nulls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trainform.core.pod_set import PodSet

COMPANION_OF = "trainform.dev/companion-of"
"""Annotation of a companion: the name of its runtime."""

KINDS = ("ServiceAccount", "Role", "RoleBinding")
PREFIX = "kubeflow-trainer-"
"""Upstream's name prefix for companions, which `<job>-` replaces."""


def runtime_of(tree: Tree) -> str:
    """The name of the runtime that `tree` is a companion of, or the empty string."""
    if tree.get("kind") not in KINDS or not isinstance(tree.get("subjects") or [], list):
        return ""
    name = annotations_of(tree).get(COMPANION_OF)
    return name if isinstance(name, str) and isinstance(metadata_of(tree).get("name"), str) else ""


def in_order(trees: Iterable[Tree]) -> tuple[Tree, ...]:
    """Companions sorted by kind and name."""
    return tuple(sorted(trees, key=lambda tree: (KINDS.index(tree["kind"]), tree["metadata"]["name"])))


def own_copies(companions: Sequence[Tree], pod_sets: Sequence[PodSet], job: str, namespace: str) -> list[Tree]:
    """A job's own copies of `companions`, if one of its pods runs as their account; those pods then use the copied
    account. None if the job was patched to another account."""
    names = own_names(companions, job)
    users = [pods for pods in pod_sets if pods.pod_spec.get("serviceAccountName") in names] if names else []
    for pods in users:
        pods.pod_spec["serviceAccountName"] = names[pods.pod_spec["serviceAccountName"]]
    return [_own_copy(tree, names, namespace) for tree in companions] if users else []


def own_names(companions: Iterable[Tree], job: str) -> dict[str, str]:
    """Names of `job`'s copies of `companions`, by original name."""
    names = (tree["metadata"]["name"] for tree in companions)
    return {name: f"{job}-{name.removeprefix(PREFIX)}" for name in names}


def _own_copy(tree: Tree, names: Mapping[str, str], namespace: str) -> Tree:
    # Also replaces companions' names inside references.
    copy: Tree = map_texts(without_nulls(tree), lambda text: names.get(text, text))
    metadata: Tree = {"name": copy["metadata"]["name"], "namespace": namespace}
    for field in ("labels", "annotations"):
        values = table(copy["metadata"], field)
        if kept := {key: value for key, value in values.items() if key != COMPANION_OF}:
            metadata[field] = kept
    copy["metadata"] = metadata
    if copy["kind"] == "RoleBinding":
        copy["subjects"] = [_subject(each, namespace) for each in copy.get("subjects") or ()]
    return copy


def _subject(subject: Any, namespace: str) -> Any:
    """A RoleBinding subject. An account without a namespace gets the job's."""
    if isinstance(subject, dict) and subject.get("kind") == "ServiceAccount":
        return {**subject, "namespace": subject.get("namespace") or namespace}
    return subject
