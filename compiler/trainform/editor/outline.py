"""The elements of YAML that may be half typed, each with its place.

A parser gives up at the first mistake, and somebody who types makes one with every key. So this reads line by line and
never fails: block style by its indentation, flow style by its brackets. What it cannot tell, it leaves out. For text
without mistakes, paths and values are those of `trainform.source`, except that each scalar is a string. A `Slice`
counts lines and columns from 0, as slices of strings do; `Slice.span` is what other modules see.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trainform.editor.outline_node import Offset, OutlineNode, Slice
from trainform.editor.positions import rows

MOST_CHARACTERS = 2 * 2**20
"""A longer text is not read: nobody wants to wait for a hover in it."""
MOST_STEPS = 200_000
"""After so many lines and words, what follows is left out."""

_MARKER = re.compile(r"(?:---|\.\.\.)(?:\s|$)")
_NO_CONTENT = re.compile(r"\s*(?:#|\{%|\{#|$)|%")
"""Blank lines, comments, directives, and lines that only steer a template."""
_DASH = re.compile(r"-(?:\s+|$)")
_PROPERTIES = re.compile(r"\s*(?:[&!]\S*(?:\s+|$))*")
_QUOTED = r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\''
_UNQUOTED = r"[^\s\"'\[\]{}#,&*!|>%@`](?:[^\s#:]|:(?=\S)|(?<=\S)#|\s++(?!#|:(?:\s|$)))*"
_KEY = re.compile(rf"(?P<key>{_QUOTED}|{_UNQUOTED})\s*+:(?=\s|$)")
_PLAIN = re.compile(r"(?:[^#\s]|(?<=\S)#|\s++(?=[^#]))*")
_FLOW_PLAIN = re.compile(r"(?:[^,\[\]{}:#\s]|:(?=[^\s,\[\]{}])|(?<=\S)#|\s++(?=[^,\[\]{}:#]))+")
_FLOW_QUOTED = re.compile(rf"{_QUOTED}|\{{\{{.*?(?:\}}\}}|$)|[\"'].*")
"""Every pattern takes time in proportion to the line: what a repetition gives back, nothing else matches, and none
looks ahead over what the next match would look at again."""


@lru_cache(maxsize=2)
def outline(text: str) -> Sequence[OutlineNode]:
    """The root of each document, at least one; of a text that is too long, without elements. Never raises. Nobody
    changes what it returns: a request asks several times for that of one file."""
    return _Reader(rows(text) if len(text) <= MOST_CHARACTERS else []).roots()


def unquoted(text: str) -> str:
    """What a scalar means that may be in quotes, of which the second may be missing."""
    if text[:1] == "'":
        return text[1:].removesuffix("'").replace("''", "'")
    return text[1:].removesuffix('"').replace('\\"', '"') if text[:1] == '"' else text


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.top = OutlineNode(None, None, -1, Slice(0, 0, 0))
        self.found = [self.top]
        self.steps = 0

    def roots(self) -> list[OutlineNode]:
        number = 0
        while number < len(self.lines) and self.steps < MOST_STEPS:
            self.steps += 1
            number = self._line(number)
        return self.found

    def _line(self, number: int) -> int:
        """Read what starts on a line; the number of the next line to read."""
        text = self.lines[number]
        if _MARKER.match(text):
            self.top = OutlineNode(None, None, -1, Slice(number, 0, 0), last=number)
            self.found.append(self.top)
            return number + 1
        if _NO_CONTENT.match(text):
            return number + 1
        after = self._content(number, len(text) - len(text.lstrip()))
        node: OutlineNode | None = self.top
        while node is not None:
            node.last = after - 1
            node = node.parent
        return after

    def _content(self, number: int, column: int) -> int:
        text = self.lines[number]
        while (dash := _DASH.match(text, column)) and self.steps < MOST_STEPS:
            self.steps += 1
            self._leave(column, is_dash=True)
            self.top = self.top.add(None, column, Slice(number, column, column + 1))
            column = dash.end()
            self.top.value = Slice(number, column, column)
        if column >= len(text) or text.startswith("#", column):
            return number + 1
        key = _KEY.match(text, column)
        if key is None:
            return self._scalar(number, column)
        self._leave(column)
        name = Slice(number, column, key.end("key"))
        self.top = self.top.add(unquoted(key["key"]), column, name)
        return self._value(self.top, number, key.end())

    def _leave(self, column: int, *, is_dash: bool = False) -> None:
        """Close what is not above an entry at `column`. Dashes may stand right below the key of their list."""
        while self.top.parent is not None and self.top.indent >= column:
            if is_dash and self.top.indent == column and isinstance(self.top.key, str) and self.top.has_colon:
                return
            self.top = self.top.parent

    def _scalar(self, number: int, column: int) -> int:
        """What is neither a dash nor a key: a value, or the first letters of a key."""
        text = self.lines[number]
        is_entry = isinstance(self.top.key, int) and not self.top.children and self.top.name.line == number
        is_flow = text[column] in "{[" and not text.startswith("{{", column)
        if is_entry or (is_flow and not self.top.children):
            return self._value(self.top, number, column)
        if self.top.shape in ("scalar", "block") and self.top.indent < column:
            return number + 1  # a scalar that goes on
        self._leave(column)
        word = _PLAIN.match(text, column)
        end = word.end() if word else len(text)
        self.top = self.top.add(unquoted(text[column:end]), column, Slice(number, column, end), has_colon=False)
        return number + 1

    def _value(self, node: OutlineNode, number: int, column: int) -> int:
        text = self.lines[number]
        properties = _PROPERTIES.match(text, column)
        start = properties.end() if properties else column
        rest = text[start:]
        node.value = Slice(number, start, start)
        if not rest or rest[0] == "#":
            return number + 1
        if rest[0] in "|>":
            node.shape = "block"
            return self._end(number + 1, node.indent)
        if rest[0] in "{[" and not rest.startswith("{{"):
            flow = _Flow(self.lines, self._end(number + 1, node.indent, closes=True), self.steps)
            after, self.steps = flow.read(node, Offset(number, start)), flow.steps
            return after
        node.shape = "scalar"
        if rest[0] in "\"'":
            return self._quoted(node, number, start)
        word = _PLAIN.match(text, start)
        self._set(node, Slice(number, start, word.end() if word else len(text)))
        return number + 1

    def _quoted(self, node: OutlineNode, number: int, start: int) -> int:
        """Text in quotes, which may go on below; without a second quote, to the end of its line."""
        text = self.lines[number]
        last = self._end(number + 1, node.indent)
        whole = "\n".join([text[start:], *self.lines[number + 1 : last]])
        if found := re.match(_QUOTED, whole):
            written = found[0].split("\n")
            self._set(node, Slice(number, start, start + len(written[0])))
            node.text = unquoted(" ".join(row.strip() for row in written))
            return number + len(written)
        self._set(node, Slice(number, start, len(text.rstrip())))
        return number + 1

    def _set(self, node: OutlineNode, span: Slice) -> None:
        node.value = span
        node.text = unquoted(self.lines[span.line][span.start : span.end])

    def _end(self, number: int, indent: int, *, closes: bool = False) -> int:
        """The first line from `number` that is not indented further; with `closes`, a bracket at its start does not
        count."""
        while number < len(self.lines):
            text = self.lines[number]
            bare = text.lstrip()
            is_below = len(text) - len(bare) > indent or (closes and bare[:1] in ("]", "}"))
            if bare and (not is_below or _MARKER.match(text)):
                break
            number += 1
        return number


class _Flow:
    """Reads one mapping or list in flow style, up to its last bracket, else to `end`."""

    def __init__(self, lines: list[str], end: int, steps: int) -> None:
        self.lines = lines
        self.end = end
        self.steps = steps
        self.entry: OutlineNode | None = None
        self.after_quote = False

    def read(self, node: OutlineNode, start: Offset) -> int:
        """Fill `node`; the number of the line after it."""
        number, column = start
        self.above = [node]
        self._open(node, start)
        column += 1
        while number < self.end:
            text = self.lines[number]
            while column < len(text) and self.steps < MOST_STEPS:
                self.steps += 1
                column = self._token(text, number, column)
                if not self.above:
                    return number + 1
            number, column = number + 1, 0
        last = Offset(self.end - 1, len(self.lines[self.end - 1]))
        for each in self.above:
            self._close(each, last)
        return self.end

    def _token(self, text: str, number: int, column: int) -> int:
        """Read what starts at a column; the column after it."""
        sign = text[column]
        if sign.isspace():
            return column + 1
        if sign == "#":
            return len(text)
        if sign in "[{" and not text.startswith("{{", column):
            self._push(Offset(number, column))
        elif sign in "]}":
            self._close(self.above.pop(), Offset(number, column))
            self.entry = None
        elif sign == ",":
            self.entry = None
        elif sign == ":" and (self.after_quote or not _FLOW_PLAIN.match(text, column)):
            self._colon(Slice(number, column + 1, column + 1))
        else:
            return self._scalar(text, number, column)
        self.after_quote = False
        return column + 1

    def _scalar(self, text: str, number: int, column: int) -> int:
        pattern = _FLOW_QUOTED if text[column] in "\"'{" else _FLOW_PLAIN
        found = pattern.match(text, column)
        span = Slice(number, column, found.end() if found else column + 1)
        word = unquoted(text[span.start : span.end])
        above = self.above[-1]
        if self.entry is None and above.shape == "mapping":
            self.entry = above.add(word, span.start, span, has_colon=False)
        else:
            entry = self.entry or above.add(None, span.start, span._replace(end=span.start))
            entry.shape, entry.value, entry.text = "scalar", span, word
            self.entry = entry
        self.after_quote = text[column] in "\"'"
        return span.end

    def _colon(self, place: Slice) -> None:
        if self.entry is not None and self.above[-1].shape == "mapping":
            self.entry.has_colon, self.entry.value = True, place

    def _push(self, at: Offset) -> None:
        above = self.above[-1]
        node = self.entry
        if node is None or node.children or node.shape:
            node = above.add(None if above.shape == "list" else "", at.column, Slice(*at, at.column))
        self.above.append(node)
        self._open(node, at)
        self.entry = None

    def _open(self, node: OutlineNode, at: Offset) -> None:
        node.shape = "mapping" if self.lines[at.line][at.column] == "{" else "list"
        node.value = None
        node.inside = (Offset(at.line, at.column + 1), Offset(at.line, at.column + 1))

    def _close(self, node: OutlineNode, at: Offset) -> None:
        if node.inside:
            node.inside = (node.inside[0], at)
        node.last = at.line
