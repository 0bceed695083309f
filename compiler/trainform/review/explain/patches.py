"""Where in an Environment's final patches a value stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainform.core.patches.objects import apply_patches
from trainform.k8s.tree import Tree, object_name
from trainform.review.explain.leaves import leaves, leaves_of, node_of, same
from trainform.review.explain.owner import Owner
from trainform.review.explain.trace import Trace, snapshot_of

if TYPE_CHECKING:
    from trainform.core.patches.objects import ObjectPatch
    from trainform.diagnostics import Path
    from trainform.k8s.patch.json_patch import Operation
    from trainform.review.explain.trace import At
    from trainform.source import Document


def trace_patches(trace: Trace, objects: list[Tree]) -> list[Tree]:
    """The objects after all final patches, each of which is noted for what it changed."""
    document = trace.plan.destination.document
    for patch in trace.plan.destination.patches if document else ():
        objects = apply_patches(objects, [patch], trace.plan.stable).objects
        paths = {(object_name(tree), leaf.key): leaf.path for tree in objects for leaf in leaves_of(tree)}
        trace.note(snapshot_of(objects), _Locator(trace.plan.destination.name, document, patch, paths))
    return objects


class _Locator:
    """Tells the place of a value in one patch."""

    def __init__(self, environment: str, document: Document | None, patch: ObjectPatch, paths: dict[At, Path]) -> None:
        self._environment = environment
        self._document = document
        self._patch = patch
        self._paths = paths

    def __call__(self, at: At, value: Any) -> Owner:
        change = self._patch.change
        inner = self._operation(at, value) if isinstance(change, list) else self._merged(change, at, value)
        assert self._document is not None  # patches come from one
        line = _line(self._document, self._patch, inner)
        return Owner("environment", self._environment, None, self._document.file, line)

    def _merged(self, change: Tree, at: At, value: Any) -> Path:
        found = (leaf for leaf in leaves(change, node_of(at[0].partition("/")[0])) if leaf.key == at[1])
        return next((leaf.path for leaf in found if same(leaf.value, value)), ())

    def _operation(self, at: At, value: Any) -> Path:
        """The last operation that set the element, and the value in it."""
        pointer = tuple(map(str, self._paths[at]))
        operations: list[Operation] = list(self._patch.change)  # type: ignore[arg-type]  # a JSON Patch, here
        for operation in reversed(operations):
            inner = _in_value(operation.value, at, value)
            if operation.touches(pointer) or (operation.path[-1:] == ("-",) and inner is not None):
                return (operation.index, *(() if inner is None else ("value", *inner)))
        return ()


def _in_value(tree: Any, at: At, value: Any) -> Path | None:
    """Where in the value of an operation the leaf stands, whose key ends as there."""
    node = node_of("")
    found = (leaf for leaf in leaves(tree, node) if at[1][len(at[1]) - len(leaf.path) :] == leaf.key)
    return next((leaf.path for leaf in found if same(leaf.value, value)), None)


def _line(document: Document, patch: ObjectPatch, inner: Path) -> int:
    path: Path = ("spec", "patches", patch.index, "patch")
    if patch.place is None:
        return document.position((*path, *inner)).line
    start = document.position(path).line
    # The lines of a block (`|`) are lines of the file, and those of a quoted text are not.
    is_block = "|" in document.line(start)
    return start + patch.place.position(inner).line if is_block else start
