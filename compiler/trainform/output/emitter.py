"""Canonical YAML: each tree has one text, and every reader parses it the same. Strings are unquoted only if every YAML
parser (1.1, 1.2, go-yaml, PyYAML, ruamel, Rust's) reads a string. Two-space indentation, lists at their key's column
like kubectl's, no aliases, no folding."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

HEADER = b"# Written by trainform: edit the TrainJob, then run `trainform render`.\n"
"""The first line of every file that we write, for people only: the lockfiles say which files are ours."""

_HEAD = ("apiVersion", "kind", "metadata")
_METADATA_HEAD = ("name", "namespace", "labels", "annotations")
_MAX_SIMPLE_KEY = 1000  # YAML's limit is 1024 characters, quotes and escapes included
_LONG_KEY = r"^( *)((?:- )*)\0(.*)\0:"

_BARE = re.compile(
    r"""(?:[A-Za-z/$(]|_[A-Za-z]|--?[A-Za-z]|\.\.?/)      # no digit, no indicator
        [!"$-9;-~]*                                        # printable, neither blank nor # nor :
        (?:(?:\ |:)[!"$-9;-~]+)*                           # a colon or a blank only inside
      | [0-9]+(?:\.[0-9]+)?(?:m|k|M|G|T|P|[KMGTPE]i)       # a quantity
    """,
    re.VERBOSE,
).fullmatch
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"])
_UNREADABLE = r"[^ -~]"
_SCALARS: dict[Any, str] = {None: "null", True: "true", False: "false"}

_KEYS: dict[str, str] = {}
_STRINGS: dict[str, str] = {}
"""The texts of keys and strings: manifests repeat the same few hundred."""

_MOST_KEPT = 50_000


def emit(tree: dict[str, Any]) -> str:
    """One document, ending in a newline, without `---`. Order: apiVersion, kind, metadata (name, namespace, labels,
    annotations first), then as given. Trees hold dict, list, str, int, float, bool and None; no infinities."""
    if not tree:
        return "{}\n"
    parts: list[str] = []
    _mapping(_with_head(tree), "\n", "\n", parts)
    text = "".join(parts)[1:] + "\n"
    return re.sub(_LONG_KEY, _explicit_key, text, flags=re.MULTILINE) if "\0" in text else text


def emit_stream(trees: Iterable[dict[str, Any]]) -> str:
    """Documents as written by `emit`, with `---` between them."""
    return "---\n".join(map(emit, trees))


def _with_head(tree: dict[str, Any]) -> dict[str, Any]:
    ordered = _reordered(tree, _HEAD)
    metadata = ordered.get("metadata")
    if isinstance(metadata, dict):
        ordered["metadata"] = _reordered(metadata, _METADATA_HEAD)
    return ordered


def _reordered(tree: dict[str, Any], head: tuple[str, ...]) -> dict[str, Any]:
    return {key: tree[key] for key in head if key in tree} | tree


def _mapping(tree: dict[str, Any], lead: str, indent: str, parts: list[str]) -> None:
    """The entries of a mapping: `lead` precedes the first, `indent` the rest. Both begin with the newline that ends the
    line above."""
    for key, value in tree.items():
        kind, name = type(value), _KEYS.get(key) or _key(key)
        if kind is str and "\n" not in value:
            parts.append(f"{lead}{name} {_STRINGS.get(value) or _string(value)}")
        elif kind is dict and value:
            parts.append(lead + name)
            inner = indent + "  "
            _mapping(value, inner, inner, parts)
        elif kind is list and value:
            parts.append(lead + name)
            _sequence(value, indent + "- ", indent, parts)
        else:
            parts.append(f"{lead}{name} {_leaf(value, indent)}")
        lead = indent


def _sequence(items: list[Any], lead: str, indent: str, parts: list[str]) -> None:
    """The items of a list whose dashes are at `indent`; `lead` ends in the first one's dash."""
    dash, inner = indent + "- ", indent + "  "
    for item in items:
        kind = type(item)
        if kind is str and "\n" not in item:
            parts.append(lead + (_STRINGS.get(item) or _string(item)))
        elif kind is dict and item:
            _mapping(item, lead, inner, parts)
        elif kind is list and item:
            _sequence(item, lead + "- ", inner, parts)
        else:
            parts.append(lead + _leaf(item, indent))
        lead = dash


def _leaf(value: Any, indent: str) -> str:
    """A scalar or an empty collection, on a line with that indent; TypeError for other types."""
    if isinstance(value, str):
        return _literal(value, indent + "  ") if "\n" in value and _fits_literal(value) else _string(value)
    if isinstance(value, float):
        return _float(value)
    if value is None or isinstance(value, bool):
        return _SCALARS[value]
    if isinstance(value, int):
        return str(value)
    if value == {} or value == []:
        return "{}" if isinstance(value, dict) else "[]"
    raise TypeError(f"{type(value).__name__} has no place in a manifest")


def _float(value: float) -> str:
    """A float that YAML 1.1 also reads as one: it requires a point before the exponent."""
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _key(key: str) -> str:
    """A key and its colon."""
    text = _one_line(key)
    return _kept(_KEYS, key, f"{text}:" if len(text) < _MAX_SIMPLE_KEY else f"\0{text}\0:")


def _string(text: str) -> str:
    return _kept(_STRINGS, text, _one_line(text))


def _kept(texts: dict[str, str], of: str, text: str) -> str:
    if len(texts) < _MOST_KEPT:
        texts[of] = text
    return text


def _explicit_key(match: re.Match[str]) -> str:
    """YAML's form for a key that is too long: `? key`, and `: value` below."""
    spaces, dashes, key = match.groups()
    return f"{spaces}{dashes}? {key}\n{spaces}{' ' * len(dashes)}:"


def _one_line(text: str) -> str:
    """A string on one line, unquoted if that is safe."""
    if _BARE(text) and text.lower() not in _RESERVED:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isprintable() else re.sub(_UNREADABLE, _escape, quoted)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _fits_literal(text: str) -> bool:
    """Whether a literal block keeps every character in every reader."""
    if text[0] in " \n" or " \n" in text or text[-1] == " ":
        return False
    return text.replace("\n", "").isprintable()


def _literal(text: str, indent: str) -> str:
    body, newline, _ = text.rpartition("\n") if text[-1] == "\n" else (text, "", "")
    head = "|-" if not newline else "|+" if body[-1] == "\n" else "|"
    return head + "".join(indent + line if line else "\n" for line in body.split("\n"))
