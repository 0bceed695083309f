"""Filters and tests for templates: pure, and without large results from small inputs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import wraps
from typing import Any

from jinja2 import Undefined, pass_environment
from jinja2.filters import FILTERS, do_indent, do_sum
from jinja2.tests import TESTS

from trainform.source.templates.errors import Refused, noun
from trainform.source.templates.sandbox import Sandbox

_FILTERS = (
    "abs",
    "capitalize",
    "count",
    "d",
    "default",
    "dictsort",
    "first",
    "float",
    "int",
    "items",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "reverse",
    "select",
    "selectattr",
    "sort",
    "title",
    "trim",
    "unique",
    "upper",
)
_TESTS = (
    *("!=", "<", "<=", "==", ">", ">=", "eq", "equalto", "ge", "greaterthan", "gt", "in", "le", "lessthan"),
    *("lt", "ne", "boolean", "defined", "divisibleby", "even", "false", "float", "integer", "iterable"),
    *("mapping", "none", "number", "odd", "sequence", "string", "true", "undefined"),
)
_MAX_INDENT = 200
_LONGEST = 100
"""Most characters shown of a value in a message."""


def equip(sandbox: Sandbox) -> None:
    """Adds the filters and tests to the sandbox; each counts its inputs and result."""
    filters: dict[str, Callable[..., Any]] = {name: FILTERS[name] for name in _FILTERS} | _OURS
    tests: dict[str, Any] = TESTS
    sandbox.filters = {name: _counted(sandbox, function) for name, function in filters.items()}
    sandbox.tests = {name: _counted(sandbox, tests[name]) for name in _TESTS}


def _counted(sandbox: Sandbox, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # keeps the mark of `pass_environment` and the like
    def counted(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            sandbox.weigh(value)
        result = function(*args, **kwargs)
        return sandbox.bounded(list(result) if isinstance(result, Iterator) else result)

    return counted


@pass_environment
def _join(sandbox: Sandbox, values: Any, d: str = "", attribute: str | None = None) -> str:
    items = list(values)
    if attribute is not None:
        items = [sandbox.getitem(item, attribute) for item in items]
    return sandbox.joined(items, sandbox.text(d))


@pass_environment
def _replace(sandbox: Sandbox, value: Any, old: str, new: str) -> str:
    text = sandbox.text(value)
    sandbox.spend(text.count(old) * len(new) // 64)
    return text.replace(old, new)


@pass_environment
def _indent(sandbox: Sandbox, s: Any, width: int = 4, first: bool = False, blank: bool = False) -> str:
    if not (isinstance(width, int) and 0 <= width <= _MAX_INDENT):
        raise Refused("TF016", f"the width of an indent must be 0 to {_MAX_INDENT}", word="indent")
    text = sandbox.text(s)
    sandbox.spend((text.count("\n") + 1) * width // 64)
    return do_indent(text, width, first, blank)


@pass_environment
def _sum(sandbox: Sandbox, values: Any, attribute: str | int | None = None) -> Any:
    # Without `start`, which would allow adding up lists, copying each repeatedly.
    return do_sum(sandbox, values, attribute)


@pass_environment
def _string(sandbox: Sandbox, value: Any) -> str:
    return sandbox.text(value)


@pass_environment
def _tojson(sandbox: Sandbox, value: Any) -> str:
    # Jinja's own filter escapes for HTML and sorts keys.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else sandbox.text(value)


@pass_environment
def _dns(sandbox: Sandbox, value: Any) -> str:
    """A value as a part of a name: lowercase letters, digits and `-`. Two numbers never give the same."""
    text = _short(value) if isinstance(value, float) else sandbox.text(value)
    if isinstance(value, int | float) and value < 0:
        text = text.replace("-", "minus-", 1)
    part = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if value is None or isinstance(value, list | tuple | dict) or not part:
        what = f'"{text[:_LONGEST]}"' if isinstance(value, str) else noun(value)
        raise Refused("TF016", f"{what} cannot be a part of a name", "give dns a text or a number", "dns")
    return part


def _short(value: float) -> str:
    """The shorter of `0.05` and `5e-2`; the plain one if they are as long. Integers have no `.0`."""
    number = Decimal(repr(value)).normalize()
    sign, digits, point = number.as_tuple()
    if not isinstance(point, int):
        return str(value)  # not a number, or infinite
    written = "".join(map(str, digits))
    exponent = point + len(digits) - 1
    scientific = f"{written[0]}{'.' * (len(digits) > 1)}{written[1:]}e{exponent}"
    plain = f"{abs(number):f}"
    return "-" * sign + (scientific if len(scientific) < len(plain) else plain)


@pass_environment
def _joined(sandbox: Sandbox, values: list[Any]) -> str:
    return sandbox.joined(values)


@pass_environment
def _slice(sandbox: Sandbox, value: Any, start: Any, stop: Any, step: Any) -> Any:
    return sandbox.getitem(value, slice(start, stop, step))


@pass_environment
def _each(sandbox: Sandbox, values: Any, weight: int) -> Any:
    """The values of a loop, charged in advance at `weight` per iteration."""
    if isinstance(values, Undefined):
        values = list(values)  # raises its own error
    if not isinstance(values, str | list | tuple | dict):
        raise Refused("TF016", "a loop needs a list or a mapping")
    sandbox.spend(len(values) * weight)
    return values


_OURS: dict[str, Callable[..., Any]] = {
    "dns": _dns,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "string": _string,
    "sum": _sum,
    "tojson": _tojson,
    # Names that no template can write; `template_syntax` inserts them.
    "@each": _each,
    "@joined": _joined,
    "@slice": _slice,
    "@weighed": lambda value: value,
}
