"""Values as Python source that gives the same values again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from trainform.workspace.new_job.function import CannotCarry

MAX_DEPTH = 50
"""Levels of lists in lists. Python's parser reads about twice as many."""

_PLAIN = {type(None), bool, int, str, bytes, bytearray, range}
"""Types whose `repr` is such an expression."""

_GROUPS: dict[type, Callable[[list[str]], str]] = {
    list: lambda items: f"[{', '.join(items)}]",
    tuple: lambda items: f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})",
    set: lambda items: f"{{{', '.join(sorted(items))}}}" if items else "set()",
    frozenset: lambda items: f"frozenset({{{', '.join(sorted(items))}}})" if items else "frozenset()",
}


def literal(value: Any, where: str, depth: int = 0) -> str:
    """An expression of builtins that evaluates to `value`, with the same types. The order of a set, which differs from
    run to run, is that of its texts. Raises CannotCarry for another type; `where` names the value in the message."""
    kind = type(value)
    if depth > MAX_DEPTH:
        raise CannotCarry(f"{where} is nested too deeply, or holds itself")
    if kind in _PLAIN:
        return _plain(value, where)
    if kind is float:
        return _float(value)
    if kind is complex:
        return f"complex({_float(value.real)}, {_float(value.imag)})"
    if kind is dict:
        return _dict(value, where, depth)
    if kind in _GROUPS:
        return _GROUPS[kind]([literal(each, f"an item of {where}", depth + 1) for each in value])
    raise CannotCarry(f"{where} is a {_name(kind)}, which a script cannot hold: {_instead(value)}")


def _plain(value: Any, where: str) -> str:
    try:
        return repr(value)
    except ValueError as error:  # an int with more digits than Python converts
        raise CannotCarry(f"{where}: {error}") from error


def _float(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'float("{value}")'


def _dict(value: dict[Any, Any], where: str, depth: int) -> str:
    items = [
        f"{literal(key, f'a key of {where}', depth + 1)}: {literal(each, f'{where}[{key!r}]', depth + 1)}"
        for key, each in value.items()
    ]
    return f"{{{', '.join(items)}}}"


def _name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _instead(value: Any) -> str:
    if callable(getattr(value, "item", None)):  # a number of numpy or torch
        return "pass .item() or .tolist() of it"
    return "pass numbers, strings, bytes, lists, tuples, sets or dicts, and make the object inside of the function"
