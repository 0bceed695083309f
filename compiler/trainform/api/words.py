"""Values and limits in words, for the messages about a document's shape."""

from __future__ import annotations

import json
import re
from typing import Any

from trainform.diagnostics.suggest import did_you_mean

_LONGEST = 60
"""So many characters of a value still fit into a message."""

_FOUND = {
    bool: "a boolean",
    dict: "a mapping",
    float: "a fractional number",
    int: "an integer",
    list: "a list",
}


def noun(value: Any) -> str:
    """What a value is, for someone who reads it in YAML; a long text is cut."""
    if isinstance(value, str):
        line = value.split("\n")[0]
        whole = line == value and len(line) <= _LONGEST
        return f'the string "{line}"' if whole else f'the string "{line[:_LONGEST]}…"'
    return _FOUND.get(type(value), "null")


def out_of_range(kind: str, context: dict[str, Any], value: Any) -> tuple[str, str]:
    """Message and hint for a value that pydantic refuses with an error of type `kind`."""
    match kind:
        case "greater_than_equal":
            return f"must be at least {context['ge']}, not {value}", ""
        case "less_than_equal":
            return f"must be at most {context['le']}, not {value}", ""
        case "string_too_short":
            return "must not be empty", ""
        case "string_too_long":
            return f"must have at most {context['max_length']} characters, not {len(value)}", ""
        case "too_long":
            return f"must have at most {context['max_length']} entries, not {context['actual_length']}", ""
        case "too_short":
            return f"must have at least {context['min_length']} entry", ""
        case "literal_error":
            return _not_listed(re.findall("'([^']*)'", context["expected"]), value)
    return f"has an invalid value: {kind.replace('_', ' ')}", ""


def _not_listed(options: list[str], value: Any) -> tuple[str, str]:
    options = [option for option in options if option]
    hint = f"{did_you_mean(str(value), options)} allowed: {', '.join(options)}".lstrip()
    return f"{json.dumps(value, ensure_ascii=False)} is not allowed here", hint
