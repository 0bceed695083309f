"""Marks a TrainJob to run again by a minimal edit of its source text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trainform.k8s.labels import annotations_of
from trainform.source import load

if TYPE_CHECKING:
    from trainform.source import Document

RERUN = "trainform.dev/rerun"
"""Annotation of a TrainJob: a number that `trainform rerun` increments. It is copied to the JobSet."""


class CannotMark(Exception):
    """The text cannot be edited safely; the message says what to write by hand."""


class Marked(NamedTuple):
    """A file's new text, and the annotation's new value."""

    text: str
    number: int


class _Entry(NamedTuple):
    key: ScalarNode
    value: Node


def mark(document: Document) -> Marked:
    """The document's file with `metadata.annotations["trainform.dev/rerun"]` incremented, starting at "1". Raises
    CannotMark if inserting a few characters is not enough."""
    number = _number(document) + 1
    source = document.part.source.text
    try:
        at, until, text = _edit(document, number)
    except LookupError as error:
        raise _by_hand(number) from error
    start = document.part.start
    edited = source[: start + at] + text + source[start + until :]
    if [each.tree for each in load(edited, document.file).documents] != _wanted(document, number):
        raise _by_hand(number)
    return Marked(edited, number)


def _by_hand(number: int) -> CannotMark:
    return CannotMark(f'write this below its metadata.annotations yourself: {RERUN}: "{number}"')


def _number(document: Document) -> int:
    value = annotations_of(document.tree).get(RERUN, "0")
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise CannotMark(f'{RERUN} is {value!r}; make it a number in quotes: "1"')


def _edit(document: Document, number: int) -> tuple[int, int, str]:
    """Start, end and replacement of an edit in the document's text. LookupError if none is possible."""
    text = document.part.text
    metadata = _entry(_object(document), "metadata").value
    entries = _entries(metadata)
    annotations = entries.get("annotations")
    if annotations is None:
        return _with_annotations(text, metadata, entries["name"], number)
    if not isinstance(annotations.value, MappingNode):
        return _after_line(text, annotations, f'{_indent(annotations)}  {RERUN}: "{number}"')
    own = _entries(annotations.value).get(RERUN)
    if own is not None:
        return own.value.start_mark.index, own.value.end_mark.index, f'"{number}"'
    if annotations.value.flow_style:
        at = annotations.value.start_mark.index + 1
        return at, at, _flow_pair(text, number) + (", " if annotations.value.value else "")
    first = annotations.value.value[0][0].start_mark
    return _after_line(text, annotations, f'{" " * first.column}{RERUN}: "{number}"')


def _with_annotations(text: str, metadata: Node, name: _Entry, number: int) -> tuple[int, int, str]:
    """Add annotations after the name."""
    if isinstance(metadata, MappingNode) and metadata.flow_style:
        key = '"annotations"' if _is_json(text) else "annotations"
        at = name.value.end_mark.index
        return at, at, f", {key}: {{{_flow_pair(text, number)}}}"
    indent = _indent(name)
    return _after_line(text, name, f'{indent}annotations:\n{indent}  {RERUN}: "{number}"')


def _after_line(text: str, entry: _Entry, lines: str) -> tuple[int, int, str]:
    """Insert lines after the line in which an entry starts, including its comment."""
    end = text.find("\n", entry.key.start_mark.index)
    at = end if end >= 0 else len(text)
    return at, at, f"\n{lines}"


def _flow_pair(text: str, number: int) -> str:
    return f'"{RERUN}": "{number}"' if _is_json(text) else f'{RERUN}: "{number}"'


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _indent(entry: _Entry) -> str:
    return " " * entry.key.start_mark.column


def _object(document: Document) -> Node:
    node = document.part.root
    for step in document.prefix:
        if isinstance(node, SequenceNode) and isinstance(step, int):
            node = node.value[step]
        else:
            node = _entry(node, str(step)).value
    if node is None:
        raise LookupError
    return node


def _entry(node: Node | None, key: str) -> _Entry:
    return _entries(node)[key]


def _entries(node: Node | None) -> dict[str, _Entry]:
    pairs = node.value if isinstance(node, MappingNode) else ()
    return {key.value: _Entry(key, value) for key, value in pairs if isinstance(key, ScalarNode)}


def _wanted(document: Document, number: int) -> list[Any]:
    """The file's intended objects: this one with its annotation, the others unchanged."""
    found = load(document.part.source.text, document.file).documents
    own = (document.part.start, document.prefix)
    return [_annotated(each.tree, number) if (each.part.start, each.prefix) == own else each.tree for each in found]


def _annotated(tree: dict[str, Any], number: int) -> dict[str, Any]:
    metadata = tree["metadata"]
    annotations = {**(metadata.get("annotations") or {}), RERUN: str(number)}
    return {**tree, "metadata": {**metadata, "annotations": annotations}}
