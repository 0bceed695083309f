"""What stands at a place of a document, and where an element stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from trainform.diagnostics import Path, Position
from trainform.editor.positions import Span
from trainform.source.build import is_merge, read_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainform.editor.positions import Lines
    from trainform.source import Document


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a document. `key` is None for an entry of a list, and for the document itself; `in_key` says
    whether the place that was asked about is in it."""

    path: Path
    value: Span
    key: Span | None = None
    in_key: bool = False


class Context(NamedTuple):
    """What is being written at a place: the keys above it, whether it is a key or a value, and what is typed of it.
    `span` is what a completion replaces."""

    path: tuple[str, ...]
    is_key: bool
    typed: str
    span: Span


def element_at(document: Document, at: Position) -> Element | None:
    """The innermost element at a place; None outside of the document, and for a template, whose places are those of
    lines that may write many elements."""
    root = document.part.root
    if root is None or document.part.source.is_template:
        return None
    found: Element | None = None
    for element in _along(document, root, at):
        found = element
    size = len(document.prefix)
    if found is None or found.path[:size] != document.prefix:
        return None
    return Element(found.path[size:], found.value, found.key, found.in_key)


def span_of(document: Document, path: Path, *, of_key: bool = False) -> Span | None:
    """Where the value, or the key, of an element stands; None if there is no such element."""
    part = document.part
    node: Node | None = part.root
    key: Node | None = None
    for step in document.prefix + path:
        if isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
            key, node = None, node.value[step]
        elif isinstance(node, MappingNode) and isinstance(step, str) and (entry := part.nodes.entries(node).get(step)):
            key, node = entry
        else:
            return None
    chosen = key if of_key else node
    return _span(document, chosen) if chosen is not None else None


def _along(document: Document, root: Node, at: Position) -> Iterator[Element]:
    """The elements around a place, from the outermost."""
    node, path = root, ()  # type: tuple[Node, Path]
    if not _span(document, node).holds(at):
        return
    yield Element(path, _span(document, node))
    while isinstance(node, CollectionNode):
        for step, key, value in _children(node):
            own, named = _span(document, value), None if key is None else _span(document, key)
            whole = Span(named.start if named else own.start, own.end)
            if whole.holds(at):
                path = (*path, step)
                in_key = named is not None and named.holds(at)
                yield Element(path, own, named, in_key)
                if in_key:
                    return
                node = value
                break
        else:
            return


def _children(node: CollectionNode) -> Iterator[tuple[str | int, Node | None, Node]]:
    """The entries as written: not those that a merge key or an alias brings from elsewhere."""
    if isinstance(node, SequenceNode):
        yield from ((index, None, value) for index, value in enumerate(node.value))
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            if not is_merge(key) and value.start_mark.index >= key.end_mark.index:
                yield read_key(key) or "", key, value


def _span(document: Document, node: Node) -> Span:
    """Where a node stands. A block collection ends, for the parser, where the next token begins: we end it with its
    last value."""
    part = document.part
    end = end_of(node)
    return Span(part.position_at(node.start_mark.index), part.position_at(end))


def end_of(node: Node) -> int:
    """The offset behind a node's last character, in its document."""
    while isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    end: int = node.end_mark.index
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        return max(end - 1, node.start_mark.index)
    return end


_KEY = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[^\s#:\"'{}\[\],-][^:{}\[\]]*?)[ ]*:(?:\s|$)")
_START = re.compile(r"[ ]*((?:-(?:[ ]+|$))*)")
_TOKEN = re.compile(r"[{}\[\],]|[^\s{}\[\],:]+(?=\s*:(?:\s|$))|:(?=\s|$)|[^\s{}\[\],]+")


def context_at(lines: Lines, at: Position) -> Context:
    """What is being written at a place, from indentation alone, so that it also works where the text does not parse.
    Flow collections (`{a: 1}`) of the same line are looked through."""
    line = lines.line(at.line)
    before = line[: at.column - 1]
    typed = re.split(r"[\s,\[\]{}]|:(?=\s)", before)[-1].lstrip("\"'")
    rest = re.match(r"[\w./-]*", line[at.column - 1 :])
    end = at.column + (len(rest[0]) if rest else 0)
    span = Span(Position(at.line, at.column - len(typed)), Position(at.line, end))
    own, is_key = _within_line(before[: len(before) - len(typed)])
    return Context((*_above(lines, at.line, _Start.of(before).outer), *own), is_key, typed, span)


def _within_line(head: str) -> tuple[tuple[str, ...], bool]:
    """The keys that the line opens before the place, and whether a key is written there."""
    path: list[str] = []
    opened: list[tuple[int, bool]] = []
    pending, is_key = "", True
    for token in _TOKEN.findall(head[_Start.of(head).inner :]):
        if token in ("{", "["):
            opened.append((len(path), token == "{"))
            path += [pending] if pending else []
            pending, is_key = "", token == "{"
        elif token in ("}", "]"):
            del path[opened.pop()[0] if opened else 0 :]
            pending, is_key = "", False
        elif token == ",":
            pending, is_key = "", bool(opened) and opened[-1][1]
        elif token == ":":
            is_key = False
        else:
            pending = token.strip("\"'")
    return (*path, *([pending] if pending and not is_key else [])), is_key


class _Start(NamedTuple):
    """The columns, from 0, where the first dash of a line, or else its content, and where its content starts."""

    dash: int | None
    inner: int

    @classmethod
    def of(cls, line: str) -> _Start:
        found = _START.match(line)
        assert found is not None  # it matches nothing, too
        return cls(found.start(1) if found[1] else None, found.end())

    @property
    def outer(self) -> int:
        """What holds this line starts before this column: a list may stand right below its key."""
        return self.inner if self.dash is None else self.dash + 1


def _above(lines: Lines, number: int, outer: int) -> tuple[str, ...]:
    """The keys of the lines above that hold a line, up to the start of the document."""
    path: list[str] = []
    for above in range(number - 1, 0, -1):
        line = lines.line(above)
        if outer <= 0 or line.startswith(("---", "...")):
            break
        start = _Start.of(line)
        found = _KEY.match(line, start.inner)
        if found and start.inner < outer:
            path.append(found["key"].strip("\"' "))
            outer = start.outer
        elif start.dash is not None and start.dash < outer <= start.inner:
            outer = start.outer
    return tuple(reversed(path))
