"""Fields and their owners as text: each object as a tree, with the owner next to each value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics.console import Style, styled
from trainform.diagnostics.diagnostic import dotted
from trainform.diagnostics.escape import one_line
from trainform.diagnostics.excerpt import columns

if TYPE_CHECKING:
    from trainform.diagnostics import Path
    from trainform.review.explain.fields import Selection
    from trainform.review.explain.owner import Field, Owner, OwnerKind

_STYLES: dict[OwnerKind, Style] = {
    "trainjob": {"fg": "green"},
    "runtime": {"fg": "blue"},
    "patch": {"fg": "yellow"},
    "environment": {"fg": "cyan"},
    "plugin": {"fg": "magenta"},
    "default": {"dim": True},
}

_VALUE = 56
"""Most columns of a value shown in a tree."""
_LEFT = 72
"""Owners begin at this column at the latest, however long a line is."""

_AMBIGUOUS = re.compile(r"$|[{\[\"']|(?:[-+.\d][-+.,:\d_exo]*|true|false|null|yes|no|on|off|[yn~])$", re.IGNORECASE)
"""Strings that could be mistaken for something else without quotes."""


class _Row(NamedTuple):
    left: str
    owner: Owner | None = None


def render_explained(selections: Iterable[Selection], *, colour: bool) -> str:
    """Each selection under its object's name: a single field with its full history, several as a tree. `colour` adds
    ANSI escapes."""
    return "\n".join(_block(each, colour) for each in selections)


def _block(selection: Selection, colour: bool) -> str:
    head = one_line(" ".join(filter(None, (selection.object, dotted(selection.path)))))
    fields = selection.fields
    alone = len(fields) == 1 and fields[0].path == selection.path
    rows = _story(fields[0]) if alone else _tree(fields, len(selection.path))
    lines = [styled(head, {"bold": True}, colour=colour), *_aligned(rows, colour)]
    return "".join(f"{line}\n" for line in lines)


def _story(field: Field) -> list[_Row]:
    """The value, then those it replaced, latest first."""
    earlier = [_Row(f"  was  {one_line(_written(each.value))}", each.owner) for each in reversed(field.overrides)]
    return [_Row(f"  now  {one_line(_written(field.value))}", field.owner), *earlier]


def _tree(fields: Sequence[Field], start: int) -> list[_Row]:
    rows: list[_Row] = []
    before: Path = ()
    for field in fields:
        path = field.path[start:]
        shared = _shared(before, path)
        rows += _lines(path, shared, field)
        before = path
    return rows


def _shared(left: Path, right: Path) -> int:
    """Length of the common prefix of both paths."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


def _lines(path: Path, shared: int, field: Field) -> list[_Row]:
    """The lines from what is already printed to a field; a list entry opens with a dash."""
    rows = []
    lead = ""
    for size in range(shared, len(path)):
        part, last = path[size], size == len(path) - 1
        lead = lead or _indent(path[: size + 1])
        if isinstance(part, int):
            lead += "- "
        text = lead if isinstance(part, int) else f"{lead}{one_line(part)}: "
        if last:
            rows.append(_Row(text + _short(field.value), field.owner))
        elif isinstance(part, str):
            rows.append(_Row(text.rstrip()))
            lead = ""
    return rows


def _indent(path: Path) -> str:
    """Indentation of an element; list entries start at their list key's column."""
    steps = sum(isinstance(part, int) or isinstance(below, str) for part, below in pairwise(path))
    return "  " * (steps + 1)


def _aligned(rows: Sequence[_Row], colour: bool) -> list[str]:
    owned = [row for row in rows if row.owner]
    left = min(max((columns(row.left) for row in owned), default=0), _LEFT)
    middle = max((len(str(row.owner)) for row in owned), default=0)
    return [_line(row, left, middle, colour) for row in rows]


def _line(row: _Row, left: int, middle: int, colour: bool) -> str:
    if row.owner is None:
        return row.left
    text = one_line(str(row.owner))
    shown = styled(text, _STYLES[row.owner.kind], colour=colour)
    padding = " " * max(left - columns(row.left), 0)
    place = " " * (middle - len(text)) + "  " + one_line(row.owner.place) if row.owner.place else ""
    return f"{row.left}{padding}  {shown}{place}"


def _written(value: Any) -> str:
    """The value on one line: as is, or as JSON if it would be ambiguous."""
    plain = isinstance(value, str) and value.isprintable() and value == value.strip() and not _AMBIGUOUS.match(value)
    return value if plain else json.dumps(value, ensure_ascii=False)


def _short(value: Any) -> str:
    text = one_line(_written(value))
    return text if columns(text) <= _VALUE else text[: _VALUE - 1] + "…"
