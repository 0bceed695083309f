"""The text of one YAML document in a file, and the nodes that give its elements' positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from yaml.error import YAMLError
from yaml.nodes import MappingNode, Node

from trainform.diagnostics import Path, Position
from trainform.source.build import is_merge, merge_sources, read_key
from trainform.source.json_text import without_pairs
from trainform.source.parser import compose
from trainform.source.text import Source

Entry = tuple[Node, Node]
"""Key and value of a mapping."""


Found = tuple[Path, Node, str]
"""Path, node and text of a scalar."""

Find = Callable[[Node], Iterable[Found]]


class Part:
    """One YAML document in a file; its nodes are created on demand."""

    __slots__ = ("source", "start", "text")

    def __init__(self, source: Source, start: int, text: str) -> None:
        self.source = source
        self.start = start
        self.text = text

    @property
    def nodes(self) -> Nodes:
        return _nodes(self)

    @property
    def root(self) -> Node | None:
        """The nodes with their marks, from a second parse; None for JSON that is not YAML."""
        return self.nodes.root

    def position_of(self, node: Node) -> Position:
        return self.position_at(node.start_mark.index)

    def position_at(self, index: int) -> Position:
        """Line and column in the file for an offset in this part."""
        return self.source.position_at(self.start + index)


class Nodes:
    """The nodes of a document with their marks, and what was looked up in them."""

    def __init__(self, root: Node | None) -> None:
        self.root = root
        self._entries: dict[int, dict[str | None, Entry]] = {}
        self._found: dict[int, dict[Path, list[Found]]] = {}

    def entries(self, node: MappingNode) -> dict[str | None, Entry]:
        """The effective entries of a mapping by key: the last of equal keys, then merged ones. Cached by node identity,
        since a mapping may be queried for thousands of keys."""
        found = self._entries.get(id(node))
        if found is None:
            found = self._entries[id(node)] = {}
            for entry in _entries(node):
                found.setdefault(read_key(entry[0]), entry)
        return found

    def below(self, prefix: Path, find: Find) -> Sequence[Found]:
        """What `find` finds below `prefix`. All that it finds is sorted by prefix once, since a List may have thousands
        of items."""
        found = self._found.get(len(prefix))
        if found is None and self.root:
            found = self._found[len(prefix)] = {}
            for entry in find(self.root):
                found.setdefault(entry[0][: len(prefix)], []).append(entry)
        return found.get(prefix, ()) if found else ()


@lru_cache(maxsize=4_000)
def _nodes(part: Part) -> Nodes:
    """The nodes of the last few thousand documents that were asked for: those of a small job take 10 kB, and a stream
    may hold 50,000 jobs with findings."""
    try:
        return Nodes(compose(without_pairs(part.text)))
    except YAMLError:
        return Nodes(None)


def forget_nodes() -> None:
    """Free the nodes that are kept. They are created again on demand."""
    _nodes.cache_clear()


def _entries(node: MappingNode) -> Iterator[Entry]:
    """A mapping's entries in order of precedence."""
    yield from (pair for pair in reversed(node.value) if not is_merge(pair[0]))
    for key, value in reversed(node.value):
        if is_merge(key):
            for source in merge_sources(value):
                yield from _entries(source)
