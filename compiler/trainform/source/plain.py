"""Reads plain YAML two to three times faster than the parser: printable ASCII in block style, as people write jobs. At
the first surprise it gives up, and the parser reads it all; `tests/property/test_plain.py` holds both together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from trainform.source.json_text import read_json
from trainform.source.scalars import FIRST_CHARACTERS, suspicious

Tree = Any
Collection = TypeVar("Collection", dict[str, Tree], list[Tree])

LONGEST = 2**16
"""Most characters of a text that is read here: too few for more elements than a document may have."""

DEEPEST = 30
"""Most nesting in block style, and again in brackets: together less than a document may have."""

_KEY = r"(?!(?i:y|yes|n|no|on|off|true|false|null):)[A-Za-z][A-Za-z0-9_./-]{0,250}+"
_WORD = r'[!"$-9;-~]'
"""A visible character of a plain scalar, apart from # and the colon."""

_TELLING = FIRST_CHARACTERS | {*"\"'[{"}
"""First characters of values that may be more than their text."""

_QUOTED = r"""
    "[ !#-\[\]-~]*+" | '[ -&(-~]*+'
"""
_LINE = re.compile(
    rf"""
    ([ ]*+)                                             # 1: indentation
    (-(?:[ ]++|(?=\n)))?                                # 2: dash
    (?:({_KEY}):(?=[ \n])[ ]*+)?                        # 3: key
    (?:
        (                                               # 4: value
            (?:[\w$().;<=~+/^\\]|-(?=[!-~])) {_WORD}*+ (?:(?:[ ]++|[:#]++){_WORD}++)*
            | {_QUOTED}
            | \[[ !"$-\[\]-~]*\] | \{{[ !"$-\[\]-~]*\}}
        )?
        [ ]*+(?:(?<![!-~])\#[ -~]*+)?\n
        | (\|-?\n(?:\1[ ]++[!-~][ -~]*+\n|[ ]*+\n)*)    # 5: lines of text
    )
    | ([^\n]*+\n?)                                      # 6: a surprise
    """,
    re.VERBOSE | re.ASCII,
)
"""Whatever a repeated group gives back, nothing after it matches. It must not be possessive: until 3.11.4, Python then
loses characters."""
_TOKEN = re.compile(
    rf"""
    ([\[\]{{}},])[ ]*+                                  # 1: sign
    | (                                                 # 2: scalar
        {_QUOTED}
        | (?:[\w./+=~]|-(?=\w)) [\w./+=~-]*+ (?::(?=[\w/]) [\w./+=~-]++)*
      )
      (?:(:)[ ]++|[ ]*+(?=[,\]}}]))                     # 3: colon
    | (.++)                                             # 4: a surprise, and what follows it
    """,
    re.VERBOSE | re.ASCII,
)


_LONG_KEY = '"[^"]{1000}'


class _Surprise(Exception):
    """Something that only the parser reads."""


def plain_tree(text: str) -> Tree | None:
    """The tree of a document of plain YAML, or of JSON in one line; None if the parser must read it."""
    if len(text) > LONGEST:
        return None
    start = 4 if text.startswith("---\n") else 0
    try:
        return _json(text[start:].removesuffix("\n")) if text[start : start + 1] == "{" else _read(text, start)
    except (_Surprise, ValueError):
        return None


def _json(text: str) -> Tree:
    """JSON that is YAML, too: there, a key has at most 1,024 characters, and escapes are others."""
    if not (text.isascii() and text.isprintable()) or "\\" in text or re.search(_LONG_KEY, text):
        raise _Surprise
    return read_json(text)


def _read(text: str, start: int) -> Tree:
    if not text.endswith("\n"):
        raise _Surprise
    nest = _Nest()
    mapping, left = nest.root, -1
    for indent, dash, key, value, block, surprise in _LINE.findall(text, start):
        column = len(indent)
        if key:
            if dash:
                mapping = nest.entries_of_item(column, len(dash))
                left = column + len(dash)
            elif column != left:
                mapping = nest.entries(column)
                left = column
            if key in mapping:
                raise _Surprise
            if value or block:
                mapping[key] = _text(block, left) if block else _value(value) if value[0] in _TELLING else value
                nest.column = LONGEST
            else:
                mapping[key] = None
                nest.await_value(mapping, key, left)
        elif dash:
            nest.items(column).append(_text(block, column) if block else _value(value))
            left = -1
        elif value or block or surprise:
            raise _Surprise
    return nest.root[""]


class _Nest:
    """The open collections, outermost first, and the `columns` in which their entries start. The entry `key` of
    `holder` has no value yet: a list may follow in `column` or further right, a mapping further right."""

    __slots__ = ("column", "columns", "holder", "key", "open", "root")

    def __init__(self) -> None:
        self.root: dict[str, Tree] = {"": None}
        self.open: list[Tree] = [self.root]
        self.columns = [-1]
        self.await_value(self.root, "", -1)

    def await_value(self, holder: dict[str, Tree], key: str, column: int) -> None:
        """What follows may be the value of an entry that starts in `column`."""
        self.holder, self.key, self.column = holder, key, column

    def items(self, column: int) -> list[Tree]:
        """The list whose dashes stand in `column`."""
        if column >= self.column:
            return self._enter(column, [])
        self.column = LONGEST
        self._leave(column)
        found = self.open[-1]
        if self.columns[-1] != column or type(found) is not list:
            raise _Surprise
        return found

    def entries(self, column: int) -> dict[str, Tree]:
        """The mapping whose keys start in `column`."""
        if column > self.column:
            return self._enter(column, {})
        self.column = LONGEST
        self._leave(column)
        if type(self.open[-1]) is list:  # its dashes may stand in the column of the keys around it
            self._close()
        found = self.open[-1]
        if self.columns[-1] != column or type(found) is not dict:
            raise _Surprise
        return found

    def entries_of_item(self, column: int, dash: int) -> dict[str, Tree]:
        """A new mapping in the list whose dashes stand in `column`; its keys start `dash` further right."""
        mapping: dict[str, Tree] = {}
        self.items(column).append(mapping)
        self.columns.append(column + dash)
        self.open.append(mapping)
        return mapping

    def _enter(self, column: int, collection: Collection) -> Collection:
        """Begin the value that is waited for."""
        if len(self.columns) > DEEPEST:
            raise _Surprise
        self.holder[self.key] = collection
        self.column = LONGEST
        self.columns.append(column)
        self.open.append(collection)
        return collection

    def _leave(self, column: int) -> None:
        """Close the collections that start further right."""
        while self.columns[-1] > column:
            self._close()

    def _close(self) -> None:
        self.columns.pop()
        self.open.pop()


def _value(text: str) -> Tree:
    if text[:1] in ("[", "{"):
        return _in_brackets(text)
    if text[:1] in ('"', "'"):
        return text[1:-1]
    if text[:1] not in FIRST_CHARACTERS or (found := suspicious(text)) is None:
        return text
    value = found[0]
    if isinstance(value, str) or (isinstance(value, float) and not math.isfinite(value)):
        raise _Surprise
    return value


def _text(block: str, column: int) -> str:
    """The text of `|` and the lines below, which must start further right than `column`."""
    sign, *lines = block.removesuffix("\n").split("\n")
    first = lines[0] if lines else ""
    width = len(first) - len(first.lstrip(" "))
    if width == len(first) or width <= column or any(line[:width].strip(" ") for line in lines):
        raise _Surprise
    text = "\n".join(line[width:] for line in lines).rstrip("\n")
    return text if sign == "|-" else f"{text}\n"


_Token = tuple[str, str, str, str]
_NONE: _Token = ("", "", "", "")


def _in_brackets(text: str) -> Tree:
    if text.count("[") + text.count("{") > DEEPEST:
        raise _Surprise
    if text.startswith('["'):  # as most commands are written
        try:
            return read_json(text)
        except ValueError:
            pass
    tokens = iter(_TOKEN.findall(text))
    tree = _collection(next(tokens)[0], tokens)
    if next(tokens, None) is not None:
        raise _Surprise
    return tree


def _collection(sign: str, tokens: Iterator[_Token]) -> Tree:
    if sign == "[":
        return _items(tokens)
    if sign == "{":
        return _entries(tokens)
    raise _Surprise


def _items(tokens: Iterator[_Token]) -> list[Tree]:
    items: list[Tree] = []
    for sign, scalar, colon, _ in tokens:
        if sign == "]" and not items:
            return items
        if colon:
            raise _Surprise
        items.append(_value(scalar) if scalar else _collection(sign, tokens))
        sign = next(tokens, _NONE)[0]
        if sign == "]":
            return items
        if sign != ",":
            raise _Surprise
    raise _Surprise


def _entries(tokens: Iterator[_Token]) -> dict[str, Tree]:
    entries: dict[str, Tree] = {}
    for sign, name, colon, _ in tokens:
        if sign == "}" and not entries:
            return entries
        key = _value(name) if colon else None
        if not isinstance(key, str) or key in entries:
            raise _Surprise
        sign, scalar, colon, _ = next(tokens, _NONE)
        if colon:
            raise _Surprise
        entries[key] = _value(scalar) if scalar else _collection(sign, tokens)
        sign = next(tokens, _NONE)[0]
        if sign == "}":
            return entries
        if sign != ",":
            raise _Surprise
    raise _Surprise
