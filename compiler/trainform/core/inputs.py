"""The documents of a compile, parsed and sorted by kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trainform.api import Read, Runtime, TrainJob, read
from trainform.api.kinds import subject
from trainform.api.rules import RUNTIME_KINDS
from trainform.core.beside.companions import in_order, runtime_of
from trainform.core.beside.placing import Kind, kind_of, provided
from trainform.core.cluster.facts import MOST_AMOUNTS, Facts, Names, ObjectKey
from trainform.core.secrets import KeyFiles, is_key_file
from trainform.diagnostics import Diagnostic, Position
from trainform.diagnostics.order import has_errors
from trainform.diagnostics.suggest import did_you_mean, listed
from trainform.k8s.fact_kinds import CLUSTER_WIDE_FACTS, fact_kind
from trainform.k8s.tree import Tree, metadata_of, name_of, text
from trainform.source import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trainform.api import Environment
    from trainform.api.generator import ConfigMapGenerator

DEFAULT_NAMESPACE = "default"
CLUSTER_WIDE = CLUSTER_WIDE_FACTS | {"ClusterTrainingRuntime"}
"""Kinds without a namespace, among those that a compile reads."""

ENCRYPTED = ("SealedSecret", "Secret")


class Input(NamedTuple):
    """One document with its key, model and problems. `sound` is false if it has an error that no cluster default would
    fix. `companions` are a runtime's objects."""

    document: Document
    key: ObjectKey
    found: Read
    diagnostics: tuple[Diagnostic, ...] = ()
    sound: bool = True
    companions: tuple[Tree, ...] = ()

    @property
    def model(self) -> TrainJob | Runtime | Environment | ConfigMapGenerator | None:
        """The typed model; None if nothing usable is left."""
        return self.found.model


@dataclass(slots=True)
class Inputs:
    """The contents of a stream or repository. `diagnostics` are those that belong to no single TrainJob. `unowned`:
    objects that no TrainJob takes, by kind and name of what they provide."""

    jobs: list[Input] = field(default_factory=list)
    environment: Input | None = None
    namespace: str = DEFAULT_NAMESPACE
    keys: KeyFiles = field(default_factory=dict)
    runtimes: dict[ObjectKey, Input] = field(default_factory=dict)
    companions: list[Input] = field(default_factory=list)
    unowned: dict[tuple[str, str], list[Tree]] = field(default_factory=dict)
    facts: Facts = field(default_factory=lambda: Facts({}))
    fact_documents: list[Document] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _runtime_names: Names = field(default_factory=lambda: Names(()))

    @property
    def runtime_names(self) -> Names:
        if self._runtime_names.size != len(self.runtimes):
            self._runtime_names = Names(self.runtimes)
        return self._runtime_names


def sort(
    documents: Iterable[Document],
    source: Iterable[Diagnostic] = (),
    cache: dict[Document, Read] | None = None,
) -> Inputs:
    """Parse every document and sort it by kind. A second document of the same name is an error. `source`: problems
    found by the front end; those of one document stay with it. `cache`: parsed documents shared between
    environments."""
    inputs = Inputs()
    cache = {} if cache is None else cache
    by_document: dict[Document, list[Diagnostic]] = {document: [] for document in documents}
    owners = _owners(by_document)
    for diagnostic in source:
        own = owners.get(diagnostic.place) if isinstance(diagnostic.place, Document) else None
        for problems in own or [inputs.diagnostics]:
            problems.append(diagnostic)
    _take_environment(inputs, by_document, cache)
    keys = {document: key_of(document, inputs.namespace) for document in by_document}
    first = _first_of_each(keys)
    for document, key in keys.items():
        _place(inputs, _input(document, key, by_document[document], first[key], cache))
    _hand_out_companions(inputs)
    if inputs.fact_documents:
        from trainform.k8s.rules.fact_links import diagnose_links

        inputs.diagnostics += [*diagnose_links(inputs.fact_documents), *_unknown_prices(inputs)]
    return inputs


def _owners(problems: Mapping[Document, list[Diagnostic]]) -> dict[Document, list[list[Diagnostic]]]:
    """By document, where its problems belong: to itself, or to each TrainJob that it stands beside."""
    found: dict[Document, list[list[Diagnostic]]] = {}
    for document, own in problems.items():
        for each in (document, *document.beside):
            found.setdefault(each, []).append(own)
    return found


def _take_environment(inputs: Inputs, documents: dict[Document, list[Diagnostic]], cache: dict[Document, Read]) -> None:
    """Move the Environment from the documents to the inputs first: everything else depends on its namespace."""
    named = [document for document in documents if document.tree.get("kind") == "Environment"]
    found = [document for document in named if subject(document.tree)[0] == "environment"]
    for document in sorted(found, key=_start):
        item = _input(document, key_of(document, inputs.namespace), documents.pop(document), document, cache)
        inputs.diagnostics += item.diagnostics
        if inputs.environment is not None:
            inputs.diagnostics.append(_second_environment(document, inputs.environment.document))
        else:
            inputs.environment = item
    if inputs.environment is not None:
        from trainform.api import Environment

        model = inputs.environment.model
        if isinstance(model, Environment):
            inputs.namespace = model.spec.namespace or inputs.namespace
            inputs.facts.versions = model.spec.cluster.versions


def _unknown_prices(inputs: Inputs) -> Iterator[Diagnostic]:
    """Prices of flavors that the cluster lacks, as soon as it declares any: they would silently not apply."""
    from trainform.api import Environment

    item, known = inputs.environment, inputs.facts.names("ResourceFlavor")
    if item is None or not isinstance(item.model, Environment) or item.model.spec.prices is None or not known:
        return
    for flavor in item.model.spec.prices.flavors:
        if flavor not in known:
            message = f"the cluster has no ResourceFlavor {flavor}, so this price applies to nothing"
            hint = did_you_mean(flavor, known) or f"declared: {listed(known)}"
            yield Diagnostic("TF386", "warning", message, hint, ("spec", "prices", "flavors", flavor), item.document)


def _first_of_each(keys: dict[Document, ObjectKey]) -> dict[ObjectKey, Document]:
    """The first document of each name by file and line, in any input order."""
    first: dict[ObjectKey, Document] = {}
    for document, key in keys.items():
        other = first.setdefault(key, document)
        if other is not document:
            first[key] = min(other, document, key=_start)
    return first


def _start(document: Document) -> tuple[str, Position]:
    return document.file, document.position(())


def _hand_out_companions(inputs: Inputs) -> None:
    """Give each companion to its runtime. One without a runtime here is treated like any other object."""
    found: dict[ObjectKey, list[Tree]] = {}
    for companion in inputs.companions:
        _, namespace, _ = companion.key
        name = runtime_of(companion.document.tree)
        places = [(kind, place) for kind in RUNTIME_KINDS for place in dict.fromkeys(("", namespace))]
        owners = [key for kind, place in places if (key := (kind, place, name)) in inputs.runtimes]
        inputs.diagnostics += [d for d in companion.diagnostics if not owners or d.code != "TF204"]
        for key in owners:
            found.setdefault(key, []).append(companion.document.tree)
    for key, trees in found.items():
        inputs.runtimes[key] = inputs.runtimes[key]._replace(companions=in_order(trees))


def _place(inputs: Inputs, item: Input) -> None:
    key = item.key
    if key[0] == "TrainJob":
        inputs.jobs.append(item)
        return
    if runtime_of(item.document.tree):
        inputs.companions.append(item)
        return
    if key[0] in ENCRYPTED and is_key_file(item.document.tree) and text(item.document.tree, "apiVersion"):
        inputs.keys.setdefault(key[1:], item.document.tree)
        return
    told = item.diagnostics
    if kind := kind_of(item.document.tree):
        inputs.unowned.setdefault((kind.provides, provided(item.document.tree)), []).append(item.document.tree)
        told = tuple(_unnamed(each, item.document.tree, kind) if each.code == "TF204" else each for each in told)
    inputs.diagnostics.extend(told)
    if isinstance(item.model, Runtime):
        other = inputs.runtimes.get(key)
        inputs.runtimes[key] = _ambiguous(other, item) if other else item
    elif item.found.subject == "fact":
        inputs.fact_documents.append(item.document)
        if not inputs.facts.add(key, item.document.tree):
            inputs.diagnostics.append(_too_many_amounts(item))


def _unnamed(ignored: Diagnostic, tree: Tree, kind: Kind) -> Diagnostic:
    """Why an object that could be a companion is ignored, and how a TrainJob takes it."""
    name = provided(tree)
    message = f"{text(tree, 'kind')} {name_of(tree)} is ignored: no TrainJob in its file or folder names {name}"
    hint = (
        f"name {name} in volumes, env or envFrom of a TrainJob there; if something else applies it, move it elsewhere"
    )
    return ignored._replace(
        message=message, hint=hint if kind.is_rendered else "use a SealedSecret or an ExternalSecret"
    )


def _too_many_amounts(item: Input) -> Diagnostic:
    message = (
        f"the LimitRanges and ResourceQuotas of namespace {item.key[1]} have more than {MOST_AMOUNTS} amounts up to "
        "here, and each is compared with every job"
    )
    return Diagnostic("TF004", "error", message, "declare fewer", place=item.document)


def _ambiguous(*runtimes: Input) -> Input:
    """Two runtimes of one name, as one runtime with an error: no job can use either."""
    first, second = sorted(runtimes, key=lambda runtime: _start(runtime.document))
    return first._replace(diagnostics=(*first.diagnostics, *second.diagnostics), sound=False)


def _input(
    document: Document, key: ObjectKey, source: list[Diagnostic], earlier: Document, cache: dict[Document, Read]
) -> Input:
    found = cache.get(document) or cache.setdefault(document, read(document))
    told = [*source, *found.diagnostics]
    known = found.model is not None or found.subject == "fact"
    if found.subject == "fact":
        from trainform.k8s.schema.facts import diagnose

        told += diagnose(document)
    if known and document.ambiguous:
        told += _read_differently(document, found)
    if (known or runtime_of(document.tree)) and earlier is not document:
        told.append(_twice(document, earlier))
    sound = found.whole and not has_errors(told[: len(source)])
    return Input(document, key, found, tuple(told), sound)


def _read_differently(document: Document, found: Read) -> list[Diagnostic]:
    """Warnings for plain scalars that other YAML readers parse differently, except in ignored fields."""
    ignored = [problem.path for problem in found.diagnostics if problem.code == "TF107"]
    return [
        warning
        for warning in document.plain_scalars_read_differently()
        if not any(warning.path[: len(path)] == path for path in ignored)
    ]


def key_of(document: Document, default_namespace: str) -> ObjectKey:
    """A document's identity: documents with the same key are the same object."""
    tree = document.tree
    kind = fact_kind(tree)
    metadata = metadata_of(tree)
    namespace = "" if kind in CLUSTER_WIDE else str(metadata.get("namespace") or default_namespace)
    return (kind, namespace, str(metadata.get("name") or ""))


_IN_A_LOOP = "write what differs between the objects into their names: name: sweep-{{ value | dns }}"


def _twice(document: Document, earlier: Document) -> Diagnostic:
    kind, namespace, name = key_of(document, "")
    path = ("metadata", "name")
    at = earlier.position(path)
    again = document.part.source.is_template and document.file == earlier.file and document.position(path) == at
    where = f"{namespace}/{name}" if namespace else name
    return Diagnostic(
        "TF203",
        "error",
        f"{kind.partition('.')[0]} {where} is defined twice; the first is at {earlier.file}:{at.line}",
        _IN_A_LOOP if again else "rename or remove one of them",
        path,
        document,
    )


def _second_environment(document: Document, first: Document) -> Diagnostic:
    return Diagnostic(
        "TF207",
        "error",
        f"only one Environment is allowed here: the first is at {first.file}:{first.position(()).line}",
        "remove one of them; in a repository, each Environment has its own folder in environments/",
        ("metadata", "name"),
        document,
    )
