"""Every value of a document's nodes, those that parsers disagree on, and how many there are with aliases expanded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trainform.diagnostics import Path
from trainform.source.build import is_merge, merge_sources, read_key
from trainform.source.limits import MAX_DEPTH
from trainform.source.parser import LimitError, too_deep


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


class _Size(NamedTuple):
    nodes: int
    height: int


def expanded(root: Node, most: int) -> int:
    """The number of nodes after the expansion of aliases. Raises LimitError if there are more than `most`, or if the
    graph has a cycle or is too deep. Visits each node once, however often it is aliased."""
    return _measure(root, {}, set(), most).nodes


def _measure(node: Node, known: dict[int, _Size], above: set[int], most: int) -> _Size:
    if isinstance(node, ScalarNode):
        return _Size(1, 0)
    if size := known.get(id(node)):
        return size
    if id(node) in above:
        raise LimitError(node.start_mark, "an anchored value contains an alias of itself", "remove the alias", "TF011")
    above.add(id(node))
    children = [child for pair in node.value for child in pair] if isinstance(node, MappingNode) else node.value
    sizes = [_measure(child, known, above, most) for child in children]
    above.discard(id(node))
    size = _Size(1 + sum(s.nodes for s in sizes), 1 + max((s.height for s in sizes), default=0))
    if size.height > MAX_DEPTH:
        raise too_deep(node.start_mark)
    if size.nodes > most:
        message = "the aliases up to here expand to more nodes than a file may have"
        raise LimitError(node.start_mark, message, "write the content out")
    known[id(node)] = size
    return size
