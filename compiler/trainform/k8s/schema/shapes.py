"""Shapes of plain trees, written as tables: a light check for objects whose full schema is not shipped.

A shape is a function that looks at one value and appends what is wrong with it. A null counts as an absent
field, as for the API server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.quantity import QuantityError, parse
from trainform.k8s.rules.parts import Found
from trainform.k8s.schema.messages import SchemaProblem

Shape = Callable[[Any, Path, Found], None]


def anything(value: Any, path: Path, found: Found) -> None:
    """What the compiler never reads."""


def string(value: Any, path: Path, found: Found) -> None:
    if not isinstance(value, str):
        found.append(_wrong_type(path, "a string", f'write "{value}"' if _is_scalar(value) else ""))


def name(value: Any, path: Path, found: Found) -> None:
    """A string that is not empty."""
    if value == "":
        found.append(SchemaProblem(path, "TF104", "must not be empty"))
    else:
        string(value, path, found)


def boolean(value: Any, path: Path, found: Found) -> None:
    if not isinstance(value, bool):
        found.append(_wrong_type(path, "true or false"))


def quantity(value: Any, path: Path, found: Found) -> None:
    """An amount of a resource, at least zero."""
    try:
        amount = parse(value)
    except QuantityError as error:
        found.append(SchemaProblem(path, "TF104", str(error)))
        return
    if amount.nano < 0:
        found.append(SchemaProblem(path, "TF104", f"must not be negative, but is {value}"))


def integer(least: int, most: int = 2**31 - 1) -> Shape:
    def check(value: Any, path: Path, found: Found) -> None:
        if type(value) is not int:
            found.append(_wrong_type(path, "an integer"))
        elif not least <= value <= most:
            found.append(SchemaProblem(path, "TF104", f"must be between {least} and {most}, not {value}"))

    return check


def one_of(*values: str) -> Shape:
    def check(value: Any, path: Path, found: Found) -> None:
        if value not in values:
            hint = did_you_mean(str(value), values) or f"write one of {', '.join(values)}"
            found.append(SchemaProblem(path, "TF104", f'"{value}" is not allowed here', hint))

    return check


def map_of(shape: Shape) -> Shape:
    """A mapping with keys of the user's choice."""

    def check(value: Any, path: Path, found: Found) -> None:
        if not isinstance(value, dict):
            found.append(_wrong_type(path, "a mapping"))
            return
        for key, entry in value.items():
            shape(entry, (*path, key), found)

    return check


def list_of(shape: Shape, *, may_be_empty: bool = True, most: int = 2**31, key: str = "") -> Shape:
    """A list; the entries of one with a `key` must differ in that field."""

    def check(value: Any, path: Path, found: Found) -> None:
        if not isinstance(value, list):
            found.append(_wrong_type(path, "a list"))
            return
        if not value and not may_be_empty:
            found.append(SchemaProblem(path, "TF104", "must not be empty"))
        if len(value) > most:
            message = f"must have at most {most} entries, not {len(value)}"
            found.append(SchemaProblem(path, "TF104", message))
        for index, entry in enumerate(value):
            shape(entry, (*path, index), found)
        if key:
            tell_repeated([_key(entry, key) for entry in value], key, path, found)

    return check


def fields(shapes: dict[str, Shape], required: Iterable[str] = ()) -> Shape:
    """A mapping with known fields: an unknown one, which the API server drops, is a problem."""

    def check(value: Any, path: Path, found: Found) -> None:
        if not isinstance(value, dict):
            found.append(_wrong_type(path, "a mapping"))
            return
        for key, entry in value.items():
            if key not in shapes:
                found.append(_unknown((*path, key), key, shapes))
            elif entry is not None:
                shapes[key](entry, (*path, key), found)
        for key in required:
            if value.get(key) is None:
                found.append(SchemaProblem((*path, key), "TF103", "is required but missing"))

    return check


def tell_repeated(names: Iterable[object], what: str, path: Path, found: Found) -> None:
    """Report each entry of the list at `path` whose name an earlier one has; None is no name."""
    first: dict[object, int] = {}
    for index, entry in enumerate(names):
        before = first.setdefault(entry, index)
        if entry is not None and before != index:
            message = f"has the same {what} {entry} as entry [{before}]"
            found.append(SchemaProblem((*path, index), "TF105", message, "remove one of them"))


def _key(entry: Any, key: str) -> str | None:
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, str) else None


def _unknown(path: Path, key: str, known: Iterable[str]) -> SchemaProblem:
    names = sorted(known)
    hint = did_you_mean(key, names) or f"known fields: {', '.join(names)}"
    return SchemaProblem(path, "TF101", "unknown field", hint)


def _wrong_type(path: Path, noun: str, hint: str = "") -> SchemaProblem:
    return SchemaProblem(path, "TF102", f"must be {noun}", hint)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, int | float | bool)
