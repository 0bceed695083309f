"""The nodes of a document with their marks, which give the positions of its elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from yaml.error import YAMLError
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from trainform.diagnostics import Path
from trainform.source.build import is_merge, merge_sources, read_key
from trainform.source.json_text import without_pairs
from trainform.source.parser import compose

Entry = tuple[Node, Node]
"""Key and value of a mapping."""

Found = tuple[Path, Node, str]
"""Path, node and text of a scalar."""

Find = Callable[[Node], Iterable[Found]]


Step = tuple[Node | None, Node | None]
"""Key and value of an element: the root and entries of lists have no key, JSON that is not YAML has no value."""


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

    def value_or_key(self, path: Path) -> Node | None:
        """The value at `path`, or its key for a block value; of the nearest parent if absent."""
        key, value = self._nearest(path)[-1]
        is_block = isinstance(value, CollectionNode) and not value.flow_style
        return key if key and is_block else value

    def key(self, path: Path) -> Node | None:
        """The key at `path`, or the list item; of the nearest parent if absent."""
        key, value = self._nearest(path)[-1]
        return key or value

    def plain_scalar(self, path: Path) -> str | None:
        """The plain scalar at `path` as written; None for anything else or if absent."""
        steps = self._nearest(path)
        node = steps[-1][1]
        complete = len(steps) == len(path) + 1
        return node.value if complete and isinstance(node, ScalarNode) and not node.style else None

    def below(self, prefix: Path, find: Find) -> Sequence[Found]:
        """What `find` finds below `prefix`. All that it finds is sorted by prefix once, since a List may have thousands
        of items."""
        found = self._found.get(len(prefix))
        if found is None and self.root:
            found = self._found[len(prefix)] = {}
            for entry in find(self.root):
                found.setdefault(entry[0][: len(prefix)], []).append(entry)
        return found.get(prefix, ()) if found else ()

    def _nearest(self, path: Path) -> list[Step]:
        """Each element along `path`, as far as they exist."""
        steps: list[Step] = [(None, self.root)]
        for step in path:
            node = steps[-1][1]
            found = self._child(node, step) if node else None
            if found is None:
                break
            steps.append(found)
        return steps

    def _child(self, node: Node, step: str | int) -> Step | None:
        if isinstance(node, SequenceNode) and isinstance(step, int):
            return (None, node.value[step]) if 0 <= step < len(node.value) else None
        if isinstance(node, MappingNode) and isinstance(step, str):
            return self.entries(node).get(step)
        return None


@lru_cache(maxsize=4_000)
def nodes_of(text: str) -> Nodes:
    """The nodes of the last few thousand documents that were asked for: those of a small job take 10 kB, and a stream
    may hold 20,000 jobs with findings."""
    try:
        return Nodes(compose(without_pairs(text)))
    except YAMLError:
        return Nodes(None)


def forget_nodes() -> None:
    """Free the nodes that are kept. They are created again on demand."""
    nodes_of.cache_clear()


def _entries(node: MappingNode) -> Iterator[Entry]:
    """A mapping's entries in order of precedence."""
    yield from (pair for pair in reversed(node.value) if not is_merge(pair[0]))
    for key, value in reversed(node.value):
        if is_merge(key):
            for source in merge_sources(value):
                yield from _entries(source)
