"""JSON Patch (RFC 6902) over plain trees. Results share parts with the document and the patch: do not mutate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.patch import json_pointer
from trainform.k8s.patch.json_pointer import Pointer, PointerError
from trainform.source.limits import MAX_DEPTH, MAX_NODES

_MEMBERS = {
    "add": ("path", "value"),
    "remove": ("path",),
    "replace": ("path", "value"),
    "move": ("from", "path"),
    "copy": ("from", "path"),
    "test": ("path", "value"),
}
"""Required members of each operation; others are ignored, as the RFC says."""

_SHOWN = 60
"""Maximum characters of a value in a message."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a patch: `op` is its name, `index` its position, `source` the RFC's `from`."""

    index: int
    op: str
    path: Pointer
    source: Pointer = ()
    value: Any = None

    def touches(self, pointer: Pointer) -> bool:
        """Whether it can change the element at `pointer`, directly or through a parent."""
        if self.op == "test":
            return False
        return _leads_to(self.path, pointer) or (self.op == "move" and _leads_to(self.source, pointer))


class JsonPatchError(ValueError):
    """A malformed operation, or one that cannot be applied. `operation` is its index, `member` the faulty member (empty
    for the whole operation), the text the cause, and `hint` the fix."""

    def __init__(self, message: str, operation: int, member: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.operation = operation
        self.member = member
        self.hint = hint


def read_operations(patch: Sequence[Any]) -> tuple[list[Operation], list[JsonPatchError]]:
    """The valid operations of a patch in order, and the errors of the others."""
    operations, problems = [], []
    for index, entry in enumerate(patch):
        try:
            operations.append(_read(entry, index))
        except JsonPatchError as problem:
            problems.append(problem)
    return operations, problems


_MOST_COPIED = 20_000_000
"""Most entries of mappings and lists that a patch may copy, for a third of a second: each operation copies those on its
path."""


def apply(document: Any, operations: Iterable[Operation]) -> Any:
    """The document after all operations; raises JsonPatchError at the first that cannot be applied."""
    last = copied = 0
    for operation in operations:
        copied += json_pointer.breadth(document, operation.path) + json_pointer.breadth(document, operation.source)
        if copied > _MOST_COPIED:
            raise JsonPatchError("the patch is too large for the object", operation.index, hint="write a merge patch")
        document, last = _carry_out(document, operation), operation.index
    if not _is_bounded(document):
        message = f"the result has more than {MAX_DEPTH} levels or {MAX_NODES:,} nodes"
        raise JsonPatchError(message, last, hint="copy fewer values")
    return document


def same_json(left: Any, right: Any) -> bool:
    """JSON equality: 1 equals 1.0 but neither true nor "1"; member order is ignored."""
    if left is right:  # shared parts
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    return bool(left == right)


def _read(entry: Any, index: int) -> Operation:
    if not isinstance(entry, dict):
        raise JsonPatchError("an operation must be a mapping with `op` and `path`", index)
    op = entry.get("op")
    if not isinstance(op, str) or op not in _MEMBERS:
        hint = did_you_mean(str(op), _MEMBERS) if "op" in entry else ""
        message = "must be " + ", ".join(list(_MEMBERS)[:-1]) + " or test"
        raise JsonPatchError(message, index, "op", hint)
    for member in _MEMBERS[op]:
        if member not in entry:
            others = [key for key in entry if key != "op" and key not in _MEMBERS[op]]
            meant = next((key for key in others if did_you_mean(key, [member])), "")
            hint = f"rename `{meant}`" if meant else ""
            raise JsonPatchError(f"`{op}` needs `{member}`", index, member, hint)
    source = _pointer(entry, index, "from") if op in ("move", "copy") else ()
    return Operation(index, op, _pointer(entry, index, "path"), source, entry.get("value"))


def _pointer(entry: dict[str, Any], index: int, member: str) -> Pointer:
    text = entry[member]
    if not isinstance(text, str):
        raise JsonPatchError("must be a JSON pointer, such as /spec/suspend", index, member)
    try:
        return json_pointer.parse(text)
    except PointerError as error:
        raise JsonPatchError(str(error), index, member, error.hint) from None


def _carry_out(document: Any, operation: Operation) -> Any:
    member = "from" if operation.op in ("move", "copy") else "path"
    try:
        value = operation.value
        if member == "from":
            value = json_pointer.resolve(document, operation.source)
            document = _without_moved(document, operation)
            member = "path"
        return _at_path(document, operation, value)
    except PointerError as error:
        raise JsonPatchError(str(error), operation.index, member, error.hint) from None


def _without_moved(document: Any, operation: Operation) -> Any:
    """The document with a moved value removed; a copy leaves it whole."""
    if operation.op == "copy":
        return document
    path = operation.path
    if operation.source != path and _leads_to(operation.source, path):
        raise PointerError(f"{json_pointer.written(path)} cannot be moved into itself")
    return json_pointer.removed(document, operation.source) if operation.source else document


def _at_path(document: Any, operation: Operation, value: Any) -> Any:
    match operation.op:
        case "test":
            found = json_pointer.resolve(document, operation.path)
            if not same_json(found, operation.value):
                message = f"{json_pointer.written(operation.path) or 'the document'} is {_shown(found)}"
                message += f", but must be {_shown(operation.value)}"
                raise JsonPatchError(message, operation.index, "value")
            return document
        case "remove":
            return json_pointer.removed(document, operation.path)
        case "replace":
            return json_pointer.replaced(document, operation.path, value)
    return json_pointer.inserted(document, operation.path, value)


def _leads_to(pointer: Pointer, other: Pointer) -> bool:
    return other[: len(pointer)] == pointer


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _is_bounded(document: Any) -> bool:
    """Whether the document is within the reader's limits: repeated copies can grow it without bound."""
    count = 0
    waiting = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if count > MAX_NODES or depth > MAX_DEPTH:
            return False
        if isinstance(value, dict):
            waiting += [(child, depth + 1) for child in value.values()]
        elif isinstance(value, list):
            waiting += [(child, depth + 1) for child in value]
    return True
