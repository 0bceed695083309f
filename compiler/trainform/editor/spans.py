"""Where the elements of a document stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from trainform.diagnostics import Path
from trainform.editor.positions import Span

if TYPE_CHECKING:
    from trainform.source import Document


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
