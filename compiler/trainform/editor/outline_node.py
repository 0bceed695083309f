"""An element of YAML and its place, as the outline of a text that may be half typed knows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from trainform.diagnostics import Path, Position
from trainform.editor.positions import Span

MOST_DEPTH = 100
"""Elements below so many others are left out."""

Shape = Literal["", "scalar", "block", "mapping", "list"]


class Slice(NamedTuple):
    """Characters of one line, without the one at `end`."""

    line: int
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The same as the compiler counts."""
        return Span(Position(self.line + 1, self.start + 1), Position(self.line + 1, self.end + 1))


class Offset(NamedTuple):
    """A place between two characters."""

    line: int
    column: int


@dataclass(slots=True, eq=False)
class OutlineNode:
    """An entry of a mapping, by its key, or of a list, by its index; or the root of a document.

    `indent` is the column of its key or dash, -1 for a root. `name` are the characters of the key. `value` are those of
    a scalar, on its first line; where nothing is written yet, the empty place for it. `has_colon`: it is more than the
    first letters of a key. `inside` is what the brackets of a mapping or list in flow style hold.
    """

    key: str | int | None
    parent: OutlineNode | None
    indent: int
    name: Slice
    shape: Shape = ""
    text: str = ""
    value: Slice | None = None
    has_colon: bool = True
    inside: tuple[Offset, Offset] | None = None
    last: int = 0
    """The last line that was read as part of it, itself included."""
    depth: int = 0
    children: list[OutlineNode] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The path in its document."""
        steps: list[str | int] = []
        node: OutlineNode | None = self
        while node is not None and node.key is not None:
            steps.append(node.key)
            node = node.parent
        return tuple(reversed(steps))

    @property
    def root(self) -> OutlineNode:
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    @property
    def span(self) -> Span:
        """From its key or dash to the end of what is below."""
        start, *ends = self.name.span
        ends += [self.value.span.end] if self.value else []
        ends += [Position(self.inside[1].line + 1, self.inside[1].column + 2)] if self.inside else []
        ends += [Position(self.last + 2, 1)] if self.shape == "block" else []
        return Span(start, max(*ends, *(each.span.end for each in self.children), start))

    def child(self, key: str | int) -> OutlineNode | None:
        """The entry of this key or index."""
        return next((each for each in self.children if each.key == key and each.has_colon), None)

    def at(self, *path: str | int) -> OutlineNode | None:
        """The element at a path below this one."""
        node: OutlineNode | None = self
        for step in path:
            node = node.child(step) if node else None
        return node

    def plain(self) -> Any:
        """What is written, as mappings, lists and strings."""
        if self.shape == "mapping":
            return {str(each.key): each.plain() for each in self.children if each.has_colon}
        if self.shape == "list":
            return [each.plain() for each in self.children]
        return self.text

    def walk(self) -> Iterator[OutlineNode]:
        """This element and all below it, in the order of the text."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def add(self, key: str | int | None, indent: int, name: Slice, *, has_colon: bool = True) -> OutlineNode:
        """A new entry below this one; without a key, of a list."""
        if key is None:
            key = len(self.children)
            self.shape = "list"
        elif self.shape in ("", "scalar"):
            self.shape = "mapping"
        node = OutlineNode(key, self, indent, name, has_colon=has_colon, last=name.line, depth=self.depth + 1)
        if self.depth < MOST_DEPTH:
            self.children.append(node)
        return node
