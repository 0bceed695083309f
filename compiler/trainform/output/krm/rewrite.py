"""Edits a KRM function's list in its own text. Items are cut out and others put in their place; everything else keeps
its comments, order and quoting."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from yaml.error import YAMLError
from yaml.nodes import MappingNode, Node, SequenceNode

from trainform.k8s.tree import Tree
from trainform.output.emitter import emit
from trainform.output.krm.resource_list import ResourceList
from trainform.source.build import Builder, read_key
from trainform.source.parser import compose
from trainform.source.part import Part


class Replacement(NamedTuple):
    """What becomes of an item: whether it is kept, and the objects that follow or replace it."""

    stays: bool = True
    trees: Sequence[Tree] = ()


Places = Sequence[Replacement]
"""One for each item of the list."""


def rewrite(found: ResourceList, places: Places, results: Sequence[Tree]) -> str:
    """The list with its items replaced and `results` appended to its own, in the input's format."""
    if found.part is not None and not results and not any(map(_changes, places)):
        return found.part.text
    tree = _rewritten(found, places, results)
    if found.part is None:
        return emit(tree)
    if found.part.text.lstrip().startswith("{"):
        return json.dumps(tree, ensure_ascii=False, indent=2) + "\n"
    text = _spliced(found.part, places, tree["results"] if results else [])
    return text if text is not None and _reads_as(text, tree) else emit(tree)


def _changes(place: Replacement) -> bool:
    return not place.stays or bool(place.trees)


def _rewritten(found: ResourceList, places: Places, results: Sequence[Tree]) -> Tree:
    items: list[Tree] = []
    for item, place in zip(found.items, places, strict=True):
        items.extend([item.tree, *place.trees] if place.stays else place.trees)
    tree = {**found.tree, "items": items}
    if results:
        earlier = found.tree.get("results")
        tree["results"] = [*(earlier if isinstance(earlier, list) else []), *results]
    return tree


def _reads_as(text: str, tree: Tree) -> bool:
    """Whether the edited text parses to the intended tree. It does not if a removed item had anchors that a kept one
    uses."""
    try:
        root = compose(text)
    except YAMLError:
        return False
    return root is not None and Builder().build(root) == tree


class _Edit(NamedTuple):
    """Replacement text for the lines from `start` up to but excluding `end`, counted from 0."""

    start: int
    end: int
    text: str


def _spliced(part: Part, places: Places, results: Sequence[Tree]) -> str | None:
    """The text with its items replaced, or None if they are not a block list."""
    lines = [f"{line}\n" for line in part.text.removesuffix("\n").split("\n")]
    entries = _entries(part.root)
    edits: list[_Edit] = []
    if any(map(_changes, places)):
        key, items = entries.get("items", (None, None))
        if key is None or not isinstance(items, SequenceNode) or items.flow_style or len(items.value) != len(places):
            return None
        edits = [*_item_edits(lines, key, items, places), *_emptied(lines, key, places)]
    if results and "results" in entries:
        key, earlier = entries["results"]
        edits.append(_Edit(key.start_mark.line, _line_behind(lines, earlier), ""))
    for edit in sorted(edits, reverse=True):
        lines[edit.start : edit.end] = [edit.text]
    return "".join(lines) + (emit({"results": list(results)}) if results else "")


def _emptied(lines: Sequence[str], key: Node, places: Places) -> list[_Edit]:
    """`items: []` if nothing is left."""
    if any(place.stays or place.trees for place in places):
        return []
    line, column = key.end_mark.line, key.end_mark.column
    return [_Edit(line, line + 1, lines[line][:column] + lines[line][column:].replace(":", ": []", 1))]


def _entries(root: Node | None) -> dict[str | None, tuple[Node, Node]]:
    pairs = root.value if isinstance(root, MappingNode) and not root.flow_style else []
    return {read_key(key): (key, value) for key, value in pairs}


def _item_edits(lines: Sequence[str], key: Node, items: SequenceNode, places: Places) -> Iterator[_Edit]:
    indent = items.start_mark.column
    for (start, end), place in zip(_item_lines(lines, key, items), places, strict=True):
        if _changes(place):
            yield _Edit(end if place.stays else start, end, _as_items(place.trees, indent))


def _item_lines(lines: Sequence[str], key: Node, items: SequenceNode) -> Iterator[tuple[int, int]]:
    """For each item, its first line (including a comment above its dash) and the line after its last."""
    indent = items.start_mark.column
    starts = []
    for item in items.value:
        start = item.start_mark.line
        while lines[start][:indent].strip() or lines[start][indent : indent + 1] != "-":
            start -= 1  # the dash may be on its own line
        while start > key.end_mark.line + 1 and _is_comment(lines[start - 1], indent):
            start -= 1
        starts.append(start)
    return zip(starts, [*starts[1:], _line_behind(lines, items)], strict=True)


def _is_comment(line: str, indent: int) -> bool:
    """Whether the line is a comment no deeper than the dashes, and so belongs to the item below."""
    return line.lstrip().startswith("#") and len(line) - len(line.lstrip()) <= indent


def _line_behind(lines: Sequence[str], node: Node) -> int:
    """The line after a node's last. To libyaml, a block ends only where the next token begins."""
    line: int = node.end_mark.line
    if line < len(lines) and lines[line][: node.end_mark.column].strip():
        return line + 1
    while not lines[line - 1].strip() or _is_comment(lines[line - 1], node.start_mark.column):
        line -= 1
    return line


def _as_items(trees: Sequence[Tree], indent: int) -> str:
    """Objects as items of a list whose dashes are at column `indent`."""
    text, margin = "", " " * indent
    for tree in trees:
        first, *rest = emit(tree).splitlines(keepends=True)
        text += f"{margin}- {first}" + "".join(line if line == "\n" else f"{margin}  {line}" for line in rest)
    return text
