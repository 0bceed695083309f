"""What is in a file: its objects, and the elements of each."""

from __future__ import annotations

from typing import NamedTuple

from trainform.editor.links import thing_of
from trainform.editor.outline import outline
from trainform.editor.outline_node import OutlineNode, Shape
from trainform.editor.positions import Span
from trainform.editor.search import text_of
from trainform.editor.snapshot import RepositorySnapshot

MOST = 5_000
"""The elements of a file with more are not listed, only its objects."""


class Symbol(NamedTuple):
    """An element: `TrainJob llm`, `numNodes` with `4` as its detail, or an entry of a list by its name. `whole` is all
    of it, `name` its key."""

    label: str
    detail: str
    shape: Shape
    whole: Span
    name: Span
    children: tuple[Symbol, ...] = ()


def symbols(snapshot: RepositorySnapshot, file: str) -> list[Symbol]:
    """The objects of a file, also of one that does not parse."""
    roots = [root for root in outline(text_of(snapshot, file)) if root.children]
    is_large = sum(1 for root in roots for _ in root.walk()) > MOST
    return [_symbol(root, _title(root), with_children=not is_large) for root in roots]


def _symbol(node: OutlineNode, label: str, *, with_children: bool = True) -> Symbol:
    below = [each for each in node.children if each.has_colon] if with_children else []
    detail = node.text if node.shape == "scalar" and node.text != label else ""
    return Symbol(
        label, detail, node.shape, node.span, node.name.span, tuple(_symbol(each, _label(each)) for each in below)
    )


def _title(root: OutlineNode) -> str:
    kind, _, name = thing_of(root)
    first = root.children[0]
    return " ".join(filter(None, (kind.partition(".")[0], name))) or _label(first)


def _label(node: OutlineNode) -> str:
    """The key; of an entry of a list its name, else its value, else its number."""
    if isinstance(node.key, str):
        return node.key or "?"
    name = node.child("name")
    return (name.text if name else node.text) or f"[{node.key}]"
