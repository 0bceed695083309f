"""Hints for values that do not fit their schema."""

from __future__ import annotations

import json
import re
from typing import Any

from trainform.diagnostics import Path

QUOTES = "put quotes around it"
"""Hint where a string is expected; a caller who knows the source text can say more."""

_CRUMBS = "\"'“”‘’`,; "
"""Characters left around a number by mistake."""

_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


def rewritten(path: Path, due: str, value: Any) -> str:
    """How to write `value` as the expected type (`a string`, `an integer or a string`), or empty."""
    if "string" in due and isinstance(value, (bool, int, float)):
        is_device = isinstance(value, float) and "integer" in due and "/" in str(path[-1:])
        return "write a whole number: devices cannot be split" if is_device else QUOTES
    match due, value:
        case "a string", None:
            return 'write "" if it is meant to be empty'
        case "a string", dict() if len(value) == 1:
            return _quoted_pair(value)
        case "an integer", str():
            return _number(value)
        case "true or false", str() if value.lower() in (*_TRUE, *_FALSE):
            return f"write {'true' if value.lower() in _TRUE else 'false'} without quotes"
        case "a list", _:
            return _list(value)
        case "a mapping", _:
            return _mapping(path, value)
    return ""


def _quoted_pair(pair: dict[str, Any]) -> str:
    """Hint for `--flag: x` in a list of strings, which YAML reads as a mapping."""
    ((key, value),) = pair.items()
    return f'if you mean a single string, quote it: "{key}: {value}"' if isinstance(value, str) else ""


def _number(text: str) -> str:
    bare = text.strip(_CRUMBS)
    if not re.fullmatch(r"-?[0-9]+", bare):
        return ""
    return f"write {bare} without quotes" if bare == text else f"write {bare}"


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
    if isinstance(value, str) and path and str(path[-1]).endswith("Ref"):
        return f"write {path[-1]}: {{{'key' if path[-1] == 'remoteRef' else 'name'}: {value}}}"
    if isinstance(value, str) and re.match(r"[A-Za-z_]\w*=", value):
        name, _, rest = value.partition("=")
        return f"write {{name: {name}, value: {json.dumps(rest, ensure_ascii=False)}}}"
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return "remove the `- ` before it"
    return ""


def quantity(pattern: str, value: str) -> str:
    """A hint for an invalid quantity."""
    compact = "".join(value.split())
    if re.fullmatch(pattern, compact):
        return f"write {compact}"
    parts = re.fullmatch(r"([+-]?[0-9]+(?:\.[0-9]*)?)([kmgtpe])i?b?", compact, re.IGNORECASE)
    if parts is None:
        return "write a number with an optional suffix, such as 500m, 16G or 16Gi"
    number, unit = parts[1], parts[2].upper()
    decimal = "k" if unit == "K" else unit
    return f"write {number}{decimal} (powers of 1000) or {number}{unit}i (powers of 1024)"
