"""JSON pointers (RFC 6901) into plain trees. Changes copy the containers on the path and share all others."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from trainform.diagnostics.suggest import did_you_mean

Pointer = tuple[str, ...]
"""Unescaped tokens, `("metadata", "labels", "example.com/team")`; empty for the whole document."""

_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_BAD_ESCAPE = re.compile("~(?![01])")
_END = "-"
_LISTED = 8
"""Maximum number of known members in a hint."""


class PointerError(ValueError):
    """A pointer that is malformed or points at nothing; `hint` is the fix."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def parse(text: str) -> Pointer:
    """The tokens of a written pointer; raises PointerError."""
    if not text:
        return ()
    if text[0] != "/":
        slashed = text if "/" in text else text.replace(".", "/")
        raise PointerError(f'"{text}" is not a JSON pointer: it must start with `/`', f"write /{slashed}")
    if _BAD_ESCAPE.search(text):
        message = f'"{text}" contains a `~` that is neither `~0` nor `~1`'
        raise PointerError(message, "write `~` as ~0, and `/` as ~1")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/"))


def written(pointer: Pointer) -> str:
    """The pointer as written in a patch; empty for the whole document."""
    return "".join("/" + _escaped(token) for token in pointer)


def resolve(document: Any, pointer: Pointer) -> Any:
    """The element at the pointer; raises PointerError if there is none."""
    for depth in range(len(pointer)):
        document = document[_key(document, pointer, depth)]
    return document


def breadth(document: Any, pointer: Pointer) -> int:
    """The number of entries of all mappings and lists on the way to the pointer, as far as they exist."""
    total = 0
    for token in pointer:
        if not isinstance(document, dict | list):
            break
        total += len(document)
        if isinstance(document, dict):
            document = document.get(token)
        else:
            document = document[int(token)] if _INDEX.fullmatch(token) and int(token) < len(document) else None
    return total


def inserted(document: Any, pointer: Pointer, value: Any) -> Any:
    """The document with `value` inserted: a new list entry, or a new or replaced member of a mapping."""

    def insert(container: Any) -> Any:
        if isinstance(container, dict):
            return container | {pointer[-1]: value}
        if not isinstance(container, list):
            raise _no_container(pointer[:-1])
        place = _place(container, pointer, len(pointer) - 1, len(container))
        return [*container[:place], value, *container[place:]]

    return _changed(document, pointer, insert) if pointer else value


def replaced(document: Any, pointer: Pointer, value: Any) -> Any:
    """The document with `value` in place of the existing element at the pointer."""

    def replace(container: Any) -> Any:
        return _with(container, _key(container, pointer, len(pointer) - 1), value)

    return _changed(document, pointer, replace) if pointer else value


def removed(document: Any, pointer: Pointer) -> Any:
    """The document without the element at the pointer."""

    def remove(container: Any) -> Any:
        rest = container.copy() if isinstance(container, dict | list) else container
        del rest[_key(container, pointer, len(pointer) - 1)]
        return rest

    if not pointer:
        raise PointerError("the whole document cannot be removed", "use a merge patch with `$patch: delete`")
    return _changed(document, pointer, remove)


def _changed(document: Any, pointer: Pointer, change: Callable[[Any], Any], depth: int = 0) -> Any:
    """The document with `change` applied to the container of the pointer's element; its parent has `depth` tokens."""
    if depth == len(pointer) - 1:
        return change(document)
    key = _key(document, pointer, depth)
    return _with(document, key, _changed(document[key], pointer, change, depth + 1))


def _with(container: Any, key: str | int, value: Any) -> Any:
    copy = container.copy()
    copy[key] = value
    return copy


def _key(container: Any, pointer: Pointer, depth: int) -> Any:
    """The existing key or index in `container` for token `depth` of the pointer."""
    token = pointer[depth]
    if isinstance(container, list):
        return _place(container, pointer, depth, len(container) - 1)
    if not isinstance(container, dict):
        raise _no_container(pointer[:depth])
    if token not in container:
        raise PointerError(f'there is no "{token}" in {_where(pointer[:depth])}', _missing(container, pointer, depth))
    return token


def _no_container(pointer: Pointer) -> PointerError:
    return PointerError(f"{_where(pointer)} is a scalar and has no fields")


def _place(container: list[Any], pointer: Pointer, depth: int, highest: int) -> int:
    """The list index for a token; `-` is the end of the list."""
    token, where = pointer[depth], _where(pointer[:depth])
    if token == _END:
        if highest == len(container):
            return highest
        raise PointerError(f"`-` refers to the position after the last entry of {where}, where there is no value")
    if not _INDEX.fullmatch(token):
        raise PointerError(f'"{token}" is not an index of the list {where}', _index_of(container, token))
    if int(token) > highest:
        hint = f"it has {len(container)} entries, counted from 0"
        raise PointerError(f"there is no entry {token} in {where}", hint)
    return int(token)


def _index_of(container: list[Any], name: str) -> str:
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in container]
    if name in names:
        return f'the entry named "{name}" has index {names.index(name)}'
    return "write a number from 0, without leading zeros; `-` adds an entry at the end"


def _missing(container: dict[str, Any], pointer: Pointer, depth: int) -> str:
    """A hint for a member that does not exist."""
    token, rest = pointer[depth], pointer[depth + 1 :]
    slashed = next((key for key in container if key.startswith(f"{token}/")), "")
    if slashed or (rest and "." in token):
        meant = slashed or f"{token}/{rest[0]}"
        return f"write a `/` in a name as ~1: {_escaped(meant)}"
    if near := did_you_mean(token, container):
        return near
    if rest:
        return f"add {written(pointer[: depth + 1])} first"
    return f"available: {', '.join(list(container)[:_LISTED])}" if container else ""


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")


def _where(pointer: Pointer) -> str:
    return written(pointer) or "the document"
