"""The documents of a compile, read and sorted by what they are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trainform.api import Read, Runtime, TrainJob, read
from trainform.core.companions import in_order, runtime_of
from trainform.core.facts import Facts
from trainform.diagnostics import Diagnostic, Position
from trainform.source import Document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainform.k8s.tree import Tree

DEFAULT_NAMESPACE = "default"
CLUSTER_WIDE = frozenset(
    {
        "ClusterTrainingRuntime",
        "PriorityClass",
        "RuntimeClass",
        "Namespace",
        "ResourceFlavor",
        "ClusterQueue",
        "Cohort",
        "Topology",
        "WorkloadPriorityClass",
        "Queue",
    }
)
"""Kinds without a namespace, among those that a compile reads."""

Key = tuple[str, str, str]
"""Kind, namespace (empty for cluster-wide kinds) and name."""


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """One document, what was read of it, and its problems.

    `sound` is false when it has an error that the cluster would not mend by a default. `companions` are the
    objects that a runtime brings along.
    """

    document: Document
    found: Read
    diagnostics: tuple[Diagnostic, ...] = ()
    sound: bool = True
    companions: tuple[Tree, ...] = ()

    @property
    def model(self) -> TrainJob | Runtime | None:
        """The typed model; None when nothing usable is left."""
        return self.found.model


@dataclass(slots=True)
class Inputs:
    """What a stream or repository holds. `diagnostics` are those of no single TrainJob."""

    jobs: list[Input] = field(default_factory=list)
    runtimes: dict[Key, Input] = field(default_factory=dict)
    companions: list[Input] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def sort(documents: Iterable[Document], source: Iterable[Diagnostic] = ()) -> Inputs:
    """Read every document and put it where it belongs; tell the second of two equals.

    `source` are the problems that the front end found: those of one document stay with it.
    """
    inputs = Inputs()
    by_document: dict[Document, list[Diagnostic]] = {document: [] for document in documents}
    for diagnostic in source:
        own = by_document.get(diagnostic.place) if isinstance(diagnostic.place, Document) else None
        (inputs.diagnostics if own is None else own).append(diagnostic)
    first = _first_of_each(by_document)
    for document, told in by_document.items():
        key = _key(document)
        _place(inputs, key, _input(document, told, first[key]))
    _hand_out_companions(inputs)
    return inputs


def _first_of_each(documents: Iterable[Document]) -> dict[Key, Document]:
    """Of the documents of one name the one that stands first, in whatever order they come."""
    first: dict[Key, Document] = {}
    for document in documents:
        key = _key(document)
        other = first.setdefault(key, document)
        if other is not document:
            first[key] = min(other, document, key=_start)
    return first


def _start(document: Document) -> tuple[str, Position]:
    return document.file, document.position(())


def _hand_out_companions(inputs: Inputs) -> None:
    """Give each companion to its runtime; one whose runtime is not here is an object like any other."""
    found: dict[Key, list[Tree]] = {}
    for companion in inputs.companions:
        _, namespace, _ = _key(companion.document)
        name = runtime_of(companion.document.tree)
        owners = [key for key in inputs.runtimes if key[2] == name and key[1] in ("", namespace)]
        inputs.diagnostics += [d for d in companion.diagnostics if not owners or d.code != "TF204"]
        for key in owners:
            found.setdefault(key, []).append(companion.document.tree)
    for key, trees in found.items():
        inputs.runtimes[key] = replace(inputs.runtimes[key], companions=in_order(trees))


def _place(inputs: Inputs, key: Key, item: Input) -> None:
    if key[0] == "TrainJob":
        inputs.jobs.append(item)
        return
    if runtime_of(item.document.tree):
        inputs.companions.append(item)
        return
    inputs.diagnostics.extend(item.diagnostics)
    if isinstance(item.model, Runtime):
        other = inputs.runtimes.get(key)
        inputs.runtimes[key] = _ambiguous(other, item) if other else item
    elif item.found.subject == "fact":
        inputs.facts.objects.setdefault(key, item.document.tree)


def _ambiguous(*runtimes: Input) -> Input:
    """Runtimes of one name as one with an error: whichever a job means, it cannot go on."""
    first, second = sorted(runtimes, key=lambda runtime: _start(runtime.document))
    return replace(first, diagnostics=(*first.diagnostics, *second.diagnostics), sound=False)


def _input(document: Document, source: list[Diagnostic], earlier: Document) -> Input:
    found = read(document)
    told = [*source, *found.diagnostics]
    known = found.model is not None or found.subject == "fact"
    if known and document.ambiguous:
        told += _read_differently(document, found)
    if (known or runtime_of(document.tree)) and earlier is not document:
        told.append(_twice(document, earlier))
    sound = found.whole and not any(problem.severity == "error" for problem in told[: len(source)])
    return Input(document, found, tuple(told), sound)


def _read_differently(document: Document, found: Read) -> list[Diagnostic]:
    """Plain scalars that other readers take differently, less those of parts that are ignored anyway."""
    ignored = [problem.path for problem in found.diagnostics if problem.code == "TF107"]
    return [
        warning
        for warning in document.plain_scalars_read_differently()
        if not any(warning.path[: len(path)] == path for path in ignored)
    ]


def _key(document: Document) -> Key:
    tree = document.tree
    kind = str(tree.get("kind") or "")
    metadata = tree.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    namespace = "" if kind in CLUSTER_WIDE else str(metadata.get("namespace") or DEFAULT_NAMESPACE)
    return (kind, namespace, str(metadata.get("name") or ""))


def _twice(document: Document, earlier: Document) -> Diagnostic:
    kind, namespace, name = _key(document)
    line = earlier.position(("metadata", "name")).line
    where = f"{namespace}/{name}" if namespace else name
    return Diagnostic(
        "TF203",
        "error",
        f"{kind} {where} is defined twice; the first is at {earlier.file}:{line}",
        "rename or remove one of them",
        ("metadata", "name"),
        document,
    )
