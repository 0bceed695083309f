"""Every value of a document's nodes, and those that parsers disagree on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trainform.diagnostics import Path
from trainform.source.build import is_merge, merge_sources, read_key


def walk(root: Node) -> Iterator[tuple[Path, Node]]:
    """Each value of a document with its path; aliased ones once, at their anchor."""
    seen: set[int] = set()
    waiting: list[tuple[Path, Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield path, node
        waiting.extend(reversed(list(_below(path, node))))


def _below(path: Path, node: Node) -> Iterator[tuple[Path, Node]]:
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield (*path, index), item
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            if is_merge(key):
                yield from ((path, source) for source in merge_sources(value))
            else:
                yield (*path, read_key(key) or ""), value


def ambiguous_scalars(root: Node) -> Iterator[tuple[Path, ScalarNode, str]]:
    """Path, node and text of each plain scalar, keys included, that only Kubernetes reads as a string."""
    for path, node in walk(root):
        if isinstance(node, MappingNode):
            for key, _ in node.value:
                if _is_ambiguous(key) and not is_merge(key):
                    yield (*path, key.value), key, key.value
        elif isinstance(node, ScalarNode) and _is_ambiguous(node):
            yield path, node, node.value


def _is_ambiguous(node: Node) -> bool:
    if not isinstance(node, ScalarNode) or node.style:
        return False
    tag: Any = node.tag
    return isinstance(tag, tuple) and isinstance(tag[0], str)
