"""An Environment's final `patches` on rendered objects: strategic merge and JSON Patch (RFC 6902).

Both are written as for kustomize, with these differences:

- Lists of a JobSet merge by the keys of its API types (replicated jobs and containers by name, for instance); kustomize
  does not know JobSet's schema and replaces them whole.
- No patch renames or moves an object. In a patch with a target, the name and kind that kustomize requires are optional;
  they are ignored there as well.
- A patch without target and namespace matches the object in any namespace.
- JSON 6902 is strict: `add` creates no missing parents, indexes are never negative, 3.0 equals 3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from trainform.core.patches.targets import (
    Criterion,
    PatchProblem,
    criteria_of_patch,
    criteria_of_target,
    mismatch,
)
from trainform.core.provenance import follow
from trainform.k8s.patch import json_patch
from trainform.k8s.patch.json_patch import JsonPatchError, Operation
from trainform.k8s.patch.merge_keys import JOB_SET, OBJECT
from trainform.k8s.patch.strategic_merge import MergeError, merge
from trainform.k8s.tree import Tree, metadata_of, object_name, value_at, without_nulls

if TYPE_CHECKING:
    from trainform.api.environment import FinalPatch
    from trainform.diagnostics import Path
    from trainform.source import Document

__all__ = ["ObjectPatch", "PatchProblem", "Patched", "apply_patches", "read_patches", "unmatched"]

_ON_NAMES = "remove it from the patch: folders, lockfiles and other objects refer to it"
_FIXED: dict[Path, tuple[str, str]] = {
    ("apiVersion",): ("cannot be changed by a patch", _ON_NAMES),
    ("kind",): ("cannot be changed by a patch", _ON_NAMES),
    ("metadata", "name"): ("cannot be changed by a patch", _ON_NAMES),
    ("metadata", "namespace"): ("cannot be changed by a patch", f"{_ON_NAMES}, and set spec.namespace"),
    ("status",): ("is set by the cluster", "remove it from the patch"),
}
"""Fields that no patch may change: message and hint for each."""


@dataclass(frozen=True, slots=True)
class ObjectPatch:
    """A parsed patch: which objects it matches, and how it changes them. `change` is a merge patch or the operations of
    a JSON Patch; `place` maps to the lines of a patch given as text."""

    index: int
    criteria: list[Criterion]
    change: Tree | list[Operation]
    place: Document | None = None

    def matches(self, tree: Tree) -> bool:
        return all(criterion.matches(tree) for criterion in self.criteria)


@dataclass(frozen=True, slots=True)
class Patched:
    """One job's objects after the patches. `matched`: indexes of the patches that matched an object. `changed`: by
    `Kind/name`, the last patch that changed or removed the object. An object whose patch failed keeps its earlier
    state."""

    objects: list[Tree]
    problems: list[PatchProblem] = field(default_factory=list)
    matched: set[int] = field(default_factory=set)
    changed: dict[str, int] = field(default_factory=dict)


def read_patches(patches: Sequence[FinalPatch]) -> tuple[list[ObjectPatch], list[PatchProblem]]:
    """An Environment's valid patches, parsed once for all jobs, and every problem that shows without an object."""
    read: list[ObjectPatch] = []
    problems: list[PatchProblem] = []
    for index, patch in enumerate(patches):
        found, wrong = _read(patch, index)
        problems += wrong
        read += [found] if found and not wrong else []
    return read, problems


def apply_patches(
    objects: Sequence[Tree], patches: Iterable[ObjectPatch], stable: Callable[[str], str] = str
) -> Patched:
    """One job's objects after all patches, each applied to the result of the previous ones. `stable` maps an object's
    name to the one that patches use; by default they are the same. Inputs are not modified. Order is kept, less the
    objects removed by `$patch: delete`."""
    patched = Patched(list(objects))
    for patch in patches:
        patched.objects[:] = [
            new
            for tree in patched.objects
            for new in (_patch(tree, patch, patched) if patch.matches(known_as(tree, stable)) else (tree,))
        ]
    return patched


def known_as(tree: Tree, stable: Callable[[str], str]) -> Tree:
    """The object under its stable name."""
    name = tree["metadata"]["name"]
    known = stable(name)
    return tree if known == name else {**tree, "metadata": {**tree["metadata"], "name": known}}


def setter(tree: Tree, path: Path, patches: Sequence[ObjectPatch], stable: Callable[[str], str] = str) -> Path | None:
    """The last patch that sets the element at `path` of a patched object: its index, then the path inside the patch.
    None if there is none."""
    known = known_as(tree, stable)
    for patch in reversed(patches):
        if patch.matches(known) and (inner := _inside(patch, tree, path)) is not None:
            return (patch.index, *inner)
    return None


def _inside(patch: ObjectPatch, tree: Tree, path: Path) -> Path | None:
    if isinstance(patch.change, list):
        pointer = tuple(map(str, path))
        return next(((each.index,) for each in reversed(patch.change) if each.touches(pointer)), None)
    return follow(patch.change, (), tree, path)


def unmatched(patches: Iterable[ObjectPatch], matched: Collection[int], objects: Sequence[Tree]) -> list[PatchProblem]:
    """The patches that matched no object in any job of the Environment. `matched`: the indexes of those that did.
    `objects`: the heads of the jobs' objects before patching, for hints. Use only if all jobs were rendered, since a
    job with errors has no objects to match."""
    missed = [patch for patch in patches if patch.index not in matched]
    return [_placed(mismatch(patch.criteria, objects, patch.index), patch.place) for patch in missed]


def _read(patch: FinalPatch, index: int) -> tuple[ObjectPatch | None, list[PatchProblem]]:
    value, place, problems = _value(patch.patch, index)
    if problems:
        return None, problems
    criteria: list[Criterion] = []
    change: Tree | list[Operation]
    if patch.target is not None:
        criteria, problems = criteria_of_target(patch.target, index)
    if isinstance(value, list):
        change, wrong = _operations(value, index)
        if patch.target is None:
            message = "is required: JSON 6902 operations do not say which object they change"
            problems.append(PatchProblem(index, ("target",), message, "write target: {kind: JobSet}"))
        problems += wrong
    else:
        change = _without_identity(value)
        if patch.target is None:
            criteria, problems = criteria_of_patch(value, index)
    return ObjectPatch(index, criteria, change, place), [_placed(each, place) for each in problems]


def _without_identity(patch: Tree) -> Tree:
    """A merge patch without apiVersion, kind, name and namespace, which only identify its object."""
    kept = {key: value for key, value in patch.items() if key not in ("apiVersion", "kind")}
    if metadata := metadata_of(kept):
        kept["metadata"] = {key: value for key, value in metadata.items() if key not in ("name", "namespace")}
    return kept


def _value(patch: Any, index: int) -> tuple[Any, Document | None, list[PatchProblem]]:
    """The patch as a mapping or list, parsed if it is given as text."""
    place = None
    if isinstance(patch, str):
        from trainform.source.value import load_value

        loaded = load_value(patch, "")
        errors = [each for each in loaded.diagnostics if each.severity == "error"]
        if errors:
            told = [(each.at or loaded.place.position(each.path), each) for each in errors]
            return None, None, [PatchProblem(index, ("patch",), e.message, e.hint, at) for at, e in told]
        patch, place = loaded.tree, loaded.place
    if isinstance(patch, dict | list) and patch:
        return patch, place, []
    message = "must be a strategic merge patch (a mapping) or a list of JSON 6902 operations"
    return None, None, [PatchProblem(index, ("patch",), message, "" if patch else "remove an empty patch")]


def _operations(patch: list[Any], index: int) -> tuple[list[Operation], list[PatchProblem]]:
    operations, errors = json_patch.read_operations(patch)
    return operations, [_of_operation(error, index) for error in errors]


def _of_operation(error: JsonPatchError, index: int) -> PatchProblem:
    path: Path = ("patch", error.operation, *([error.member] if error.member else []))
    return PatchProblem(index, path, str(error), error.hint)


def _placed(problem: PatchProblem, place: Document | None) -> PatchProblem:
    """The problem, with the line inside the patch's text if it is given as text."""
    if place is None or problem.path[:1] != ("patch",):
        return problem
    return replace(problem, at=place.position(problem.path[1:]))


def _patch(tree: Tree, patch: ObjectPatch, patched: Patched) -> Iterator[Tree]:
    """The patched object, or nothing if the patch removes it."""
    patched.matched.add(patch.index)
    result, problems = _result(tree, patch)
    name = object_name(tree)
    if problems:
        patched.problems.extend(replace(_placed(each, patch.place), object=name) for each in problems)
        yield tree
        return
    if result is None or not json_patch.same_json(result, tree):
        patched.changed[name] = patch.index
    if result is not None:
        yield result


def _result(tree: Tree, patch: ObjectPatch) -> tuple[Tree | None, list[PatchProblem]]:
    """The patched object (None if removed), or the problems."""
    change = patch.change
    result: Any
    try:
        if isinstance(change, list):
            result = without_nulls(json_patch.apply(tree, change))
        elif change.get("$patch") == "delete":
            return None, []
        else:
            result = merge(tree, change, JOB_SET if tree["kind"] == "JobSet" else OBJECT)
    except MergeError as error:
        return None, [PatchProblem(patch.index, ("patch", *error.path), str(error))]
    except JsonPatchError as error:
        return None, [_of_operation(error, patch.index)]
    return result, _changes_of_identity(tree, result, patch)


def _changes_of_identity(before: Tree, after: Any, patch: ObjectPatch) -> list[PatchProblem]:
    if not isinstance(after, dict):
        hint = "to remove a whole object, use the merge patch {$patch: delete}"
        return [PatchProblem(patch.index, ("patch",), "must not remove the whole object", hint)]
    return [
        PatchProblem(patch.index, _culprit(patch, path), f"{'.'.join(map(str, path))} {message}", hint)
        for path, (message, hint) in _FIXED.items()
        if not json_patch.same_json(value_at(before, path), value_at(after, path))
    ]


def _culprit(patch: ObjectPatch, path: Path) -> Path:
    """Where the patch changes the element at `path` of an object."""
    if not isinstance(patch.change, list):
        return ("patch", *path)
    pointer = tuple(map(str, path))
    return ("patch", next(each.index for each in reversed(patch.change) if each.touches(pointer)))
