"""What refers to what: the names in a file that lead to an object elsewhere.

One table says, by the end of a field's path, of which kind the object is that its value names. Definitions, references
and the completion of names all read it. It works on outlines, so also in text that does not parse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainform.core.beside.companions import COMPANION_OF
from trainform.diagnostics import Path
from trainform.editor.outline_node import OutlineNode
from trainform.k8s.fact_kinds import CLUSTER_WIDE_FACTS, KAI_QUEUE, KAI_TOPOLOGY, fact_kind
from trainform.k8s.labels import KAI_QUEUE_LABEL
from trainform.k8s.tree import metadata_of, table, text
from trainform.review.capacity.demand import PRIORITY_LABEL, QUEUE_LABEL

RUNTIME_KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")
LEVEL = "level of a Topology"
"""What a field names that holds the label of nodes by which a Topology groups them."""

CLUSTER_WIDE = CLUSTER_WIDE_FACTS | {RUNTIME_KINDS[0], "Environment", LEVEL}
"""Kinds without a namespace."""

ANY = "*"
"""In the table, one step of a path: an index or a key."""

VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"

_OF_PODS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("configMapKeyRef", "name"): ("ConfigMap",),
    ("configMapRef", "name"): ("ConfigMap",),
    ("configMap", "name"): ("ConfigMap",),
    ("secretKeyRef", "name"): ("Secret",),
    ("secretRef", "name"): ("Secret",),
    ("secret", "secretName"): ("Secret",),
    ("sources", ANY, "secret", "name"): ("Secret",),
    ("imagePullSecrets", ANY, "name"): ("Secret",),
    ("persistentVolumeClaim", "claimName"): ("PersistentVolumeClaim",),
    ("serviceAccountName",): ("ServiceAccount",),
    ("priorityClassName",): ("PriorityClass",),
    ("runtimeClassName",): ("RuntimeClass",),
    ("storageClassName",): ("StorageClass",),
    ("resourceClaimTemplateName",): ("ResourceClaimTemplate",),
    ("labels", QUEUE_LABEL): ("LocalQueue",),
    ("labels", PRIORITY_LABEL): ("WorkloadPriorityClass",),
    ("labels", KAI_QUEUE_LABEL): (KAI_QUEUE,),
    ("annotations", VOLCANO_QUEUE): ("Queue",),
    ("annotations", COMPANION_OF): RUNTIME_KINDS,
}
_OF_KIND: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {
    "TrainJob": {("runtimeRef", "name"): RUNTIME_KINDS},
    "Environment": {
        ("kueue", "localQueue"): ("LocalQueue",),
        ("kueue", "priorityClass"): ("WorkloadPriorityClass",),
        ("gang", "queue"): ("Queue", KAI_QUEUE),
        ("gang", "topology", "name"): (KAI_TOPOLOGY,),
        ("topology", "required"): (LEVEL,),
        ("topology", "preferred"): (LEVEL,),
        ("slice", "required"): (LEVEL,),
    },
    "LocalQueue": {("spec", "clusterQueue"): ("ClusterQueue",)},
    "ClusterQueue": {
        ("flavors", ANY, "name"): ("ResourceFlavor",),
        ("spec", "cohortName"): ("Cohort",),
        ("spec", "cohort"): ("Cohort",),
    },
    "Cohort": {("spec", "parentName"): ("Cohort",), ("spec", "parent"): ("Cohort",)},
    "ResourceFlavor": {("spec", "topologyName"): ("Topology",)},
    KAI_QUEUE: {("spec", "parentQueue"): (KAI_QUEUE,)},
}
"""By the kind of the document."""

_PROVIDERS = {"ExternalSecret": "Secret", "SealedSecret": "Secret", "ConfigMapGenerator": "ConfigMap"}
"""What a kind becomes in the cluster."""


class Thing(NamedTuple):
    """An object by its kind, in the words of `fact_kind`, and its name. `namespace` is empty for a kind without one,
    and None where only a job says which."""

    kind: str
    namespace: str | None
    name: str

    def is_meant(self, other: Thing) -> bool:
        """Whether both may be the same object."""
        is_near = self.namespace is None or other.namespace is None or self.namespace == other.namespace
        return self.kind == other.kind and self.name == other.name and is_near


class Link(NamedTuple):
    """A value that names an object, which may be of one of several kinds."""

    node: OutlineNode
    things: tuple[Thing, ...]


def linked_kinds(kind: str, path: Path) -> tuple[str, ...]:
    """The kinds of object that the field at `path` of a document of this kind may name; empty for any other field."""
    if not path or path[-1] not in _LAST:
        return ()
    for known in (_OF_KIND.get(kind, {}), _OF_PODS):
        for end, kinds in known.items():
            if matches(end, path):
                return kinds
    return ()


_LAST = {end[-1] for known in (_OF_PODS, *_OF_KIND.values()) for end in known}
"""The keys of all fields that name something."""


def matches(end: tuple[str, ...], path: Path) -> bool:
    """Whether a path ends like this."""
    return len(path) >= len(end) and all(map(_fits, end, path[-len(end) :]))


def link_of(node: OutlineNode) -> Link | None:
    """What an element names, if anything."""
    return _link(node, kind_of_root(node.root))


def links_in(root: OutlineNode) -> Iterator[Link]:
    """Every value of a document that names an object."""
    kind = kind_of_root(root)
    for node in root.walk():
        if node.key in _LAST and node.shape == "scalar" and (link := _link(node, kind)):
            yield link


def _link(node: OutlineNode, kind: str) -> Link | None:
    """What an element of a document of this kind names."""
    kinds = linked_kinds(kind, node.path) if node.text else ()
    if not kinds:
        return None
    if kinds == RUNTIME_KINDS and kind == "TrainJob":
        kinds = (chosen_kind(node.parent),)
    place = thing_of(node.root).namespace or None
    return Link(node, tuple(Thing(each, "" if each in CLUSTER_WIDE else place, node.text) for each in kinds))


def chosen_kind(reference: OutlineNode | None) -> str:
    """The kind of runtime that a `runtimeRef` names."""
    kind = reference.child("kind") if reference else None
    return kind.text if kind and kind.text else RUNTIME_KINDS[0]


def kind_of_root(root: OutlineNode) -> str:
    """The kind of a document, with its group where two share it."""
    return fact_kind({key: each.text for key in ("apiVersion", "kind") if (each := root.child(key))})


def thing_of(root: OutlineNode) -> Thing:
    """What a document declares. A namespace that it leaves out is not known here."""
    kind, metadata = kind_of_root(root), metadata_of({"metadata": _plain(root, "metadata")})
    place = "" if kind in CLUSTER_WIDE else text(metadata, "namespace") or None
    return Thing(kind, place, text(metadata, "name"))


def provided_by(root: OutlineNode) -> Thing:
    """The object that a document becomes in the cluster: a SealedSecret is a Secret there."""
    thing = thing_of(root)
    kind = _PROVIDERS.get(thing.kind, thing.kind)
    if thing.kind == "ExternalSecret":
        target = table({"target": _plain(root, "spec", "target")}, "target")
        return thing._replace(kind=kind, name=text(target, "name") or thing.name)
    return thing._replace(kind=kind)


def name_node(root: OutlineNode) -> OutlineNode | None:
    """Where a document says its name."""
    return root.at("metadata", "name")


def _plain(root: OutlineNode, *path: str) -> object:
    node = root.at(*path)
    return node.plain() if node else None


def _fits(wanted: str, step: str | int) -> bool:
    return wanted in (ANY, step)
