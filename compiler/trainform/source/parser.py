"""PyYAML's C parser, driven directly. PyYAML's own resolver and constructor take two thirds of a load and read scalars
unlike Kubernetes; here the C composer only calls back to resolve untagged scalars."""

from __future__ import annotations

from typing import Any

from yaml.composer import ComposerError
from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from trainform.source.limits import MAX_DEPTH, MAX_ELEMENTS
from trainform.source.scalars import FIRST_CHARACTERS, Scalar, suspicious

try:
    from yaml._yaml import CParser
except ImportError as error:
    raise ImportError(
        "trainform needs PyYAML with its C extension, and this PyYAML was built without it; "
        "reinstall it from a wheel: pip install --force-reinstall --only-binary pyyaml pyyaml"
    ) from error


class LimitError(YAMLError):
    """Valid YAML that must not be loaded, with the diagnostic's text for the node at `mark`."""

    def __init__(self, mark: Any, message: str, hint: str, code: str = "TF004") -> None:
        super().__init__(message)
        self.index: int = mark.index
        self.message = message
        self.hint = hint
        self.code = code


def too_deep(mark: Any) -> LimitError:
    """The error for a node nested deeper than `MAX_DEPTH`."""
    message = f"the document is nested more than {MAX_DEPTH} levels deep"
    return LimitError(mark, message, "flatten it; Kubernetes objects stay below 30")


def too_many(mark: Any) -> LimitError:
    """The error for a document of more than `MAX_ELEMENTS` nodes."""
    message = f"the document has more than {MAX_ELEMENTS:,} keys and values"
    return LimitError(mark, message, "split it into several documents")


class _Parser(CParser):
    """The C parser with Kubernetes' scalars. A node's `tag` is None for a string, a tuple holding the value that
    `suspicious` returned, or a str if the document names a tag. The tuple also appears for `! "12"`, but quoted scalars
    are always strings: check `style`."""

    __slots__ = ("depth", "left")  # slots cut the cost of counting to a third

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0
        self.left = MAX_ELEMENTS

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> tuple[Scalar] | None:
        if value is None or value[:1] not in FIRST_CHARACTERS or not implicit[0]:
            return None
        return suspicious(value)

    def descend_resolver(self, parent: Node | None, index: object) -> None:
        # Some releases of libyaml have no depth limit, and the C composer recurses.
        self.depth += 1
        self.left -= 1
        if self.left < 0 and parent is not None:
            raise too_many(parent.start_mark)
        if self.depth > MAX_DEPTH and parent is not None:
            raise too_deep(parent.start_mark)

    def ascend_resolver(self) -> None:
        self.depth -= 1


def compose(text: str) -> Node | None:
    """The nodes of one document, or None if it is empty. Raises yaml.YAMLError for invalid YAML, and its subclass
    LimitError. Aliased nodes are shared, so the result may be a graph, even a cyclic one."""
    try:
        return _Parser(text).get_single_node()
    except ComposerError as error:
        if "duplicate anchor" not in (error.context or ""):
            raise
    return _compose_reanchored(text)


def _compose_reanchored(text: str) -> Node | None:
    """`compose` for a document that repeats an anchor: valid YAML, but PyYAML's C composer rejects it."""
    anchors: dict[str, Node] = {}
    top: list[Node] = []
    opened: list[tuple[CollectionNode | None, list[Node]]] = [(None, top)]
    for count, event in enumerate(iter(_Parser(text).get_event, None)):
        if count > 2 * MAX_ELEMENTS:  # a mapping or list has two events
            raise too_many(event.start_mark)
        if isinstance(event, CollectionEndEvent):
            _close(*opened.pop())
        elif isinstance(event, NodeEvent):
            node = _alias(event, anchors) if isinstance(event, AliasEvent) else _node(event)
            opened[-1][1].append(node)
            if isinstance(event, CollectionStartEvent) and isinstance(node, CollectionNode):
                opened.append((node, []))
            if not isinstance(event, AliasEvent) and event.anchor is not None:
                anchors[event.anchor] = node
        if len(opened) > MAX_DEPTH + 1:
            raise too_deep(event.start_mark)
    return top[0] if top else None


def _close(node: CollectionNode | None, children: list[Node]) -> None:
    if node is not None:
        pairs = zip(children[::2], children[1::2], strict=True)
        node.value = list(pairs) if isinstance(node, MappingNode) else children


def _alias(event: AliasEvent, anchors: dict[str, Node]) -> Node:
    if event.anchor not in anchors:
        raise ComposerError(None, None, "found undefined alias", event.start_mark)  # type: ignore[arg-type]
    return anchors[event.anchor]


def _node(event: Any) -> Node:
    if isinstance(event, ScalarEvent):
        return _scalar(event)
    kind = MappingNode if isinstance(event, MappingStartEvent) else SequenceNode
    return kind(event.tag, [], event.start_mark, event.end_mark)


def _scalar(event: Any) -> ScalarNode:
    plain = event.implicit[0] and event.value[:1] in FIRST_CHARACTERS
    tag: Any = event.tag or (suspicious(event.value) if plain else None)
    return ScalarNode(tag, event.value, event.start_mark, event.end_mark, event.style)
