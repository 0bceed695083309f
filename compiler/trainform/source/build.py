"""Builds plain trees from nodes, fast. Problems are only noticed here; `findings` explains them."""

from __future__ import annotations

import math
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trainform.source.scalars import STRING_TAG, Scalar, key_text, read_tagged

Tree = Any
"""dict, list, str, int, float, bool or None."""


def is_merge(key: Node) -> bool:
    """Whether the key is an unquoted `<<`."""
    return isinstance(key, ScalarNode) and key.value == "<<" and not key.style


def read_key(node: Node) -> str | None:
    """A mapping key as in Kubernetes' JSON; None if Kubernetes rejects it."""
    if not isinstance(node, ScalarNode):
        return None
    try:
        return key_text(read_scalar(node))
    except ValueError:
        return None


def read_scalar(node: ScalarNode) -> Scalar:
    """The value of a scalar; ValueError if its text does not fit its tag."""
    tag: Any = node.tag
    if isinstance(tag, str):
        return read_tagged(tag, node.value)
    return node.value if tag is None or node.style else tag[0]  # type: ignore[no-any-return]


class Builder:
    """Builds trees and notes whether they need a second look; aliased nodes are rebuilt at each use. `flawed`:
    `findings` has something to report. `ambiguous`: a plain scalar is a string only for Kubernetes."""

    __slots__ = ("ambiguous", "flawed")

    def __init__(self) -> None:
        self.ambiguous = False
        self.flawed = False

    def build(self, node: Node) -> Tree:
        """The tree of a node. Never fails: unreadable values keep their text, and invalid keys are dropped."""
        kind = type(node)
        if kind is ScalarNode:
            return node.value if node.tag is None else self._scalar(node)
        if node.tag is not None:
            self.flawed = True
        if kind is MappingNode:
            return self._mapping(node.value)
        return [self.build(item) for item in node.value]

    def _mapping(self, pairs: list[tuple[Node, Node]]) -> dict[str, Tree]:
        tree: dict[str, Tree] = {}
        for key, value in pairs:
            if key.tag is None and type(key) is ScalarNode:
                name = key.value
            elif is_merge(key):
                return self._merged(pairs)
            elif (name := self._key(key)) is None:
                continue
            if value.tag is None and type(value) is ScalarNode:
                tree[name] = value.value
            else:
                tree[name] = self.build(value)
        if len(tree) != len(pairs):
            self.flawed = True
        return tree

    def _merged(self, pairs: list[tuple[Node, Node]]) -> dict[str, Tree]:
        """A mapping with merge keys: merged entries come first, explicit ones win."""
        self.flawed = True  # rare, so always check
        tree: dict[str, Tree] = {}
        for key, value in pairs:
            if is_merge(key):
                for source in reversed(merge_sources(value)):
                    tree.update(self._mapping(source.value))
        tree.update(self._mapping([pair for pair in pairs if not is_merge(pair[0])]))
        return tree

    def _key(self, node: Node) -> str | None:
        name = read_key(node)
        if name != node.value:
            self.flawed = True
        tag: Any = node.tag
        if type(tag) is tuple and type(tag[0]) is str:
            self.ambiguous = True
        return name

    def _scalar(self, node: Any) -> Scalar:
        tag = node.tag
        if type(tag) is str:
            return self._tagged(node)
        if node.style:
            return node.value  # type: ignore[no-any-return]
        value: Scalar = tag[0]
        if type(value) is str:
            self.ambiguous = True
        elif type(value) is float and not math.isfinite(value):
            self.flawed = True
            return node.value  # type: ignore[no-any-return]
        return value

    def _tagged(self, node: ScalarNode) -> Scalar:
        if node.tag != STRING_TAG:
            self.flawed = True
        try:
            value = read_scalar(node)
        except ValueError:
            return str(node.value)
        return str(node.value) if isinstance(value, float) and not math.isfinite(value) else value


def merge_sources(value: Node) -> list[MappingNode]:
    """The mappings in a merge key's value, highest precedence first; other nodes are skipped."""
    sources = value.value if isinstance(value, SequenceNode) else [value]
    return [source for source in sources if isinstance(source, MappingNode)]
