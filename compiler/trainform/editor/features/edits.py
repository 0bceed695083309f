"""Changes of a document's text: a value, a key, or an element that goes. Everything else stays as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from trainform.diagnostics import Path, Position
from trainform.diagnostics.fixes import Fix, RemoveElement, RenameKey, SetValue
from trainform.editor.positions import Lines, Span
from trainform.editor.spans import end_of
from trainform.source.build import is_merge, read_key

if TYPE_CHECKING:
    from trainform.source import Document


class TextEdit(NamedTuple):
    """The text of a span becomes `text`."""

    span: Span
    text: str


def applied(lines: Lines, edit: TextEdit) -> str:
    """The whole text after an edit."""
    start, end = lines.offset(edit.span.start), lines.offset(edit.span.end)
    return lines.text[:start] + edit.text + lines.text[end:]


def edit_of(document: Document, fix: Fix, at: Position | None = None) -> TextEdit | None:
    """The change of the text; None if there is no such element, or the document is a template or JSON. `at` tells
    apart elements of one path, such as duplicate keys."""
    root = document.part.root
    if root is None or document.part.source.is_template or document.part.text.lstrip().startswith("{"):
        return None
    path = document.prefix + fix.path
    editor = _TextEditor(document, root)
    if isinstance(fix, SetValue):
        return editor.set(path, fix.text)
    if isinstance(fix, RenameKey):
        return editor.rename(path, fix.text)
    assert isinstance(fix, RemoveElement)
    return editor.remove(path, at)


class _Step(NamedTuple):
    """An entry of a collection, as written."""

    name: str | int
    key: Node | None
    value: Node

    @property
    def start(self) -> int:
        return int((self.key or self.value).start_mark.index)


class _TextEditor(NamedTuple):
    document: Document
    root: Node

    def set(self, path: Path, text: str) -> TextEdit | None:
        steps = self._along(path)
        last = steps[-1] if steps else None
        if len(steps) == len(path) and last is not None:
            return self._put(last, text)
        parent = steps[-1].value if steps else self.root
        missing = path[len(steps) :]
        if not all(isinstance(name, str) for name in missing) or not missing:
            return None
        for name in reversed(missing[1:]):
            text = f"{{{name}: {text}}}"
        return self._add(steps[-1] if steps else None, parent, f"{missing[0]}: {text}")

    def _put(self, step: _Step, text: str) -> TextEdit:
        node = step.value
        is_block = isinstance(node, CollectionNode) and not node.flow_style
        if step.key is not None and (is_block or _is_empty(node)):
            return self._edit(step.key.end_mark.index, max(end_of(node), step.key.end_mark.index + 1), f": {text}")
        return self._edit(node.start_mark.index, end_of(node), text)

    def _add(self, step: _Step | None, parent: Node, entry: str) -> TextEdit | None:
        """A new entry, in front of the others."""
        if isinstance(parent, MappingNode) and parent.value:
            start = int(parent.value[0][0].start_mark.index)
            if parent.flow_style:
                return self._edit(start, start, f"{entry}, ")
            column = self.document.part.position_at(start).column
            return self._edit(start, start, f"{entry}\n{' ' * (column - 1)}")
        is_empty = isinstance(parent, MappingNode) or _is_empty(parent)
        return self._put(step, f"{{{entry}}}") if step is not None and is_empty else None

    def rename(self, path: Path, text: str) -> TextEdit | None:
        steps = self._along(path)
        key = steps[-1].key if steps and len(steps) == len(path) else None
        return self._edit(key.start_mark.index, key.end_mark.index, text) if key is not None else None

    def remove(self, path: Path, at: Position | None) -> TextEdit | None:
        steps = self._along(path)
        if not steps or len(steps) != len(path):
            return None
        above = steps[-2] if len(steps) > 1 else None
        entries = _entries(above.value if above else self.root)
        index = self._index(entries, path[-1], at)
        if len(entries) == 1:
            return self._put(above, "{}" if entries[0].key is not None else "[]") if above else None
        if index + 1 < len(entries):
            return self._edit(entries[index].start, entries[index + 1].start, "")
        return self._edit(end_of(entries[index - 1].value), end_of(entries[index].value), "")

    def _index(self, entries: Sequence[_Step], name: str | int, at: Position | None) -> int:
        """Of several entries of a name, the one at a place, else the last."""
        named = [index for index, each in enumerate(entries) if each.name == name]
        here = [index for index in named if self.document.part.position_at(entries[index].start) == at]
        return (here or named)[-1]

    def _along(self, path: Path) -> list[_Step]:
        """The entries along a path, as far as there are any."""
        found: list[_Step] = []
        node = self.root
        for name in path:
            entry = next((each for each in reversed(_entries(node)) if each.name == name), None)
            if entry is None:
                break
            found.append(entry)
            node = entry.value
        return found

    def _edit(self, start: int, end: int, text: str) -> TextEdit:
        part = self.document.part
        return TextEdit(Span(part.position_at(start), part.position_at(end)), text)


def _entries(node: Node) -> list[_Step]:
    """The entries of a collection as written; not those that an alias or a merge key brings from elsewhere."""
    if isinstance(node, SequenceNode):
        return [_Step(index, None, value) for index, value in enumerate(node.value)]
    if isinstance(node, MappingNode):
        return [_Step(read_key(key) or "", key, value) for key, value in node.value if not is_merge(key)]
    return []


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.start_mark.index == node.end_mark.index
