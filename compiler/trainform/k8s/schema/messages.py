"""What a schema error means, in words for someone who writes training jobs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean, nearest
from trainform.k8s.schemas import Schema, definitions

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

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


def explain(error: ValidationError) -> Iterator[SchemaProblem]:
    """The problems behind one error of a validator that was made from `definitions()`."""
    path = tuple(error.instance_path)
    found = error.kind.as_dict()
    match error.kind.name:
        case "additionalProperties":
            known = _owner(error).get("properties", {})
            yield from (_unknown(path, name, known, error.instance) for name in found["unexpected"])
        case "required":
            yield _missing(path, found["property"], _owner(error).get("properties", {}), error.instance)
        case "type":
            yield from _wrong_type(path, found["types"], error.instance)
        case keyword:
            yield SchemaProblem(path, "TF104", *_invalid(keyword, found, error.instance))


def _owner(error: ValidationError) -> Schema:
    """The schema that holds the keyword that failed."""
    schema: Any = {"$defs": definitions()}
    for step in error.schema_path[:-1]:
        schema = schema[step]
    return dict(schema)


def _missing(path: Path, name: str, known: Schema, value: Any) -> SchemaProblem:
    strange = [key for key in value if key not in known] if isinstance(value, dict) else []
    wrong = nearest(name, strange)
    hint = f'rename "{wrong}" to {name}' if wrong else ""
    return SchemaProblem((*path, name), "TF103", "is required but missing", hint)


def _unknown(path: Path, name: str, known: Schema, value: Any) -> SchemaProblem:
    hint = did_you_mean(name, known)
    if not hint and value.keys() == {name} and known.keys() >= {"name", "value"}:
        hint = f"write {{name: {name}, value: …}}"
    if not hint and 0 < len(known) <= _LISTED:
        hint = f"known fields: {', '.join(sorted(known))}"
    return SchemaProblem((*path, name), "TF101", "unknown field", hint)


def _wrong_type(path: Path, due: list[str], value: Any) -> Iterator[SchemaProblem]:
    wanted = " or ".join(_NOUNS[name] for name in due)
    device = isinstance(value, float) and "integer" in due and "/" in str(path[-1])
    hint = "write a whole number: devices cannot be split" if device else _rewritten(due, value)
    yield SchemaProblem(path, "TF102", f"must be {wanted}, not {_noun(value)}", hint)
    if isinstance(value, dict):
        # The API server drops the fields of the mapping as well: each is said where it stands.
        for name in value:
            yield SchemaProblem((*path, name), "TF101", f"unknown field: expected {wanted}")


def _noun(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if value is None:
        return "null"
    if isinstance(value, float):
        return "a fractional number"
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


def _invalid(keyword: str, found: Schema, value: Any) -> tuple[str, str]:
    """Message and hint for a value of the right type that is not allowed."""
    if keyword == "enum":
        return _not_listed([str(option) for option in found["options"] if option], str(value))
    if keyword == "pattern":
        return _not_matched(found["pattern"], value)
    if found.get("limit") == 1 and keyword in ("minLength", "minItems", "minProperties"):
        return "must not be empty", ""
    unit = {"maxLength": " characters", "maxItems": " entries"}.get(keyword, "")
    verb = "have" if unit else "be"
    bound = "at most" if keyword.startswith("max") else "at least"
    return f"must {verb} {bound} {found['limit']}{unit}, not {len(value) if unit else value}", ""


def _not_listed(options: list[str], value: str) -> tuple[str, str]:
    hint = did_you_mean(value, options)
    if len(options) <= _LISTED:
        hint = f"{hint} allowed: {', '.join(options)}".lstrip()
    return f'"{value}" is not allowed here', hint


def _not_matched(pattern: str, value: str) -> tuple[str, str]:
    if "[KMGTPE]i" in pattern:
        return f'"{value}" is not a quantity', _quantity_hint(pattern, value)
    return f'"{value}" is not a valid name', "use lowercase letters, digits and dashes"


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
