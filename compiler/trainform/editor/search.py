"""Finds, in the files of a snapshot, where things are declared and who names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from trainform.core.provenance import SHIPPED
from trainform.diagnostics import Position
from trainform.editor.links import RUNTIME_KINDS, Thing, name_node, thing_of
from trainform.editor.names import span_of
from trainform.editor.outline import outline
from trainform.editor.positions import Lines, Span

if TYPE_CHECKING:
    from trainform.editor.snapshot import JobEntry, RepositorySnapshot

BESIDE = frozenset(("ConfigMap", "Secret", "PersistentVolumeClaim", "ServiceAccount"))
"""Kinds that stand beside a job, in its file or folder."""


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
    for file in files_for(snapshot, thing.kind, near):
        for each in snapshot.names(file).declared:
            if each.means(thing):
                yield Location(file, each.span)


def _shipped(snapshot: RepositorySnapshot, thing: Thing) -> Iterator[Location]:
    text = snapshot.catalogue.files.get(f"{thing.name}.yaml") if thing.kind == RUNTIME_KINDS[0] else None
    for root in outline(text) if text else ():
        if thing_of(root).is_meant(thing) and (node := name_node(root)):
            yield Location(f"{SHIPPED}{thing.name}.yaml", span_of(node))


def users(snapshot: RepositorySnapshot, thing: Thing, near: str) -> Iterator[Location]:
    """Every value that names an object, which the file `near` declares or names."""
    for file in _files_that_name(snapshot, thing.kind, near):
        for each in snapshot.names(file).named:
            if each.means(thing):
                yield Location(file, each.span)


def name_of_job(snapshot: RepositorySnapshot, job: JobEntry) -> Location:
    """Where a job of the index says its name. The start of the file if it is not written there as it is, as in a
    template."""
    _, namespace, name = job.id
    declared = snapshot.names(job.file).declared
    found = next((each for each in declared if each.means(Thing("TrainJob", namespace, name))), None)
    return Location(job.file, found.span if found else Span(Position(1, 1), Position(1, 1)))


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
