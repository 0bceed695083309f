"""Limits alias expansion: a few lines of YAML can expand to more nodes than fit in memory."""

from __future__ import annotations

from typing import NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode

from trainform.source.parser import MAX_DEPTH, LimitError, too_deep

MAX_NODES = 1_000_000
"""Maximum nodes of a document after alias expansion."""


class _Size(NamedTuple):
    nodes: int
    height: int


def check_expansion(root: Node) -> None:
    """Raises LimitError if the graph has a cycle or its expansion is too deep or too large. Visits each node once,
    however often it is aliased."""
    _measure(root, {}, set())


def _measure(node: Node, known: dict[int, _Size], above: set[int]) -> _Size:
    if isinstance(node, ScalarNode):
        return _Size(1, 0)
    if size := known.get(id(node)):
        return size
    if id(node) in above:
        raise LimitError(node.start_mark, "an anchored value contains an alias of itself", "remove the alias", "TF011")
    above.add(id(node))
    children = [child for pair in node.value for child in pair] if isinstance(node, MappingNode) else node.value
    sizes = [_measure(child, known, above) for child in children]
    above.discard(id(node))
    size = _Size(1 + sum(s.nodes for s in sizes), 1 + max((s.height for s in sizes), default=0))
    if size.height > MAX_DEPTH:
        raise too_deep(node.start_mark)
    if size.nodes > MAX_NODES:
        message = f"the aliases of this document expand to more than {MAX_NODES:,} nodes"
        raise LimitError(node.start_mark, message, "write the content out, split into several documents")
    known[id(node)] = size
    return size
