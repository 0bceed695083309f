"""Edits of a document's text by lines, which keep what stands around them: comments, order, quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trainform.k8s.tree import Tree
from trainform.output.emitter import emit

if TYPE_CHECKING:
    from trainform.diagnostics import Path


class CannotEdit(Exception):
    """The text is written in a way that is not edited."""


class Entry(NamedTuple):
    """A key and its value. `above` is the line after the entry before it, where comments on this one begin."""

    key: ScalarNode
    value: Node
    above: int

    @property
    def column(self) -> int:
        column: int = self.key.start_mark.column
        return column

    @property
    def first(self) -> int:
        line: int = self.key.start_mark.line
        return line


class Editor:
    """The lines of a document's text. Edits are collected, and applied from the last line to the first."""

    def __init__(self, text: str, root: Node | None) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.root = root
        self._edits: list[tuple[int, int, list[str]]] = []

    def entries(self, node: Node | None) -> dict[str, Entry]:
        """The entries of a block mapping, by key."""
        if not isinstance(node, MappingNode) or node.flow_style:
            raise CannotEdit
        found: dict[str, Entry] = {}
        above = node.start_mark.line
        for key, value in node.value:
            if not isinstance(key, ScalarNode) or key.start_mark.line < above:
                raise CannotEdit
            found[key.value] = Entry(key, value, above)
            above = self.last(value) + 1
        return found

    def entry(self, path: Path) -> Entry:
        """The entry at `path`."""
        node: Node | None = self.root
        for step in path[:-1]:
            found = self.entries(node).get(str(step))
            node = found.value if found else None
        entry = self.entries(node).get(str(path[-1]))
        if entry is None:
            raise CannotEdit
        return entry

    def last(self, node: Node) -> int:
        """The last line of a value."""
        if isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style and node.value:
            inner = node.value[-1]
            return self.last(inner[1] if isinstance(inner, tuple) else inner)
        line: int = node.end_mark.line
        if isinstance(node, ScalarNode) and node.style in ("|", ">"):
            while line > node.start_mark.line and (line >= len(self.lines) or not self.lines[line].strip()):
                line -= 1
            line -= node.end_mark.column == 0 and line == node.end_mark.line
        return line

    def replace_value(self, path: Path, text: str) -> None:
        """Write another scalar in the place of one on a single line."""
        value = self.entry(path).value
        start, end = value.start_mark, value.end_mark
        if not isinstance(value, ScalarNode) or start.line != end.line or value.style in ("|", ">"):
            raise CannotEdit
        line = self.lines[start.line]
        self._edits.append((start.line, start.line + 1, [line[: start.column] + text + line[end.column :]]))

    def rename(self, path: Path, name: str) -> None:
        """Give an entry another key."""
        key = self.entry(path).key
        line = self.lines[key.start_mark.line]
        new = line[: key.start_mark.column] + name + line[key.end_mark.column :]
        self._edits.append((key.start_mark.line, key.start_mark.line + 1, [new]))

    def write_tree(self, path: Path, tree: Tree) -> None:
        """Write the entries of a tree in the place of an entry. Comments in it come first."""
        entry = self.entry(path)
        comments = self.comments(entry.first, self.last(entry.value) + 1)
        self.write(path, [" " * entry.column + text for text in comments] + indented(tree, entry.column))

    def remove(self, path: Path) -> None:
        """Leave only the comments in an entry."""
        self.write_tree(path, {})

    def write(self, path: Path, lines: list[str]) -> None:
        """Write lines in the place of an entry, below the comments above it."""
        entry = self.entry(path)
        if self.lines[entry.first][: entry.column].strip():
            raise CannotEdit
        self._edits.append((entry.first, self.last(entry.value) + 1, lines))

    def moved(self, entry: Entry, column: int, above: int) -> list[str]:
        """The lines of an entry with the comments above it, from line `above`, moved to `column`."""
        shift = column - entry.column
        lines = self.lines[above : self.last(entry.value) + 1]
        at = entry.first - above
        lines[at] = " " * entry.column + lines[at][entry.column :]
        return [_shifted(line, shift) for line in lines]

    def comments(self, start: int, end: int) -> list[str]:
        """The comments in some lines, from which nothing else is kept."""
        found = (re.search(r"(?:^|\s)(#.*)$", line) for line in self.lines[start:end])
        return [match[1] for match in found if match]

    def done(self) -> str:
        lines = [*self.lines]
        for start, end, new in sorted(self._edits, key=lambda edit: -edit[0]):
            lines[start:end] = new
        return "\n".join(lines)


def indented(tree: Tree, column: int) -> list[str]:
    """The lines of a tree's entries at a column."""
    if not tree:
        return []
    return [_shifted(line, column) for line in emit(tree).splitlines()]


def _shifted(line: str, shift: int) -> str:
    if not line.strip():
        return ""
    if shift >= 0:
        return " " * shift + line
    return line[min(-shift, len(line) - len(line.lstrip(" "))) :]
