"""The reference of every key of an Environment, as docs/environments.md shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from support.field_docs import field_docs
from trainform.api.base import Model
from trainform.api.environment import Environment, EnvironmentMetadata, EnvironmentSpec

_OF_KUBERNETES = "trainform.api.trainjob"
_TYPES = {bool: "boolean", int: "integer", str: "text", dict: "mapping"}


def reference() -> str:
    """A table of all keys below `metadata` and `spec`, in the order of the models."""
    rows = [*_rows("metadata", EnvironmentMetadata), *_rows("spec", EnvironmentSpec)]
    return "\n".join(("| key | type | meaning |", "|---|---|---|", *rows)) + "\n"


def keys(model: type[Model] = Environment) -> set[str]:
    """The names of all keys in our models."""
    return {field.alias or name for each in models(model, []) for name, field in each.model_fields.items()}


def models(model: type[Model], seen: list[type[Model]]) -> list[type[Model]]:
    """`model` and every model of ours below it."""
    if model not in seen and model.__module__ != _OF_KUBERNETES:
        seen.append(model)
        for field in model.model_fields.values():
            for inner, _ in _models(field.annotation):
                models(inner, seen)
    return seen


def _rows(path: str, model: type[Model]) -> Iterator[str]:
    docs = field_docs(model)
    for name, field in model.model_fields.items():
        key = field.alias or name
        below = f"{path}.{key}"
        yield f"| `{below}` | {_type(field.annotation)} | {docs[key].replace('|', chr(92) + '|')} |"
        for inner, suffix in _models(field.annotation):
            if inner.__module__ != _OF_KUBERNETES:
                yield from _rows(below + suffix, inner)


def _type(annotation: Any) -> str:
    """The type in the words of YAML."""
    if get_origin(annotation) is Literal:
        return " · ".join(f"`{choice}`" for choice in get_args(annotation))
    inner = [each for each in get_args(annotation) if each is not type(None)]
    if get_origin(annotation) is list:
        return f"list of {_type(inner[0])}"
    if get_origin(annotation) is dict:
        return "mapping"
    if inner:
        return _type(inner[0])
    if annotation is Any:
        return "any"
    return "mapping" if issubclass(annotation, Model) else _TYPES[annotation]


def _models(annotation: Any, suffix: str = "") -> Iterator[tuple[type[Model], str]]:
    """The models in a type, and what a path has after the key to reach them."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation, suffix
        return
    origin = get_origin(annotation)
    suffix += {list: "[]", dict: ".<name>"}.get(origin, "") if origin in (list, dict) else ""
    for each in get_args(annotation):
        yield from _models(each, suffix)
