"""What stands at a place of a file, and what could stand there."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from trainform.diagnostics import Path, Position
from trainform.editor.outline import MOST_CHARACTERS, outline, unquoted
from trainform.editor.outline_node import Offset, OutlineNode, Slice
from trainform.editor.positions import Span, rows

Role = Literal["key", "value", "entry"]

_QUOTED_OR_COMMENT = re.compile(r"(?<![^\s,\[\]{}:])(?:\"(?:[^\"\\]|\\.)*(?:\"|$)|'[^']*(?:'|$))|(?P<comment>(?<!\S)#)")


class Cursor(NamedTuple):
    """A place in an outline. `role`: a key of the mapping `node`; the value of `node`; or, in a list, the entry `node`,
    which may become a scalar or a mapping. `word` is what stands there up to the cursor, `part` all of it."""

    node: OutlineNode
    role: Role
    word: str
    part: Slice

    @property
    def span(self) -> Span:
        """What a completion replaces."""
        return self.part.span

    @property
    def root(self) -> OutlineNode:
        return self.node.root

    @property
    def path(self) -> Path:
        """The path of the value, or of the mapping that has the key."""
        return self.node.path

    @property
    def element(self) -> Path:
        """The path of the element that the cursor is on, its key included."""
        return self.whole.path

    @property
    def whole(self) -> OutlineNode:
        """The element that the cursor is on: of a key, the entry that it opens."""
        entry = next((each for each in self.node.children if self.role == "key" and each.name == self.part), None)
        return entry if entry and entry.has_colon else self.node


def cursor_at(text: str, at: Position) -> Cursor | None:
    """What stands at a place; None in comments, in blocks of text, and where nothing could stand."""
    if len(text) > MOST_CHARACTERS:
        return None
    lines, line = rows(text), at.line - 1
    if not 0 <= line < len(lines):
        return None
    row = lines[line]
    column = min(max(at.column - 1, 0), len(row))
    roots = outline(text)
    root = [each for each in roots if each.name.line <= line][-1]
    if root.name.line == line and root is not roots[0]:
        return None
    nodes = [*root.walk()]
    block = next((each for each in nodes if each.shape == "block" and each.name.line < line <= each.last), None)
    if block is not None or any(each["comment"] for each in _QUOTED_OR_COMMENT.finditer(row[:column])):
        return None
    return (
        _on_a_word(nodes, row, Offset(line, column))
        or _in_brackets(nodes, Offset(line, column))
        or _after_a_key(nodes, row, Offset(line, column))
        or _on_a_free_line(nodes, row, Offset(line, column))
    )


def _on_a_word(nodes: list[OutlineNode], row: str, at: Offset) -> Cursor | None:
    for node in nodes:
        if node.parent is not None and isinstance(node.key, str) and _holds(node.name, at):
            return _cursor(node.parent, "key", row, node.name, at.column)
        if node.shape == "scalar" and node.value and _holds(node.value, at):
            role: Role = "entry" if isinstance(node.key, int) else "value"
            return _cursor(node, role, row, node.value, at.column)
    return None


def _in_brackets(nodes: list[OutlineNode], at: Offset) -> Cursor | None:
    """In the innermost brackets around the place: after a colon the value of its key, else a new entry."""
    around = [each for each in nodes if each.inside and each.inside[0] <= at <= each.inside[1]]
    if not around:
        return None
    node, here = around[-1], Slice(at.line, at.column, at.column)
    before = [each for each in node.children if Offset(each.name.line, each.name.start) < at]
    last = before[-1] if before else None
    if last and last.has_colon and not last.shape and last.value:
        return Cursor(last, "value", "", here)
    if node.shape == "mapping":
        return Cursor(node, "key", "", here)
    return Cursor(OutlineNode(len(before), node, at.column, here), "entry", "", here)


def _after_a_key(nodes: list[OutlineNode], row: str, at: Offset) -> Cursor | None:
    """Behind the colon or the dash that is the last of the line."""
    for node in reversed(nodes):
        if node.value and node.value.line == at.line and node.value.start <= at.column + 1 and not node.inside:
            is_empty = node.value.start == node.value.end and not node.children
            if not is_empty or row[at.column - 1 : at.column] == ":":
                return None
            role: Role = "entry" if isinstance(node.key, int) else "value"
            return Cursor(node, role, "", Slice(at.line, at.column, at.column))
    return None


def _on_a_free_line(nodes: list[OutlineNode], row: str, at: Offset) -> Cursor | None:
    """The indentation says which mapping would get a key."""
    if row.strip():
        return None
    above: OutlineNode | None = [each for each in nodes if each.name.line < at.line or each.parent is None][-1]
    while above is not None and above.parent is not None and (above.indent >= at.column or above.inside):
        above = above.parent
    while above is not None and above.parent is not None and above.parent.inside:
        above = above.parent
    if above is None or above.shape not in ("", "mapping"):
        return None
    return Cursor(above, "key", "", Slice(at.line, at.column, at.column))


def _cursor(node: OutlineNode, role: Role, row: str, span: Slice, column: int) -> Cursor:
    return Cursor(node, role, unquoted(row[span.start : column]), span)


def _holds(span: Slice, at: Offset) -> bool:
    return span.line == at.line and span.start <= at.column <= span.end
