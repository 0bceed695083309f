"""What a schema error means, in words for someone who writes training jobs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean, nearest
from trainform.k8s.schema.definitions import Schema

_NOUNS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "object": "a mapping",
    "string": "a string",
}
QUOTES = "put quotes around it"
"""The hint where a string is due; who knows how the value was written can say it better."""

_LISTED = 8
"""So many known fields or values still fit into a hint."""


class SchemaProblem(NamedTuple):
    """One element that its schema refuses: where, a code of TF101 to TF105, what is wrong, what to write."""

    path: Path
    code: str
    message: str
    hint: str = ""


def missing(path: Path, name: str, known: Schema, tree: dict[str, Any]) -> SchemaProblem:
    """A required field that the mapping at `path`, with the fields `known`, does not have."""
    strange = [key for key in tree if key not in known]
    wrong = nearest(name, strange)
    hint = f'rename "{wrong}" to {name}' if wrong else ""
    return SchemaProblem((*path, name), "TF103", "is required but missing", hint)


def unknown(path: Path, name: str, known: Schema, tree: dict[str, Any]) -> SchemaProblem:
    """A field of the mapping at `path` that is none of those `known`."""
    hint = did_you_mean(name, known)
    if not hint and tree.keys() == {name} and known.keys() >= {"name", "value"}:
        hint = f"write {{name: {name}, value: …}}"
    if not hint and 0 < len(known) <= _LISTED:
        hint = f"known here: {', '.join(sorted(known))}"
    return SchemaProblem((*path, name), "TF101", "unknown field", hint)


def wrong_type(path: Path, due: list[str], value: Any) -> Iterator[SchemaProblem]:
    """A value at `path` where one of the JSON types `due` belongs."""
    wanted = " or ".join(_NOUNS[name] for name in due)
    device = isinstance(value, float) and "integer" in due and "/" in str(path[-1:])
    hint = "write a whole number: a device is not shared in parts" if device else _rewritten(due, value)
    yield SchemaProblem(path, "TF102", f"must be {wanted}, not {_noun(value)}", hint)
    if isinstance(value, dict):
        # The API server drops the fields of the mapping as well: each is said where it stands.
        for name in value:
            yield SchemaProblem((*path, name), "TF101", f"unknown field, since {wanted} is due here")


def _noun(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if value is None:
        return "null"
    if isinstance(value, float):
        return "a number with a fraction"
    return _NOUNS[{str: "string", int: "integer", dict: "object", list: "array"}[type(value)]]


def _rewritten(due: list[str], value: Any) -> str:
    """How to write `value` so that its type fits, or the empty string."""
    if "string" in due and isinstance(value, (bool, int, float)):
        return QUOTES
    if due == ["integer"] and isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value):
        return f"write {value} without quotes"
    if due == ["boolean"] and isinstance(value, str) and value.lower() in ("true", "false"):
        return f"write {value.lower()} without quotes"
    if due == ["object"] and isinstance(value, str) and re.match(r"[A-Za-z_]\w*=", value):
        name, _, rest = value.partition("=")
        return f"write {{name: {name}, value: {json.dumps(rest, ensure_ascii=False)}}}"
    if due == ["object"] and isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return "remove the `- ` before it"
    if due == ["array"]:
        return "write a list: each entry starts with `- `"
    return ""


def not_allowed(path: Path, keyword: str, limit: Any, value: Any) -> SchemaProblem:
    """A value of the right type that breaks a keyword of its schema."""
    return SchemaProblem(path, "TF104", *out_of_limit(keyword, limit, value))


def duplicate(path: Path, keys: Sequence[str], values: Sequence[Any], before: int) -> SchemaProblem:
    """An entry of a list whose `keys` have the same `values` as those of the entry `before`."""
    parts = [f"{key} {value}" for key, value in zip(keys, values, strict=False)] or [str(values[0])]
    message = f"has the same {' and '.join(parts)} as entry [{before}]"
    return SchemaProblem(path, "TF105", message, "keep one of the two, or tell them apart")


def out_of_limit(keyword: str, limit: Any, value: Any) -> tuple[str, str]:
    """Message and hint for a value that breaks a keyword."""
    if keyword == "enum":
        return _not_listed([option for option in limit if option], str(value))
    if keyword == "pattern":
        return _not_matched(limit, value)
    if limit == 1 and keyword in ("minLength", "minItems", "minProperties"):
        return "must not be empty", ""
    unit = {"maxLength": " characters", "maxItems": " entries"}.get(keyword, "")
    verb = "have" if unit else "be"
    bound = "at most" if keyword.startswith("max") else "at least"
    return f"must {verb} {bound} {limit}{unit}, not {len(value) if unit else value}", ""


def _not_listed(options: list[str], value: str) -> tuple[str, str]:
    hint = did_you_mean(value, options)
    if len(options) <= _LISTED:
        hint = f"{hint} allowed: {', '.join(options)}".lstrip()
    return f'"{value}" is not allowed here', hint


def _not_matched(pattern: str, value: str) -> tuple[str, str]:
    if "[KMGTPE]i" in pattern:
        if value.startswith("-") and re.fullmatch(pattern, value[1:]):
            return f"must not be negative, as {value} is", ""
        return f'"{value}" is not a quantity', _quantity_hint(pattern, value)
    return f'"{value}" is not a valid name', "use lower-case letters, digits and dashes"


def _quantity_hint(pattern: str, value: str) -> str:
    """What someone who wrote `value` for a quantity probably meant."""
    compact = "".join(value.split())
    if re.fullmatch(pattern, compact):
        return f"write {compact}"
    parts = re.fullmatch(r"([+-]?[0-9]+(?:\.[0-9]*)?)([kmgtpe])i?b?", compact, re.IGNORECASE)
    if parts is None:
        return "write a number with an optional suffix, such as 500m, 16G or 16Gi"
    number, unit = parts[1], parts[2].upper()
    decimal = "k" if unit == "K" else unit
    return f"write {number}{decimal} (powers of 1000) or {number}{unit}i (powers of 1024)"
