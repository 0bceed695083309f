"""The text of one YAML document in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.diagnostics import Position
from trainform.source.text import Source

if TYPE_CHECKING:
    from yaml.nodes import Node

    from trainform.source.marks import Nodes


class Part:
    """One YAML document in a file; its nodes are created on demand."""

    __slots__ = ("source", "start", "text")

    def __init__(self, source: Source, start: int, text: str) -> None:
        self.source = source
        self.start = start
        self.text = text

    @property
    def nodes(self) -> Nodes:
        """The nodes with their marks, from a second parse."""
        from trainform.source.marks import nodes_of  # slow to import, and only needed for positions

        return nodes_of(self.text)

    @property
    def root(self) -> Node | None:
        """The document's node; None for JSON that is not YAML."""
        return self.nodes.root

    def position_of(self, node: Node) -> Position:
        return self.position_at(node.start_mark.index)

    def position_at(self, index: int) -> Position:
        """Line and column in the file for an offset in this part."""
        return self.source.position_at(self.start + index)
