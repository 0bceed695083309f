"""The smallest case that still fails in the same way: fewer steps, files, objects, fields and lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from fuzz.case import Case, Step
from fuzz.trees import read, write

Part = TypeVar("Part")
Fails = Callable[[Case], bool]


def minimized(case: Case, fails: Fails, *, seconds: float) -> Case:
    """`fails` says of a smaller case whether it fails as this one does. Ends after about that many seconds."""
    end = time.monotonic() + seconds

    def still_fails(smaller: Case) -> bool:
        return time.monotonic() < end and fails(smaller)

    case = replace(case, steps=_fewer(case.steps, lambda steps: still_fails(replace(case, steps=tuple(steps)))))
    if case.base and still_fails(whole := replace(case, git="none", base={})):
        case = whole
    elif case.git != "none" and still_fails(bare := replace(case, git="none", base={})):
        case = bare
    kept = _fewer(sorted(case.files), lambda paths: still_fails(_only(case, paths)))
    case = _only(case, kept)
    for path in kept:
        case = _smaller_file(case, path, still_fails)
    return _smaller_input(case, still_fails)


def _only(case: Case, paths: Sequence[str]) -> Case:
    kept = set(paths)
    files, base = ({path: entry for path, entry in each.items() if path in kept} for each in (case.files, case.base))
    return replace(case, files=files, base=base)


def _fewer(parts: Sequence[Part], fails: Callable[[Sequence[Part]], bool]) -> tuple[Part, ...]:
    """Delta debugging: leave out halves, quarters and so on, for as long as the rest fails."""
    parts = tuple(parts)
    size = len(parts) // 2
    while size:
        start = 0
        while start < len(parts):
            rest = parts[:start] + parts[start + size :]
            if rest and fails(rest):
                parts = rest
            else:
                start += size
        size //= 2
    return parts


def _smaller_file(case: Case, path: str, fails: Fails) -> Case:
    entry = case.files[path]
    if entry.kind != "file" or not entry.text:
        return case

    def with_text(text: str) -> Case:
        return case.with_file(path, entry._replace(text=text))

    text = _smaller_text(entry.text, lambda text: fails(with_text(text)))
    return with_text(text)


def _smaller_input(case: Case, fails: Fails) -> Case:
    """The case with a smaller standard input of its first step."""
    step, *others = case.steps
    if not step.stdin:
        return case

    def with_text(text: str) -> Case:
        return replace(case, steps=(Step(step.arguments, text, step.variables), *others))

    return with_text(_smaller_text(step.stdin, lambda text: fails(with_text(text))))


def _smaller_text(text: str, fails: Callable[[str], bool]) -> str:
    trees = read(text)
    for write_trees in (_as_yaml, _as_json) if trees is not None else ():
        written = write_trees(trees)
        if fails(written):
            return write_trees(_smaller(trees, _after(write_trees, fails)))
    lines = text.splitlines(keepends=True)
    return "".join(_fewer(lines, lambda lines: fails("".join(lines))))


def _as_yaml(trees: Any) -> str:
    return write(trees, as_json=False)


def _as_json(trees: Any) -> str:
    return write(trees, as_json=True)


def _smaller(tree: Any, fails: Callable[[Any], bool]) -> Any:
    """A tree with fewer entries, outermost first."""
    keys: Sequence[Any] = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    if not keys:
        return tree
    tree = _part(tree, _fewer(keys, lambda kept: fails(_part(tree, kept))))
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        smaller = partial(_with, tree, key)
        tree = smaller(_smaller(tree[key], _after(smaller, fails)))
    return tree


def _part(tree: Any, keys: Sequence[Any]) -> Any:
    return {key: tree[key] for key in keys} if isinstance(tree, dict) else [tree[key] for key in keys]


def _with(tree: Any, key: Any, value: Any) -> Any:
    copy = tree.copy()
    copy[key] = value
    return copy


def _after(change: Callable[[Any], Any], fails: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: fails(change(value))
