"""Reads JSON several times faster than the YAML parser."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from trainform.source.limits import MAX_DEPTH
from trainform.source.scalars import read_plain

_SURROGATE_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"


def read_json(text: str) -> Any:
    """The tree of a JSON text. ValueError for input that the YAML parser should handle: invalid JSON, duplicate keys,
    lone surrogates, excessive depth or numbers."""
    try:
        tree = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if text.count("{") + text.count("[") > MAX_DEPTH and _height(tree) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if "\\u" in text:
        json.dumps(tree, ensure_ascii=False).encode()
    return tree


def split_values(text: str) -> list[tuple[int, str]]:
    """The JSON values that follow each other in a text, as `jq` and client libraries print them, each with its offset.
    ValueError if anything is not JSON."""
    found: list[tuple[int, str]] = []
    at = 0
    while start := _BLANKS.match(text, at):
        if start.end() == len(text):
            return found
        try:
            _, at = _PLAIN.raw_decode(text, start.end())
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        found.append((start.end(), text[start.end() : at]))
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        raise ValueError("duplicate key")
    return tree


def _number(text: str) -> Any:
    value = read_plain(text)
    if isinstance(value, str):
        raise ValueError("number out of range")
    return value


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _height(tree: Any) -> int:
    """Nesting of a tree; recursion is safe because the JSON decoder has limited the depth."""
    if isinstance(tree, dict):
        return 1 + max(map(_height, tree.values()), default=0)
    return 1 + max(map(_height, tree), default=0) if isinstance(tree, list) else 0


_PLAIN = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_number, parse_float=_number, parse_constant=_refuse)


def without_pairs(text: str) -> str:
    """The text with surrogate pair escapes, which YAML lacks, replaced by as many other characters."""
    return re.sub(_SURROGATE_PAIR, "_" * 12, text) if "\\u" in text else text
