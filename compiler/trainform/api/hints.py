"""What to write instead: hints for the problems of a document's shape."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import nearest
from trainform.k8s.schema.messages import QUOTES

_RUNTIMES = "`trainform runtimes` lists the names"
_REQUIRED: dict[Path, str] = {
    ("metadata",): "write metadata: {name: …}",
    ("metadata", "name"): "write name: …, below metadata",
    ("spec", "runtimeRef"): f"write runtimeRef: {{name: torch-distributed}}; {_RUNTIMES}",
    ("spec", "runtimeRef", "name"): f"write name: torch-distributed; {_RUNTIMES}",
}
_CRUMBS = "\"'“”‘’`,; "
"""What is left around a number by mistake."""

_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")
_VARIABLE = ("name", "value", "valueFrom")


def absent(path: Path, beside: Any, known: Collection[str]) -> str:
    """How to write a required field, where `beside` is the mapping that lacks it, of `known` fields."""
    strange = [key for key in beside if key not in known] if isinstance(beside, dict) else []
    if strange and (wrong := nearest(str(path[-1]), strange)):
        return f'rename "{wrong}" to {path[-1]}'
    return _REQUIRED.get(path, "")


def rewritten(path: Path, due: str, value: Any) -> str:
    """How to write `value` so that it is what is due, or the empty string."""
    match due, value:
        case "a string", bool() | int() | float():
            return QUOTES
        case "a string", None:
            return 'for an empty string, write ""'
        case "a string", dict() if len(value) == 1:
            return _quoted_pair(value)
        case "an integer", str():
            return _number(value)
        case "true or false", str():
            return _boolean(value.lower())
        case "a list", _:
            return _list(value)
        case "a mapping", _:
            return _mapping(path, value)
    return ""


def _quoted_pair(pair: dict[str, Any]) -> str:
    """`--flag: x` in a list of strings is a mapping to YAML."""
    ((key, value),) = pair.items()
    return f'if you mean a single string, quote it: "{key}: {value}"' if isinstance(value, str) else ""


def _number(text: str) -> str:
    bare = text.strip(_CRUMBS)
    if not re.fullmatch(r"-?[0-9]+", bare):
        return ""
    return f"write {bare} without quotes" if bare == text else f"write {bare}"


def _boolean(text: str) -> str:
    word = "true" if text in _TRUE else "false" if text in _FALSE else ""
    return f"write {word} without quotes" if word else ""


def _list(value: Any) -> str:
    if not isinstance(value, str) or not value.split():
        return "write a list: each entry starts with `- `"
    words = value.split()
    if all(re.match(r"-[^-]", word) for word in words):
        return "put a space after the - of each entry"
    if "\n" in value.strip():
        return 'write ["bash", "-c", "…"], with the script as the last entry'
    return f"write {json.dumps(words, ensure_ascii=False)}"


def _mapping(path: Path, value: Any) -> str:
    if isinstance(value, str) and str(path[-1]).endswith("Ref"):
        return f"write {path[-1]}: {{name: {value}}}"
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return "remove the `- ` before it"
    return ""


def stray(path: Path, key: Any, value: Any) -> str:
    """How to write the entry `key: value` of a mapping at `path`, where a list is due."""
    if path[-1] != "env":
        return ""
    if key in _VARIABLE:
        return "write each variable as an entry: - {name: …, value: …}"
    return f"write - {{name: {key}, value: {json.dumps(str(value), ensure_ascii=False)}}}"


def better_name(name: str) -> str:
    """A label of RFC 1035 that resembles `name`."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    better = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return better if better[:1].isalpha() else f"job-{better}".rstrip("-")


def elsewhere(path: Path, levels: Sequence[tuple[Path, Collection[str]]]) -> str:
    """Where the field at `path`, which is unknown there, is known: a wrong indentation.

    `levels` are the document's upper mappings with the fields that each knows.
    """
    for place, known in levels:
        if path[-1] in known and place != path[:-1]:
            return f"{path[-1]} is a field of {'.'.join(map(str, place)) or 'the document itself'}: fix its indentation"
    return ""
