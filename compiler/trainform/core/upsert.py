"""Upstream's upsert: replace the element of the same identity in place, else append.

Source: kubeflow/trainer `pkg/apply/apply.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainform.k8s.tree import Tree


def upsert(owner: Tree, field: str, items: Iterable[Tree], key: str = "name") -> None:
    """Upsert `items` into the list `owner[field]`, told apart by `key`.

    The list is replaced, never edited: it may be shared with the runtime's template.
    """
    merged = list(owner.get(field) or ())
    places = {item.get(key): index for index, item in enumerate(merged)}
    for item in items:
        index = places.setdefault(item.get(key), len(merged))
        if index == len(merged):
            merged.append(item)
        else:
            merged[index] = item
    if merged:
        owner[field] = merged
