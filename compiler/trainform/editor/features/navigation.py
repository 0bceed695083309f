"""Go to definition, and find references.

jobs/llm.yaml      runtimeRef: {name: torch}      ──►  runtimes/torch.yaml, or the shipped runtime
environment.yaml   localQueue: team-a             ──►  the LocalQueue, in the cluster's facts
jobs/llm.yaml      configMap: {name: settings}    ──►  the ConfigMap beside the job
jobs/llm.yaml      runtimePatches: …              ──►  what the patch changes in the runtime
environment.yaml   patches: [{target: …}]         ──►  the jobs that the patch changes
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.core.provenance import follow
from trainform.editor.links import Thing, kind_of_root, link_of, name_node, provided_by
from trainform.editor.names import span_of
from trainform.editor.outline import outline
from trainform.editor.place import cursor_at
from trainform.editor.search import (
    Location,
    declared,
    environment_of,
    name_of_job,
    text_of,
    users,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainform.diagnostics import Position
    from trainform.editor.place import Cursor
    from trainform.editor.snapshot import RepositorySnapshot

_PATCH = 4
"""Where what a patch says starts, in `spec.runtimePatches[0].trainingRuntimeSpec`."""

_OF_ALL_JOBS = frozenset(("LocalQueue", "Queue", "Queue.scheduling.run.ai", "WorkloadPriorityClass"))
"""Kinds that an Environment names for all its jobs."""


def definition(snapshot: RepositorySnapshot, file: str, at: Position) -> list[Location]:
    """Where that is declared which a place names."""
    cursor = _cursor(snapshot, file, at)
    if cursor is None:
        return []
    if link := link_of(cursor.whole):
        return declared(snapshot, link.things, file)
    path = cursor.element
    if kind_of_root(cursor.root) == "Environment" and path[:2] == ("spec", "patches"):
        return [*_patched(snapshot, file, index)] if isinstance(index := next(iter(path[2:]), None), int) else []
    return [*_overridden(snapshot, file, cursor)]


def references(snapshot: RepositorySnapshot, file: str, at: Position) -> list[Location]:
    """Everything that names what a place names or declares, by file and line."""
    cursor = _cursor(snapshot, file, at)
    things = _meant(cursor) if cursor else ()
    found: dict[Location, None] = {}
    for thing in things:
        found.update(dict.fromkeys(users(snapshot, thing, file)))
        found.update(dict.fromkeys(_jobs_by_environment(snapshot, thing, [*found])))
    return sorted(found)


def _cursor(snapshot: RepositorySnapshot, file: str, at: Position) -> Cursor | None:
    lines = snapshot.lines(file)
    return cursor_at(lines.text, at) if lines else None


def _meant(cursor: Cursor) -> tuple[Thing, ...]:
    """What a value names, or what the document is whose name it is."""
    if link := link_of(cursor.whole):
        return link.things
    name = name_node(cursor.root)
    return (provided_by(cursor.root),) if name is not None and cursor.whole in (name, name.parent) else ()


def _jobs_by_environment(snapshot: RepositorySnapshot, thing: Thing, named: list[Location]) -> Iterator[Location]:
    """The jobs of an Environment; of a queue or a priority class, those of the Environments that name it."""
    if thing.kind == "Environment":
        wanted = {thing.name}
    elif thing.kind in _OF_ALL_JOBS:
        wanted = {environment_of(snapshot, each.file) for each in named} - {""}
    else:
        return
    for job in snapshot.index:
        environment, namespace, _ = job.id
        if environment in wanted and thing.namespace in (None, "", namespace):
            yield name_of_job(snapshot, job)


def _patched(snapshot: RepositorySnapshot, file: str, index: int) -> Iterator[Location]:
    """The jobs whose objects a patch changes, as the last compile found."""
    name = environment_of(snapshot, file)
    for job in snapshot.index:
        if job.id[0] == name and index in job.patches:
            yield name_of_job(snapshot, job)


def _overridden(snapshot: RepositorySnapshot, file: str, cursor: Cursor) -> Iterator[Location]:
    """In a job's runtimePatch, the element of the runtime that an element changes."""
    root, path = cursor.root, cursor.element
    patch, reference = root.at(*path[:_PATCH]), root.at("spec", "runtimeRef", "name")
    link = link_of(reference) if reference else None
    if path[:2] != ("spec", "runtimePatches") or patch is None or link is None:
        return
    for target in declared(snapshot, link.things, file):
        for runtime in outline(text_of(snapshot, target.file)):
            found = follow(runtime.plain(), ("spec",), patch.plain(), path[_PATCH:])
            node = runtime.at(*found) if found else None
            if node is not None and name_node(runtime) is not None:
                yield Location(target.file, span_of(node))
