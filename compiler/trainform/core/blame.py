"""Where an element of a rendered object comes from: the source that a user can mend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from trainform.core.plan import NODE_CONTAINER, TRAINER_STEP
from trainform.core.pod_set import STEP_LABEL
from trainform.diagnostics import Path
from trainform.k8s.tree import Tree, value_at

if TYPE_CHECKING:
    from trainform.core.plan import Plan
    from trainform.source import Document

TEMPLATE: Path = ("spec", "template")


def blame(plan: Plan, tree: Tree, path: Path) -> tuple[Document, Path]:
    """The document and path that set the element at `path` of the rendered object `tree`.

    The TrainJob's trainer, which wins over all else, then the last runtimePatch that has the element,
    then the runtime, which is also where an element is missing, else the job's `runtimeRef`.
    """
    if path[:1] == ("metadata",):
        return _blame_metadata(plan, path)
    if tree.get("kind") != "JobSet":
        return plan.runtime_document, _deepest(plan.runtime_document.tree, ("spec", "podGroupPolicy"))
    trainer = _trainer_field(plan, tree, path)
    if trainer is not None:
        return plan.job_document, trainer
    for source, root in _sources(plan):
        found = _follow(source.tree, root, tree, path)
        if found is not None:
            return source, found
    parent = _follow(plan.runtime_document.tree, TEMPLATE, tree, path[:-1])
    if parent is not None:
        return plan.runtime_document, (*parent, path[-1])
    return plan.job_document, ("spec", "runtimeRef", "name")


def _blame_metadata(plan: Plan, path: Path) -> tuple[Document, Path]:
    """The TrainJob, or the runtime where its template has the label or annotation."""
    in_template = (*TEMPLATE, *path)
    if len(path) > 2 and value_at(plan.runtime_document.tree, in_template) is not None:
        return plan.runtime_document, in_template
    return plan.job_document, _deepest(plan.job_document.tree, path[:2])


def _trainer_field(plan: Plan, tree: Tree, path: Path) -> Path | None:
    """The element at `path` as a path of the TrainJob's `spec.trainer`, where that sets it."""
    container, field = path[:9], path[9:]
    if path[:2] != ("spec", "replicatedJobs") or path[7:8] != ("containers",) or not field:
        return None
    if value_at(tree, (*container, "name")) != NODE_CONTAINER or not _is_trainer(tree, path):
        return None
    head = "resourcesPerNode" if field[0] == "resources" else field[0]
    rendered = value_at(tree, container)
    renamed = {**rendered, head: rendered.get(field[0])}
    return _follow(plan.job_document.tree, ("spec", "trainer"), renamed, (head, *field[1:]))


def _is_trainer(tree: Tree, path: Path) -> bool:
    step = value_at(tree, (*path[:3], "template", "metadata", "labels", STEP_LABEL))
    return bool(step == TRAINER_STEP)


class Shown(TypedDict, total=False):
    """The rendered object and its field in which a fault of a source shows."""

    object: str
    object_path: Path


def shown_at(path: Path, name: str) -> Shown:
    """Where the element at `path` of a runtime shows in the objects of the job `name`, if it does."""
    if path[:3] == ("spec", "template", "spec"):
        return {"object": f"JobSet/{name}", "object_path": ("spec", *path[3:])}
    if path[:2] == ("spec", "podGroupPolicy") and len(path) > 3:
        return {"object": f"PodGroup/{name}", "object_path": ("spec", *path[3:])}
    return {}


def _sources(plan: Plan) -> list[tuple[Document, Path]]:
    patches = plan.job.spec.runtime_patches or ()
    roots: list[tuple[Document, Path]] = [
        (plan.job_document, ("spec", "runtimePatches", index, "trainingRuntimeSpec", "template"))
        for index in reversed(range(len(patches)))
    ]
    return [*roots, (plan.runtime_document, TEMPLATE)]


def _follow(source: Any, root: Path, tree: Any, path: Path) -> Path | None:
    """`path` of the rendered tree as a path of `source`, where list elements go by their name."""
    node = value_at(source, root)
    found: list[str | int] = list(root)
    for part in path:
        child: str | int | None = part
        if isinstance(part, int):
            child = _same_name(node, tree, part)
        node = value_at(node, (child,)) if child is not None else None
        tree = value_at(tree, (part,))
        if node is None or child is None:
            return None
        found.append(child)
    return tuple(found)


def _same_name(source: Any, tree: Any, index: int) -> int | None:
    if not isinstance(source, list) or not isinstance(tree, list) or index >= len(tree):
        return None
    wanted = tree[index]
    if not isinstance(wanted, dict) or "name" not in wanted:
        return index if index < len(source) else None
    names = [item.get("name") if isinstance(item, dict) else None for item in source]
    return names.index(wanted["name"]) if wanted["name"] in names else None


def _deepest(tree: Any, path: Path) -> Path:
    """The longest start of `path` that exists in `tree`."""
    while path and value_at(tree, path) is None:
        path = path[:-1]
    return path
