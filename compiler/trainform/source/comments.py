"""Comments that speak to trainform: they start with `# trainform:`. Text inside a scalar, such as a script, is none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from yaml.nodes import CollectionNode, Node, ScalarNode

from trainform.diagnostics import Position
from trainform.source.part import Part

_COMMENT = re.compile(r"(?:(?<=[ \t\n])|\A)#[ \t]*trainform:[ \t]*([^\n]*)")
_BARE = re.compile(r"[ \t]*(?:#|$)")


class Comment(NamedTuple):
    """`text` follows `# trainform:`. `line` is the line that it speaks of: its own, or below a comment that stands
    alone the next line with content."""

    text: str
    at: Position
    line: int


def comments(part: Part) -> list[Comment]:
    """The comments of one YAML document, in order."""
    scalars = sorted(_scalars(part.root))
    starts = [start for start, _ in scalars]
    found: list[Comment] = []
    subjects: dict[int, int] = {}
    for match in reversed(list(_COMMENT.finditer(part.text))):
        before = bisect_right(starts, match.start()) - 1
        if before < 0 or match.start() >= scalars[before][1]:
            at = part.position_at(match.start())
            line = subjects[at.line] = _subject(part, at, subjects)
            found.append(Comment(match[1].strip(), at, line))
    return found[::-1]


def _subject(part: Part, at: Position, below: Mapping[int, int]) -> int:
    """`below` has the subjects of comments further down: a crowd of comments is walked through once."""
    line = at.line
    if part.source.line(line)[: at.column - 1].strip():
        return line
    last = part.position_at(len(part.text)).line
    while line < last and line not in below and _BARE.match(part.source.line(line)):
        line += 1
    return below.get(line, line)


def _scalars(root: Node | None) -> Iterator[tuple[int, int]]:
    """Start and end of each scalar that may hold the text of a comment."""
    nodes, seen = [root], set[int]()
    while nodes:
        node = nodes.pop()
        if node is None or id(node) in seen:
            continue  # an alias
        seen.add(id(node))
        if isinstance(node, ScalarNode) and node.style:
            yield node.start_mark.index, node.end_mark.index
        elif isinstance(node, CollectionNode):
            nodes += [each for entry in node.value for each in (entry if isinstance(entry, tuple) else (entry,))]
