"""What the field under the cursor does, what it renders to, and who else sets it.

numNodes · integer

The number of training nodes, at least 1; each is a pod.

In prod, it sets
- JobSet/llm `spec.replicatedJobs[node].template.spec.parallelism`: `4`; without it `1`, by runtime torch
  (runtimes/torch.yaml:6)
- …
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import dotted
from trainform.diagnostics.order import counted
from trainform.editor.at_hand import jobs_at
from trainform.editor.effect import Change, effect
from trainform.editor.fields import FieldKind, field_at
from trainform.editor.links import RUNTIME_KINDS, kind_of_root, link_of, thing_of
from trainform.editor.place import Cursor, cursor_at
from trainform.editor.search import declared, environment_of
from trainform.review.explain.fields import Selection, spelled, variable_of

if TYPE_CHECKING:
    from trainform.diagnostics import Position
    from trainform.editor.outline_node import OutlineNode
    from trainform.editor.positions import Span
    from trainform.editor.snapshot import JobEntry, JobInEditor, RepositorySnapshot
    from trainform.review.explain.owner import Field, Owner

MOST = 6
"""Rendered fields that are shown."""
_LONG = 60
"""Characters of a value that are shown."""


class Hover(NamedTuple):
    """A text in Markdown about the element in `span`."""

    text: str
    span: Span


def hover(snapshot: RepositorySnapshot, file: str, at: Position) -> Hover | None:
    """What is known of the element at a place; None if nothing is."""
    lines = snapshot.lines(file)
    cursor = cursor_at(lines.text, at) if lines else None
    if cursor is None or not cursor.element:
        return None
    field = field_at(file, cursor.root, cursor.element)
    about = (*_described(field), *_variable(cursor), *_named(snapshot, file, cursor))
    parts = [*about, *_rendered(snapshot, file, at, cursor)]
    return Hover("\n\n".join(parts), cursor.span) if parts else None


def _described(field: FieldKind | None) -> Iterator[str]:
    """What the schema says."""
    if field is None:
        return
    yield (
        f"**{field.name}**" + (f" · {field.type}" if field.type else "") + (" · required" if field.is_required else "")
    )
    if field.text:
        yield field.text
    if field.default and "Default:" not in field.text:
        yield f"Default: `{field.default}`."
    if field.choices:
        yield f"One of {', '.join(f'`{each}`' for each in field.choices)}."
    if field.example:
        yield f"Example: `{field.name}: {field.example}`"


def _variable(cursor: Cursor) -> Iterator[str]:
    """What a variable means that a framework sets or reads."""
    from trainform.core.given.table import meanings
    from trainform.installed import load_plugins

    path = cursor.element
    name = cursor.root.at(*path[: path.index("env") + 2], "name") if "env" in path[:-1] else None
    known = meanings(load_plugins()) if name else {}
    if name and name.text in known:
        variable = known[name.text].variable
        yield f"`{variable.name}`: {variable.meaning}"


def _named(snapshot: RepositorySnapshot, file: str, cursor: Cursor) -> Iterator[str]:
    """The object that a value names."""
    link = link_of(cursor.whole)
    for thing in link.things if link else ():
        for place in declared(snapshot, (thing,), file):
            yield f"{thing.kind.partition('.')[0]} {thing.name}: {place.file}:{place.span.start.line}"


def _rendered(snapshot: RepositorySnapshot, file: str, at: Position, cursor: Cursor) -> Iterator[str]:
    kind = kind_of_root(cursor.root)
    part = _Part(file, cursor.whole)
    if kind == "TrainJob":
        for job in jobs_at(snapshot, file, at):
            yield from _of_job(snapshot, job, cursor, part)
    elif kind in RUNTIME_KINDS:
        thing = thing_of(cursor.root)
        used = [job for job in snapshot.index if job.runtime and job.runtime[::2] == (thing.kind, thing.name)]
        yield f"{counted(len(used), 'job')} {'uses' if len(used) == 1 else 'use'} this runtime."
        yield from _of_an_example(snapshot, used, part)
    elif name := environment_of(snapshot, file):
        yield from _of_an_example(snapshot, [job for job in snapshot.index if job.id[0] == name], part)


def _of_job(snapshot: RepositorySnapshot, job: JobInEditor, cursor: Cursor, part: _Part) -> Iterator[str]:
    """What an element of a TrainJob does, by its effect, else by who set what."""
    where = job.id[0]
    changes = effect(snapshot, job, cursor.element)
    if changes is None:
        changes = [Change(each, None) for each in part.sets(job.fields)]
    elif not changes and cursor.element[0] == "spec":
        yield f"In {where}, the job renders to the same without it."
    if changes:
        yield _listed(f"In {where}, it sets", [_told(each) for each in changes])
    if lost := [*part.overridden(job.fields)]:
        yield _listed(f"In {where}, others win", [_lost(field) for field in lost])


def _of_an_example(snapshot: RepositorySnapshot, jobs: Sequence[JobEntry], part: _Part) -> Iterator[str]:
    """What an element of a file that jobs share sets in the first of them."""
    for entry in jobs[:1]:
        fields = next((job.fields for job in snapshot.jobs(entry.file) if job.id == entry.id), ())
        head = f"In {entry.id[0]}, for {'/'.join(entry.id[1:])}"
        if found := part.sets(fields):
            yield _listed(f"{head}, it sets", [_told(Change(each, None)) for each in found])
        if lost := [*part.overridden(fields)]:
            yield _listed(f"{head}, others win", [_lost(each) for each in lost])


class _Part:
    """An element of a file, by the lines that it has there: owners know no more."""

    def __init__(self, file: str, node: OutlineNode) -> None:
        self.file = file
        self.lines = range(node.span.start.line, node.span.end.line + 1)
        self.text = node.text if node.shape == "scalar" else ""

    def sets(self, fields: Iterable[Field]) -> list[Field]:
        """What it sets. Of several scalars in one line, each sets what has its value."""
        found = [each for each in fields if self._has(each.owner)]
        return [each for each in found if self.text and str(each.value) == self.text] or found

    def overridden(self, fields: Iterable[Field]) -> Iterator[Field]:
        """What it sets in vain."""
        for each in fields:
            if any(self._has(earlier.owner) for earlier in each.overrides):
                yield each

    def _has(self, owner: Owner) -> bool:
        return owner.file == self.file and owner.line in self.lines


def _listed(head: str, items: Sequence[str]) -> str:
    rest = [f"- … and {len(items) - MOST} more"] if len(items) > MOST else []
    return "\n".join([head, *(f"- {each}" for each in items[:MOST]), *rest])


def _told(change: Change) -> str:
    """A field with its value; with what it would be otherwise, and who says so."""
    then = change.without
    otherwise = f"; without it {_value(then.value)}, by {_owner(then.owner)}" if then else ""
    return f"{_name(change.field)}: {_value(change.field.value)}{otherwise}"


def _lost(field: Field) -> str:
    return f"{_name(field)}: {_value(field.value)}, by {_owner(field.owner)}"


def _name(field: Field) -> str:
    selection = Selection(field.object, field.path, [field])
    if variable := variable_of(selection):
        return f"{field.object} `{variable}`"
    return f"{field.object} `{spelled(selection) or dotted(field.path)}`"


def _owner(owner: Owner) -> str:
    return f"{owner} ({owner.place})" if owner.place else str(owner)


def _value(value: object) -> str:
    text = " ".join(str(value).replace("`", "'").split())
    return f"`{text if len(text) <= _LONG else text[: _LONG - 1] + '…'}`"
