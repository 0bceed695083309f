"""Companions of a runtime: the service account that its pods run as, and the rights of that account.

They stand beside the runtime, annotated with its name. Each job gets copies of its own, in its namespace and under
its name: a shared object would be applied twice, and pruned with the first job.
"""

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
"""What upstream's names of companions start with: `<job>-` takes its place."""


def runtime_of(tree: Tree) -> str:
    """The name of the runtime whose companion the document `tree` is, or the empty string."""
    if tree.get("kind") not in KINDS or not isinstance(tree.get("subjects") or [], list):
        return ""
    name = annotations_of(tree).get(COMPANION_OF)
    return name if isinstance(name, str) and isinstance(metadata_of(tree).get("name"), str) else ""


def in_order(trees: Iterable[Tree]) -> tuple[Tree, ...]:
    """Companions by kind and name, independent of the order of their documents."""
    return tuple(sorted(trees, key=lambda tree: (KINDS.index(tree["kind"]), tree["metadata"]["name"])))


def own_copies(companions: Sequence[Tree], pod_sets: Sequence[PodSet], job: str, namespace: str) -> list[Tree]:
    """A job's own copies of `companions`, where one of its pods runs as their account; those pods then run as the
    account's copy.

    A job that was patched to another account gets none.
    """
    names = own_names(companions, job)
    users = [pods for pods in pod_sets if pods.pod_spec.get("serviceAccountName") in names] if names else []
    for pods in users:
        pods.pod_spec["serviceAccountName"] = names[pods.pod_spec["serviceAccountName"]]
    return [_own_copy(tree, names, namespace) for tree in companions] if users else []


def own_names(companions: Iterable[Tree], job: str) -> dict[str, str]:
    """What the copies of `companions` that belong to `job` are called, by the names of the companions."""
    names = (tree["metadata"]["name"] for tree in companions)
    return {name: f"{job}-{name.removeprefix(PREFIX)}" for name in names}


def _own_copy(tree: Tree, names: Mapping[str, str], namespace: str) -> Tree:
    # A companion's name is replaced wherever it stands.
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
    """A subject of a RoleBinding: an account without a namespace is in the job's namespace."""
    if isinstance(subject, dict) and subject.get("kind") == "ServiceAccount":
        return {**subject, "namespace": subject.get("namespace") or namespace}
    return subject
