"""Selects the rendered objects that an Environment's patch applies to.

A `target` is kustomize's: `group`, `version`, `kind`, `name` and `namespace` are regular expressions (RE2) for the
whole value, selectors use the syntax of `kubectl -l`, and absent or empty fields match all. A strategic merge patch
without target applies to the object that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.selectors import matches_labels
from trainform.core.patches.regex import compile_regex
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.tree import Tree, metadata_of, name_of, table, text

if TYPE_CHECKING:
    from trainform.api.environment import PatchTarget
    from trainform.diagnostics import Path, Position

DEFAULT_NAMESPACE = "default"
_LISTED = 8
"""Most existing names to list in a hint."""


@dataclass(frozen=True, slots=True)
class PatchProblem:
    """An error of one patch. `index` is its place in `spec.patches`; `path` continues from there.

    If the patch is text, `path` ends in that text's value and `at` is the line and column inside it. `object` names the
    rendered object that the patch failed on (`JobSet/llm`), `object_path` an element of it. `message` continues the
    sentence after the path.
    """

    index: int
    path: Path
    message: str
    hint: str = ""
    at: Position | None = None
    object: str = ""
    object_path: Path = ()


class Criterion(NamedTuple):
    """One condition: the target's `field`, the value `wanted`, and where that is written."""

    field: str
    wanted: str
    path: Path
    matches: Callable[[Tree], bool]


def criteria_of_target(target: PatchTarget, index: int) -> tuple[list[Criterion], list[PatchProblem]]:
    """The conditions in patch `index`'s target, widest first, and the problems of the invalid ones."""
    criteria, problems = [], []
    for field, (attribute, read) in _READERS.items():
        wanted = getattr(target, attribute)
        if not wanted:
            continue
        path: Path = ("target", field)
        try:
            criteria.append(Criterion(field, wanted, path, read(wanted)))
        except ValueError as error:
            problems.append(PatchProblem(index, path, f"{wanted!r} is invalid: {error}"))
    return criteria, problems


def criteria_of_patch(patch: Tree, index: int) -> tuple[list[Criterion], list[PatchProblem]]:
    """The conditions of a strategic merge patch that names its object itself, and the fields that it lacks for that."""
    metadata = metadata_of(patch)
    criteria, problems = [], []
    for field, holder, path in (
        ("kind", patch, ("patch", "kind")),
        ("apiVersion", patch, ("patch", "apiVersion")),
        ("namespace", metadata, ("patch", "metadata", "namespace")),
        ("name", metadata, ("patch", "metadata", "name")),
    ):
        wanted = holder.get(field)
        if isinstance(wanted, str) and wanted:
            criteria.append(Criterion(field, wanted, path, _is(field, wanted)))
        elif wanted is not None or field != "namespace":
            hint = "or select the objects with `target`"
            problems.append(PatchProblem(index, path, "must identify the object to patch", hint))
    return criteria, problems


def mismatch(criteria: Sequence[Criterion], objects: Iterable[Tree], index: int) -> PatchProblem:
    """Why no object meets all criteria: the first condition that eliminates the last of them, and what exists
    instead."""
    left = list(objects)
    for criterion in criteria:
        met = [tree for tree in left if criterion.matches(tree)]
        if not met:
            message = f"matches nothing in any job: none has {criterion.field} {criterion.wanted!r}"
            return PatchProblem(index, criterion.path, message, _what_there_is(criterion, left))
        left = met
    return PatchProblem(index, (), "matches nothing in any job")


def _what_there_is(criterion: Criterion, objects: list[Tree]) -> str:
    read = _VALUES.get(criterion.field)
    if read is None:
        return ""
    known = sorted({read(tree) for tree in objects} - {""})
    return did_you_mean(criterion.wanted, known) or (f"available: {_some(known)}" if known else "")


def _some(names: list[str]) -> str:
    rest = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")


_VALUES: dict[str, Callable[[Tree], str]] = {
    "kind": lambda tree: text(tree, "kind"),
    "group": lambda tree: _group_version(tree)[0],
    "version": lambda tree: _group_version(tree)[1],
    "apiVersion": lambda tree: text(tree, "apiVersion"),
    "namespace": lambda tree: text(metadata_of(tree), "namespace") or DEFAULT_NAMESPACE,
    "name": lambda tree: name_of(tree),
}
"""The object's value that each condition tests."""


def _group_version(tree: Tree) -> tuple[str, str]:
    """Group and version from apiVersion; the core group is empty."""
    group, _, version = text(tree, "apiVersion").rpartition("/")
    return group, version


def _is(field: str, wanted: str) -> Callable[[Tree], bool]:
    read = _VALUES[field]
    return lambda tree: read(tree) == wanted


def _fits(field: str) -> Callable[[str], Callable[[Tree], bool]]:
    """Compiles a regular expression that must match the whole value."""
    value = _VALUES[field]

    def read(pattern: str) -> Callable[[Tree], bool]:
        compiled = compile_regex(pattern)
        return lambda tree: compiled.fullmatch(value(tree))

    return read


def _selects(field: str) -> Callable[[str], Callable[[Tree], bool]]:
    """Compiles a selector for an object's labels or annotations."""

    def read(selector: str) -> Callable[[Tree], bool]:
        matches_labels(selector, {})  # raises if the selector is invalid
        return lambda tree: matches_labels(selector, table(metadata_of(tree), field))

    return read


_READERS = {
    "kind": ("kind", _fits("kind")),
    "group": ("group", _fits("group")),
    "version": ("version", _fits("version")),
    "namespace": ("namespace", _fits("namespace")),
    "name": ("name", _fits("name")),
    "labelSelector": ("label_selector", _selects("labels")),
    "annotationSelector": ("annotation_selector", _selects("annotations")),
}
"""By target field: the attribute that holds it, and the compiler for its conditions."""
