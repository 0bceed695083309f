"""One object of a source file, with the positions of its elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from trainform.diagnostics import Diagnostic, Path, Position
from trainform.source.part import Nodes, Part


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A YAML document, or an item of a `kind: List`; paths count from its root. `tree` is plain dict, list, str, int,
    float, bool and None as Kubernetes reads it. `ambiguous`: `plain_scalars_read_differently` finds something.
    `beside`: for a TrainJob, the objects in its file or folder that belong to it."""

    tree: dict[str, Any]
    part: Part
    prefix: Path = ()
    ambiguous: bool = False
    beside: tuple[Document, ...] = ()

    @property
    def file(self) -> str:
        return self.part.source.file

    def line(self, number: int) -> str:
        """One line of the file, counted from 1, without its line ending."""
        return self.part.source.line(number)

    def position(self, path: Path) -> Position:
        """Position of the value at `path`, or of its key for a block value; of the nearest parent if absent."""
        key, value = self._nearest(path)[-1]
        is_block = isinstance(value, CollectionNode) and not value.flow_style
        return self._position_of(key if key and is_block else value)

    def key_position(self, path: Path) -> Position:
        """Position of the key at `path`, or of the list item; of the nearest parent if absent."""
        key, value = self._nearest(path)[-1]
        return self._position_of(key or value)

    def written(self, path: Path) -> str | None:
        """The plain scalar at `path` as written; None for anything else or if absent."""
        steps = self._nearest(path)
        node = steps[-1][1]
        complete = len(steps) == len(self.prefix + path) + 1
        return node.value if complete and isinstance(node, ScalarNode) and not node.style else None

    def plain_scalars_read_differently(self) -> list[Diagnostic]:
        """Warnings for plain scalars that are strings for Kubernetes but not for other parsers."""
        if not self.ambiguous or self.part.root is None:
            return []
        from trainform.source.nodes import ambiguous_scalars  # rarely needed

        size = len(self.prefix)
        return [
            Diagnostic(
                "TF010",
                "warning",
                f"Kubernetes reads {text} as a string, but other YAML parsers read a number, a date or a special value",
                f'write "{text}"',
                path=path[size:],
                place=self,
                at=self._position_of(node),
            )
            for path, node, text in self.part.nodes.below(self.prefix, ambiguous_scalars)
        ]

    def _position_of(self, node: Node | None) -> Position:
        return self.part.position_of(node) if node else self.part.position_at(0)

    def _nearest(self, path: Path) -> list[tuple[Node | None, Node | None]]:
        """Key and value of each element along `path`, as far as they exist."""
        nodes = self.part.nodes
        steps: list[tuple[Node | None, Node | None]] = [(None, nodes.root)]
        for step in self.prefix + path:
            node = steps[-1][1]
            found = _child(nodes, node, step) if node else None
            if found is None:
                break
            steps.append(found)
        return steps


def _child(nodes: Nodes, node: Node, step: str | int) -> tuple[Node | None, Node] | None:
    if isinstance(node, SequenceNode) and isinstance(step, int):
        return (None, node.value[step]) if 0 <= step < len(node.value) else None
    if isinstance(node, MappingNode) and isinstance(step, str):
        return nodes.entries(node).get(step)
    return None
