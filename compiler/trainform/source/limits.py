"""Limits of a file: how many documents it has, and what its aliases expand to. A few lines of YAML can expand to more
nodes than fit in memory."""

from __future__ import annotations

from typing import NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode

from trainform.source.parser import MAX_DEPTH, LimitError, too_deep

MAX_NODES = 1_000_000
"""Maximum nodes of a file's documents with aliases, after their expansion."""

NODES_PER_CHARACTER = 4
"""Maximum nodes of a text inside a document after the expansion of its aliases, per character: a file may hold many."""

MAX_DOCUMENTS = 10_000
"""Maximum documents of a file, items of a List included: so many jobs take five seconds and 400 MiB."""

MAX_STREAMED = 20_000
"""Maximum documents of a stream on standard input, which is compiled batch by batch: so many jobs take ten seconds of
one processor and 200 MiB."""


class _Size(NamedTuple):
    nodes: int
    height: int


class Expansion:
    """What the aliases of one file have expanded to so far."""

    def __init__(self, most: int = MAX_NODES) -> None:
        self.left = most

    def add(self, root: Node) -> None:
        """Count a document with aliases. Raises LimitError if the graph has a cycle, or its expansion is too deep or,
        with the documents before, too large. Visits each node once, however often it is aliased."""
        self.left -= _measure(root, {}, set(), self.left).nodes


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
