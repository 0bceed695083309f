"""A source line with a mark under the faulty element."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from trainform.diagnostics.escape import one_line

TAB = "    "
WIDTH = 120
LEAD = 40
"""A line longer than `WIDTH` columns is cut, keeping `LEAD` columns before the mark."""

_BLANK = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")

_WINDOW = 4 * WIDTH
"""Characters examined before and after the mark; a line may have millions."""

_TOKEN = re.compile(
    r"""
      \s+                                                  # white space, a tab for example
    | "(?:[^"\\]|\\.)*"?                                  # double-quoted
    | '(?:[^']|'')*'?                                     # single-quoted
    | [\[\]{},]                                           # flow punctuation
    | .+?(?=\s*(?:$|\s\#|:(?:\s|$)|[,\]}]+(?:\s|$)))      # plain, up to a comment, a colon or the end
    """,
    re.VERBOSE,
)


class Excerpt(NamedTuple):
    """Text to print, and the columns (from 0) under the mark."""

    text: str
    start: int
    width: int


def excerpt(line: str, column: int) -> Excerpt:
    """Printable text around `column` (from 1) of `line`, and the extent of the element there. `column` counts
    characters; a tab is printed as four spaces and a wide character takes two columns, so that the mark lines up."""
    index = min(column - 1, len(line))
    end = max(end_of(line, column) - 1, index + 1)
    before, marked, after = line[max(index - _WINDOW, 0) : index], line[index:end], line[end : end + _WINDOW]
    return _cut(_printable(before), _printable(marked) or " ", _printable(after))


def end_of(line: str, column: int) -> int:
    """The column after the element at `column`; both count from 1. They are equal at the end of the line."""
    index = min(column - 1, len(line))
    token = _TOKEN.match(line, index, index + _WINDOW)
    return (token.end() if token else index) + 1


def _printable(text: str) -> str:
    """Tabs and other blanks as spaces, which all have the same width."""
    return one_line(_BLANK.sub(" ", text.replace("\t", TAB)))


def columns(text: str) -> int:
    """Terminal columns that `text` takes."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _cut(before: str, marked: str, after: str) -> Excerpt:
    if columns(before) + columns(marked) + columns(after) > WIDTH:
        before = _tail(before, LEAD)
        marked = _head(marked, WIDTH - LEAD)
        after = _head(after, max(WIDTH - columns(before) - columns(marked), 1))
    return Excerpt((before + marked + after).rstrip(), columns(before), columns(marked))


def _head(text: str, width: int) -> str:
    return text if columns(text) <= width else text[: width - 1] + "…"


def _tail(text: str, width: int) -> str:
    return text if columns(text) <= width else "…" + text[1 - width :]
