"""One object of a source file, with the positions of its elements, and what a document is read as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Diagnostic, Path, Position
from trainform.source.part import Part

if TYPE_CHECKING:
    from yaml.nodes import Node


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
        return self._position_of(self.part.nodes.value_or_key(self.prefix + path))

    def key_position(self, path: Path) -> Position:
        """Position of the key at `path`, or of the list item; of the nearest parent if absent."""
        return self._position_of(self.part.nodes.key(self.prefix + path))

    def written(self, path: Path) -> str | None:
        """The plain scalar at `path` as written; None for anything else or if absent."""
        return self.part.nodes.plain_scalar(self.prefix + path)

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


class Parsed(NamedTuple):
    """The content of one document; if unreadable, `tree` is None and `diagnostics` explain why."""

    part: Part
    tree: Any = None
    diagnostics: Sequence[Diagnostic] = ()
    ambiguous: bool = False

    @property
    def place(self) -> Document:
        """Positions for the tree's elements."""
        return Document({}, self.part)
