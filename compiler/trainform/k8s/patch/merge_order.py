"""How the entries of a merged list are told apart, and in which order they stand."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from trainform.diagnostics import Path


class MergeError(ValueError):
    """A patch that cannot be applied: `path` is the place in the patch, the text says why."""

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.path = path

    def under(self, key: str | int) -> MergeError:
        """The same error, seen from the parent that holds the patch under `key`."""
        self.path = (key, *self.path)
        return self


def entry_key(entry: Any, index: int, merge_key: str) -> Hashable:
    """What an entry is merged by: its member `merge_key`, or the entry itself where that is empty.

    Raises MergeError at `index` for an entry that has no such key.
    """
    key = entry
    if merge_key:
        key = entry.get(merge_key) if isinstance(entry, dict) else None
    if isinstance(key, str | int | float):
        return key
    raise MergeError(f"needs `{merge_key}`" if merge_key else "must be a single value", (index,))


def entry_keys(entries: Sequence[Any], merge_key: str) -> list[Hashable]:
    return [entry_key(entry, index, merge_key) for index, entry in enumerate(entries)]


def first_places(keys: Sequence[Hashable]) -> dict[Hashable, int]:
    """Where each key stands; of entries with the same one (a port of two protocols) the first."""
    return {key: index for index, key in reversed(list(enumerate(keys)))}


def in_patch_order(
    entries: Sequence[Any], keys: Sequence[Hashable], patched: Sequence[Hashable], base: Sequence[Hashable]
) -> list[Any]:
    """The entries with `keys` in the order that Kubernetes gives to a merged list.

    Those whose key is in `patched` stand in that order; the others keep the order that they have
    in `base` and stand before the first patched entry that followed them there.
    """
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
