"""Keys and order of entries in merged lists."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from trainform.diagnostics import Path


class MergeError(ValueError):
    """A patch that cannot be applied; `path` is the location in the patch."""

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.path = path

    def under(self, key: str | int) -> MergeError:
        """The same error with `key` prepended to its path."""
        self.path = (key, *self.path)
        return self


def entry_key(entry: Any, index: int, merge_key: str) -> Hashable:
    """The merge key of an entry: its member `merge_key`, or the entry itself if that is empty. Raises MergeError at
    `index` if the entry has no such key."""
    key = entry
    if merge_key:
        key = entry.get(merge_key) if isinstance(entry, dict) else None
    if isinstance(key, str | int | float):
        return key
    raise MergeError(f"needs `{merge_key}`" if merge_key else "must be a single value", (index,))


def entry_keys(entries: Sequence[Any], merge_key: str) -> list[Hashable]:
    return [entry_key(entry, index, merge_key) for index, entry in enumerate(entries)]


def first_places(keys: Sequence[Hashable]) -> dict[Hashable, int]:
    """The first index of each key; a port with two protocols repeats its key."""
    return {key: index for index, key in reversed(list(enumerate(keys)))}


def in_patch_order(
    entries: Sequence[Any], keys: Sequence[Hashable], patched: Sequence[Hashable], base: Sequence[Hashable]
) -> list[Any]:
    """The entries, with their `keys`, in Kubernetes' order for merged lists: those in `patched` in that order, each
    other one in `base` order and before the first patched entry that followed it there."""
    place = first_places(base)
    groups: dict[Hashable, list[Any]] = {key: [] for key in patched}
    others: list[tuple[int, Any]] = []
    for entry, key in zip(entries, keys, strict=True):
        if key in groups:
            groups[key].append(entry)
        else:
            others.append((place.get(key, len(place)), entry))
    others.sort(key=lambda placed: placed[0])
    return _interleaved(deque(others), groups, place)


def _interleaved(
    others: deque[tuple[int, Any]], groups: dict[Hashable, list[Any]], place: dict[Hashable, int]
) -> list[Any]:
    result: list[Any] = []
    for key, group in groups.items():
        while others and others[0][0] < place.get(key, 0):
            result.append(others.popleft()[1])
        result += group
    return result + [entry for _, entry in others]
