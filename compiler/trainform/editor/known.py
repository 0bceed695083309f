"""Names that a repository knows and a document may use: of objects, of nodes' labels, of resources, of steps.

They are read from outlines: the file that somebody is typing in does not parse, and its neighbours still count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from trainform.core.resources import gpu_names
from trainform.editor.links import CLUSTER_WIDE, RUNTIME_KINDS, Thing, kind_of_root, link_of, thing_of
from trainform.editor.outline import outline
from trainform.editor.outline_node import OutlineNode
from trainform.editor.search import declared, environment_of, files_for, text_of
from trainform.k8s.tree import Tree, table, tables, text, texts

if TYPE_CHECKING:
    from trainform.editor.snapshot import RepositorySnapshot

RESOURCES = ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu")
"""What any cluster may have."""

Names = dict[str, str]
"""Each name with a few words on it."""


def objects(snapshot: RepositorySnapshot, kinds: Iterable[str], near: str, namespace: str | None) -> Names:
    """The objects of some kinds that a document in `near` may name, with the file of each."""
    found: Names = {}
    for kind in kinds:
        place = "" if kind in CLUSTER_WIDE else namespace
        for file in files_for(snapshot, kind, near):
            for thing in (thing for each in snapshot.names(file).declared for thing in each.things):
                if thing.is_meant(Thing(kind, place, thing.name)):
                    found.setdefault(thing.name, file)
        for name in snapshot.catalogue.names() if kind == RUNTIME_KINDS[0] else ():
            found.setdefault(name, "ships with trainform")
    return found


def node_labels(snapshot: RepositorySnapshot, near: str) -> dict[str, set[str]]:
    """The labels of nodes that facts tell of, each with its values."""
    found: dict[str, set[str]] = {}
    for kind, tree in _facts(snapshot, near):
        spec = table(tree, "spec")
        for level in tables(spec, "levels") if kind.startswith("Topology") else ():
            found.setdefault(text(level, "nodeLabel"), set())
        for key, value in _labels(kind, tree).items():
            found.setdefault(key, set()).add(str(value))
    found.pop("", None)
    return found


def levels(snapshot: RepositorySnapshot, near: str) -> Names:
    """The labels by which Topologies group nodes, each with the Topology."""
    return {
        text(level, "nodeLabel"): f"Topology {name_in(tree)}"
        for kind, tree in _facts(snapshot, near)
        if kind.startswith("Topology")
        for level in tables(table(tree, "spec"), "levels")
    }


def _labels(kind: str, tree: Tree) -> Tree:
    spec = table(tree, "spec")
    own = {"ResourceFlavor": table(spec, "nodeLabels"), "NodePool": table(spec, "labels")}
    return own.get(kind, {}) if kind != "Node" else table(table(tree, "metadata"), "labels")


def resources(snapshot: RepositorySnapshot, near: str) -> Names:
    """The resources that nodes offer and queues count, devices first."""
    found = dict.fromkeys(RESOURCES, "")
    for kind, tree in _facts(snapshot, near):
        for name in _counted(tree):
            found.setdefault(name, f"{kind} {name_in(tree)}")
    return {name: found[name] for name in dict.fromkeys((*gpu_names(found), *found)) if name}


def _counted(tree: Tree) -> Iterator[str]:
    spec, status = table(tree, "spec"), table(tree, "status")
    for amounts in (table(spec, "allocatable"), table(status, "allocatable"), table(status, "capacity")):
        yield from amounts
    for group in tables(spec, "resourceGroups"):
        yield from texts(group, "coveredResources")


def name_in(tree: Tree) -> str:
    return text(table(tree, "metadata"), "name")


Steps = dict[str, list[str]]
"""The containers of each step."""


def steps(snapshot: RepositorySnapshot, root: OutlineNode, near: str) -> Steps:
    """The steps that a document may name: those of a job's runtime, of a runtime itself, or of all runtimes that the
    jobs of an Environment use."""
    kind = kind_of_root(root)
    if kind in RUNTIME_KINDS:
        return _steps(root)
    if kind == "TrainJob":
        reference = root.at("spec", "runtimeRef", "name")
        link = link_of(reference) if reference else None
        things: Iterable[Thing] = link.things if link else ()
    else:
        own = environment_of(snapshot, near)
        used = {job.runtime for job in snapshot.index if job.id[0] == own and job.runtime}
        things = [Thing(*key) for key in sorted(used)]
    found: Steps = {}
    for thing in things:
        for place in declared(snapshot, (thing,), near):
            for runtime in outline(text_of(snapshot, place.file)):
                if thing_of(runtime).is_meant(thing):
                    found |= _steps(runtime)
    return found


def _steps(runtime: OutlineNode) -> Steps:
    jobs = runtime.at("spec", "template", "spec", "replicatedJobs")
    return {
        text(job, "name"): [
            text(each, "name") for key in ("initContainers", "containers") for each in tables(_pod(job), key)
        ]
        for job in _mappings(jobs.plain() if jobs else [])
    }


def _pod(job: Tree) -> Tree:
    return table(table(table(table(job, "template"), "spec"), "template"), "spec")


def _mappings(entries: Any) -> list[Tree]:
    return tables({"": entries}, "")


def _facts(snapshot: RepositorySnapshot, near: str) -> Iterator[tuple[str, Tree]]:
    for file in files_for(snapshot, "Node", near):
        for root in outline(text_of(snapshot, file)):
            yield kind_of_root(root), root.plain() if root.shape == "mapping" else {}
