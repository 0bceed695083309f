"""Messages and hints for schema errors."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
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
_FOUND = {
    bool: "a boolean",
    dict: "a mapping",
    float: "a fractional number",
    int: "an integer",
    list: "a list",
}
_LONGEST = 60
"""Maximum characters of a value in a message."""

MOST_UNKNOWN = 100
"""Most unknown fields of a mapping that are reported one by one."""

MOST_PROBLEMS = 1000
"""Most problems of an object that are reported."""

_LISTED = 8
"""Maximum known fields or values in a hint."""


class SchemaProblem(NamedTuple):
    """An invalid element: path, code from TF101 to TF105, message and hint."""

    path: Path
    code: str
    message: str
    hint: str = ""


def missing(path: Path, name: str, known: Schema, tree: dict[str, Any]) -> SchemaProblem:
    """A required field missing from the mapping `tree` at `path`; `known` are its fields."""
    return SchemaProblem((*path, name), "TF103", "is required but missing", misspelt(name, known, tree))


def misspelt(name: str, known: Collection[str], tree: Collection[str]) -> str:
    """A hint if `tree`, which lacks `name`, has a similar unknown field; else empty."""
    wrong = nearest(name, [key for key in tree if key not in known])
    return f'rename "{wrong}" to {name}' if wrong else ""


def unknown(path: Path, name: str, known: Schema, tree: dict[str, Any]) -> SchemaProblem:
    """A field of the mapping at `path` that is not in `known`."""
    is_pair = tree.keys() == {name} and known.keys() >= {"name", "value"} and not did_you_mean(name, known)
    hint = f"write {{name: {name}, value: …}}" if is_pair else known_here(name, known)
    return SchemaProblem((*path, name), "TF101", "unknown field", hint)


def more_unknown(path: Path, count: int) -> SchemaProblem:
    """What stands for `count` further unknown fields of the mapping at `path`."""
    return SchemaProblem(path, "TF101", f"and {count:,} more unknown fields", "fix the first ones, then run again")


def more_problems(path: Path) -> SchemaProblem:
    """What stands for all further problems of an object, the first of which is at `path`."""
    message = f"and more: only the first {MOST_PROBLEMS:,} problems of an object are shown"
    return SchemaProblem(path, "TF104", message, "fix these, then run again")


def known_here(name: str, known: Collection[str]) -> str:
    """The nearest known name, or all of them if none is near and they are few."""
    few = f"known fields: {', '.join(sorted(known))}" if 0 < len(known) <= _LISTED else ""
    return did_you_mean(name, known) or few


def wrong_type(path: Path, due: list[str], value: Any) -> Iterator[SchemaProblem]:
    """A value at `path` that has none of the JSON types `due`."""
    from trainform.k8s.schema.hints import rewritten  # only mistakes need it

    wanted = " or ".join(_NOUNS[name] for name in due)
    yield SchemaProblem(path, "TF102", f"must be {wanted}, not {noun(value)}", rewritten(path, wanted, value))
    if isinstance(value, dict):
        # The API server drops the mapping's fields too: report each.
        for name in islice(value, MOST_UNKNOWN):
            yield SchemaProblem((*path, name), "TF101", f"unknown field: expected {wanted}")


def noun(value: Any) -> str:
    """A value described in YAML terms; long text is cut."""
    if isinstance(value, str):
        line = value.split("\n")[0]
        whole = line == value and len(line) <= _LONGEST
        return f'the string "{line}"' if whole else f'the string "{line[:_LONGEST]}…"'
    if isinstance(value, float) and value.is_integer():
        return "a number that is too large"
    return _FOUND.get(type(value), "null")


def duplicate(path: Path, keys: Sequence[str], values: Sequence[Any], before: int) -> SchemaProblem:
    """A list entry whose `keys` have the same `values` as entry `before`."""
    parts = [f"{key} {value}" for key, value in zip(keys, values, strict=False)] or [str(values[0])]
    message = f"has the same {' and '.join(parts)} as entry [{before}]"
    return SchemaProblem(path, "TF105", message, "remove one of them, or make them distinct")


def out_of_limit(keyword: str, limit: Any, value: Any) -> tuple[str, str]:
    """Message and hint for a value that breaks a keyword."""
    if keyword == "enum":
        return _not_listed([option for option in limit if option], value)
    if keyword == "pattern":
        return _not_matched(limit, value)
    if limit == 1 and keyword in ("minLength", "minItems", "minProperties"):
        return "must not be empty", ""
    unit = {"maxLength": " characters", "maxItems": " entries"}.get(keyword, "")
    verb = "have" if unit else "be"
    bound = "at most" if keyword.startswith("max") else "at least"
    return f"must {verb} {bound} {limit}{unit}, not {len(value) if unit else value}", ""


def _not_listed(options: list[str], value: Any) -> tuple[str, str]:
    hint = did_you_mean(str(value), options)
    if len(options) <= _LISTED:
        hint = f"{hint} allowed: {', '.join(options)}".lstrip()
    return f"{json.dumps(value, ensure_ascii=False)} is not allowed here", hint


def _not_matched(pattern: str, value: str) -> tuple[str, str]:
    if "[KMGTPE]i" in pattern:
        from trainform.k8s.schema import hints

        if value.startswith("-") and re.fullmatch(pattern, value[1:]):
            return f"must not be negative, but is {value}", ""
        return f'"{value}" is not a quantity', hints.quantity(pattern, value)
    if "a-zA-Z" in pattern:
        return f'"{value}" is not a valid key', "use letters, digits, dots, dashes and underscores"
    return f'"{value}" is not a valid name', "use lowercase letters, digits and dashes"
