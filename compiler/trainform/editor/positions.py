"""Places in a text, as the compiler and as an editor count them."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from trainform.diagnostics import Position

_LINE_END = re.compile(r"\r\n|\n|\r")


class Place16(NamedTuple):
    """A place as an editor says it: both count from 0, columns in UTF-16 code units."""

    line: int
    character: int


class Span(NamedTuple):
    """From `start` up to `end`, which is not part of it; both as the compiler counts, from 1."""

    start: Position
    end: Position

    def holds(self, at: Position) -> bool:
        """Whether a cursor there touches it: also one right behind its last character."""
        return self.start <= at <= self.end


def rows(text: str) -> list[str]:
    """The lines of a text, without their endings."""
    return _LINE_END.split(text)


class Lines:
    """A text, by line. `\\r\\n` and `\\r` end lines, too."""

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix("\ufeff")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @property
    def count(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """One line, counted from 1, without its ending; empty outside of the text."""
        if not 0 < number <= len(self._starts):
            return ""
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end].rstrip("\r\n")

    def offset(self, at: Position) -> int:
        """Where a place is in `text`; a place outside of the text is moved into it."""
        if at.line > self.count:
            return len(self.text)
        line = max(at.line, 1)
        return self._starts[line - 1] + min(max(at.column - 1, 0), len(self.line(line)))

    def position(self, offset: int) -> Position:
        """The place of an offset."""
        number = bisect_right(self._starts, offset)
        return Position(number, offset - self._starts[number - 1] + 1)

    def part(self, span: Span) -> str:
        """The text of a span."""
        return self.text[self.offset(span.start) : self.offset(span.end)]

    def to_editor(self, at: Position) -> Place16:
        """As an editor counts; a column past the end of its line is the end."""
        return to_editor(at, self.line(at.line))

    def from_editor(self, place: Place16) -> Position:
        """As the compiler counts. A place in the middle of a character is its start, as editors have it."""
        line = self.line(place.line + 1)
        if line.isascii():
            return Position(place.line + 1, min(place.character, len(line)) + 1)
        left, column = place.character, 0
        for column, character in enumerate(line):
            left -= _units(character)
            if left < 0:
                return Position(place.line + 1, column + 1)
        return Position(place.line + 1, len(line) + 1)


def to_editor(at: Position, line: str) -> Place16:
    """As an editor counts, in a `line` of text; a column past its end is the end."""
    return Place16(max(at.line - 1, 0), _units(line[: max(at.column - 1, 0)]))


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", errors="surrogatepass")) // 2
