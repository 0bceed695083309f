"""Finds, in the files of a snapshot, where things are declared and who names them. Files that do not hold a name as
text are not looked at any further."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from trainform.core.provenance import SHIPPED
from trainform.diagnostics import Position
from trainform.editor.links import (
    LEVEL,
    RUNTIME_KINDS,
    Thing,
    kind_of_root,
    links_in,
    name_node,
    provided_by,
    thing_of,
)
from trainform.editor.outline import OutlineNode, outline
from trainform.editor.positions import Lines, Span

if TYPE_CHECKING:
    from trainform.editor.snapshot import JobEntry, RepositorySnapshot

BESIDE = frozenset(("ConfigMap", "Secret", "PersistentVolumeClaim", "ServiceAccount"))
"""Kinds that stand beside a job, in its file or folder."""

_NAME = re.compile(r"^[ ]+name:[ ]*[\"']?(?P<name>[^\s\"']+)[\"']?[ ]*(?:#.*)?$", re.MULTILINE)
"""The name of an object in block style, and of what else has one."""


class Location(NamedTuple):
    """A place in a file of the repository; that of a shipped runtime starts with `catalogue/`."""

    file: str
    span: Span


def declared(snapshot: RepositorySnapshot, things: Iterable[Thing], near: str) -> list[Location]:
    """Where the objects are declared that the file `near` names: in the repository, which shadows what ships with
    trainform."""
    found = [each for thing in things for each in _declarations(snapshot, thing, near)]
    return found or [each for thing in things for each in _shipped(snapshot, thing)]


def _declarations(snapshot: RepositorySnapshot, thing: Thing, near: str) -> Iterator[Location]:
    for file, root in _roots(snapshot, files_for(snapshot, thing.kind, near), thing.name):
        found = _level(root, thing.name) if thing.kind == LEVEL else _declared(root, thing)
        if found is not None:
            yield place_of(file, found)


def _shipped(snapshot: RepositorySnapshot, thing: Thing) -> Iterator[Location]:
    text = snapshot.catalogue.files.get(f"{thing.name}.yaml") if thing.kind == RUNTIME_KINDS[0] else None
    for root in outline(text) if text else ():
        if thing_of(root).is_meant(thing) and (node := name_node(root)):
            yield place_of(f"{SHIPPED}{thing.name}.yaml", node)


def users(snapshot: RepositorySnapshot, thing: Thing, near: str) -> Iterator[Location]:
    """Every value that names an object, which the file `near` declares or names."""
    for file, root in _roots(snapshot, _files_that_name(snapshot, thing.kind, near), thing.name):
        for link in links_in(root, thing.name):
            if any(thing.is_meant(each) for each in link.things):
                yield place_of(file, link.node)


def place_of(file: str, node: OutlineNode) -> Location:
    """Where the value of an element stands, or its key if it has none."""
    part = node.value if node.shape == "scalar" and node.value else node.name
    return Location(file, part.span)


def name_of_job(snapshot: RepositorySnapshot, job: JobEntry) -> Location:
    """Where a job of the index says its name: cheap, since an Environment may have thousands. The start of the file if
    it is not written there as it is, as in a template."""
    lines = snapshot.lines(job.file)
    names = _NAME.finditer(lines.text) if lines else ()
    found = next((each for each in names if each["name"] == job.id[2]), None)
    if lines is None or found is None:
        return Location(job.file, Span(Position(1, 1), Position(1, 1)))
    return Location(job.file, Span(lines.position(found.start("name")), lines.position(found.end("name"))))


def lines_of(snapshot: RepositorySnapshot, file: str) -> Lines:
    """The text of a file, also of a shipped runtime; empty if there is none."""
    if file.startswith(SHIPPED):
        return Lines(snapshot.catalogue.files.get(file.removeprefix(SHIPPED), ""))
    return snapshot.lines(file) or Lines("")


def text_of(snapshot: RepositorySnapshot, file: str) -> str:
    """As `lines_of`, in one piece."""
    return lines_of(snapshot, file).text


def environment_of(snapshot: RepositorySnapshot, file: str) -> str:
    """The Environment in whose folder a file is; empty for any other file."""
    folder = f"{snapshot.repository.settings.environments}/"
    name, slash, _ = file.removeprefix(folder).partition("/")
    return name if file.startswith(folder) and slash else ""


def _roots(snapshot: RepositorySnapshot, files: Iterable[str], name: str) -> Iterator[tuple[str, OutlineNode]]:
    for file in files:
        lines = snapshot.lines(file)
        if lines is not None and name in lines.text:
            yield from ((file, root) for root in outline(lines.text))


def _declared(root: OutlineNode, thing: Thing) -> OutlineNode | None:
    if provided_by(root).is_meant(thing):
        return name_node(root)
    return _listed(root, thing) if kind_of_root(root) == "Environment" else None


def _listed(root: OutlineNode, thing: Thing) -> OutlineNode | None:
    """The name, where an Environment says which objects are in the cluster."""
    objects = root.at("spec", "cluster", "objects")
    for each in objects.children if objects else ():
        kind, place, names = each.child("kind"), each.child("namespace"), each.child("names")
        known = Thing(kind.text if kind else "", place.text if place else None, thing.name)
        if names and thing.is_meant(known):
            return next((name for name in names.children if name.text == thing.name), None)
    return None


def _level(root: OutlineNode, label: str) -> OutlineNode | None:
    """The level of a Topology that has this label of nodes."""
    levels = root.at("spec", "levels") if kind_of_root(root).startswith("Topology") else None
    labels = [each.child("nodeLabel") for each in levels.children] if levels else []
    return next((each for each in labels if each and each.text == label), None)


def files_for(snapshot: RepositorySnapshot, kind: str, near: str) -> list[str]:
    """Where an object of this kind may be declared."""
    settings = snapshot.repository.settings
    if kind in RUNTIME_KINDS:
        return _below(snapshot, settings.runtimes)
    own = environment_of(snapshot, near)
    facts = _below(snapshot, f"{settings.environments}/{own}" if own else settings.environments)
    return [*_beside(snapshot, near), *facts] if kind in BESIDE and not own else facts


def _files_that_name(snapshot: RepositorySnapshot, kind: str, near: str) -> list[str]:
    """Where an object of this kind may be named."""
    settings, own = snapshot.repository.settings, environment_of(snapshot, near)
    if kind in BESIDE and not own:
        return [*dict.fromkeys([*_beside(snapshot, near), *_below(snapshot, settings.runtimes)])]
    others = f"{settings.environments}/"
    return [file for file in snapshot.files if not own or not file.startswith(others) or file.startswith(others + own)]


def _below(snapshot: RepositorySnapshot, folder: str) -> list[str]:
    return [file for file in snapshot.files if file.startswith(f"{folder}/")]


def _beside(snapshot: RepositorySnapshot, near: str) -> list[str]:
    folder = near.rpartition("/")[0]
    return [near, *(file for file in snapshot.files if file != near and file.rpartition("/")[0] == folder)]
