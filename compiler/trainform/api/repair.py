"""Repaired copies of trees, and the mapping of their paths to the source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from trainform.diagnostics import Path
from trainform.k8s.tree import replaced


def filled(tree: Any, values: Mapping[Path, Any]) -> Any:
    """A copy of `tree` with `values` at their paths, whose parents exist; shares the rest."""
    for path, value in values.items():
        tree = replaced(tree, path, value)
    return tree


def without(tree: Any, gone: Iterable[Path]) -> Any:
    """A copy of `tree` without the elements at `gone`; shares unaffected parts."""
    doomed: dict[str | int, list[Path]] = {}
    for path in gone:
        doomed.setdefault(path[0], []).append(path[1:])
    return _pruned(tree, doomed) if doomed else tree


def _pruned(tree: Any, doomed: dict[str | int, list[Path]]) -> Any:
    if isinstance(tree, dict):
        kept = ((key, value, doomed.get(key, [])) for key, value in tree.items())
        return {key: without(value, gone) for key, value, gone in kept if () not in gone}
    if isinstance(tree, list):
        entries = ((value, doomed.get(index, [])) for index, value in enumerate(tree))
        return [without(value, gone) for value, gone in entries if () not in gone]
    return tree


def source_path(path: Path, gone: Collection[Path]) -> Path:
    """The source path of `path` in the copy, whose lists may have lost entries."""
    whole: Path = ()
    for part in path:
        whole += (_source_index(whole, part, gone) if isinstance(part, int) else part,)
    return whole


def _source_index(parent: Path, index: int, gone: Collection[Path]) -> int:
    for missing in sorted(path[-1] for path in gone if path[:-1] == parent and isinstance(path[-1], int)):
        index += missing <= index
    return index
