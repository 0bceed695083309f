"""Provenance: which plugin set what, and which line of a document a value comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypedDict

from trainform.core.jobset_view import NODE_CONTAINER, STEP_LABEL, TRAINER_STEP
from trainform.diagnostics import Path
from trainform.k8s.tree import Tree, table, tables, value_at

if TYPE_CHECKING:
    from trainform.source import Document

Origin = Literal["trainjob", "runtime", "environment"]

Source = tuple[Origin, Path]
"""A field of one of the job's documents: `("trainjob", ("spec", "suspend"))`."""

SHIPPED = "catalogue/"
"""How the file names of shipped runtimes start: they are in no repository."""

Key = tuple[str | tuple[str, int], ...]
"""Like a path, but a list entry is `(name, n)`, the n-th of that name: `("node", 0)`; `("", n)` is the n-th without a
name. A key is stable while lists around it grow or are reordered."""


class Conflict(NamedTuple):
    """Two plugins and what they disagree on."""

    what: str
    first: str
    second: str


class Copy(NamedTuple):
    """The element at `key` of a rendered object was copied from `source`. `object` is `Kind/name`, empty for the
    JobSet. `value` is set if the element is written differently than in the document. `actor` is the plugin that copied
    it, empty before any plugin ran."""

    source: Source
    object: str
    key: Key
    value: Any
    actor: str


@dataclass(slots=True)
class Ledger:
    """Every variable, port, volume and label that a plugin set, with the plugin's name. `copies` are the values copied
    from documents, recorded only while the compile is observed."""

    actor: str = ""
    entries: dict[tuple[str, ...], tuple[str, object]] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    copies: list[Copy] | None = None

    def record(self, key: tuple[str, ...], value: object) -> None:
        """Record that the acting plugin set `key`, such as `("variable", "PET_NNODES", "node/node")`."""
        first, earlier = self.entries.setdefault(key, (self.actor, value))
        if first != self.actor and earlier != value:
            what = f"{key[0]} {key[1]}" + (f" of {key[2]}" if len(key) > 2 else "")
            self.conflicts.append(Conflict(what, first, self.actor))

    def record_copy(self, source: Source, key: Key, value: Any = None, object: str = "") -> None:
        """Record that the element at `key` comes from `source`."""
        if self.copies is not None:
            self.copies.append(Copy(source, object, key, value, self.actor))


TEMPLATE: Path = ("spec", "template")


class Documents(Protocol):
    """The documents that a plan was made from."""

    @property
    def job_document(self) -> Document: ...
    @property
    def runtime_document(self) -> Document: ...
    @property
    def environment_document(self) -> Document | None: ...


def blame(plan: Documents, tree: Tree, path: Path) -> tuple[Document, Path]:
    """The document and path that set the element at `path` of the rendered object `tree`. In order: the TrainJob's
    trainer and initializers, which override everything else; the last runtimePatch that has the element, the job's
    before the Environment's; the runtime, also for a missing element; the job's `runtimeRef`."""
    if path[:1] == ("metadata",):
        return _blame_metadata(plan, tree, path)
    if tree.get("kind") != "JobSet":
        return plan.runtime_document, _deepest(plan.runtime_document.tree, ("spec", "podGroupPolicy"))
    own = _trainer_field(plan, tree, path) or _initializer_field(plan, tree, path)
    if own is not None:
        return plan.job_document, own
    for source, root in _sources(plan):
        found = follow(source.tree, root, tree, path)
        if found is not None:
            return source, found
    parent = follow(plan.runtime_document.tree, TEMPLATE, tree, path[:-1])
    if parent is not None:
        return plan.runtime_document, (*parent, path[-1])
    return plan.job_document, ("spec", "runtimeRef", "name")


def _blame_metadata(plan: Documents, tree: Tree, path: Path) -> tuple[Document, Path]:
    """The last runtimePatch or the runtime's template that sets the label or annotation to this value, else the
    TrainJob, or the template if it has another value."""
    value = value_at(tree, path)
    for source, root in (*_sources(plan), (plan.job_document, ())) if value is not None and len(path) > 2 else ():
        if value_at(source.tree, (*root, *path)) == value:
            return source, (*root, *path)
    in_template = (*TEMPLATE, *path)
    if len(path) > 2 and value_at(plan.runtime_document.tree, in_template) is not None:
        return plan.runtime_document, in_template
    return plan.job_document, _deepest(plan.job_document.tree, path[:2])


def _trainer_field(plan: Documents, tree: Tree, path: Path) -> Path | None:
    """The element at `path` as a path of the TrainJob's `spec.trainer`, if it is set there."""
    container, field = path[:9], path[9:]
    if path[:2] != ("spec", "replicatedJobs") or path[7:8] != ("containers",) or not field:
        return None
    if value_at(tree, (*container, "name")) != NODE_CONTAINER:
        return None
    head = "resourcesPerNode" if field[0] == "resources" else field[0]
    rendered = value_at(tree, container)
    renamed = {**rendered, head: rendered.get(field[0])}
    found = follow(plan.job_document.tree, ("spec", "trainer"), renamed, (head, *field[1:]))
    # MPI copies the trainer's variables into other steps; whatever else these have is their own.
    is_copy = head == "env" and found and value_at(plan.job_document.tree, found) == value_at(tree, path)
    return found if is_copy or _step(tree, path) == TRAINER_STEP else None


def _step(tree: Tree, path: Path) -> str:
    step = value_at(tree, (*path[:3], "template", "metadata", "labels", STEP_LABEL))
    return step if isinstance(step, str) else ""


def _initializer_field(plan: Documents, tree: Tree, path: Path) -> Path | None:
    """The element at `path` as a path of the TrainJob's `spec.initializer`, if it is set there."""
    step, container, field = _step(tree, path), path[:9], path[9:]
    kind = step.removesuffix("-initializer")
    if kind == step or value_at(tree, (*container, "name")) != step or field[:1] not in (("env",), ("envFrom",)):
        return None
    root: Path = ("spec", "initializer", kind)
    given, rendered = value_at(plan.job_document.tree, root), value_at(tree, container)
    if field[0] == "env":
        entry, uri = value_at(rendered, field[:2]), value_at(given, ("storageUri",))
        own = follow(plan.job_document.tree, root, rendered, field)
        is_uri = uri is not None and entry == {"name": "STORAGE_URI", "value": uri}
        return own or ((*root, "storageUri") if is_uri else None)
    name = value_at(given, ("secretRef", "name"))
    is_given = name is not None and value_at(rendered, (*field[:2], "secretRef", "name")) == name
    return (*root, *field[2:]) if is_given else None


class Shown(TypedDict, total=False):
    """The rendered object and field in which a source's error shows."""

    object: str
    object_path: Path


def shown_at(path: Path, name: str) -> Shown:
    """Where the element at `path` of a runtime shows in the objects of the job `name`, if it does."""
    if path[:3] == ("spec", "template", "spec"):
        return {"object": f"JobSet/{name}", "object_path": ("spec", *path[3:])}
    if path[:2] == ("spec", "podGroupPolicy") and len(path) > 3:
        return {"object": f"PodGroup/{name}", "object_path": ("spec", *path[3:])}
    return {}


def _sources(plan: Documents) -> list[tuple[Document, Path]]:
    """Whatever may set an element of the template, the last first, each with the template's place in it."""
    roots: list[tuple[Document, Path]] = [
        (document, ("spec", "runtimePatches", index, "trainingRuntimeSpec", "template"))
        for document in (plan.job_document, plan.environment_document)
        if document is not None
        for index in reversed(range(len(tables(table(document.tree, "spec"), "runtimePatches"))))
    ]
    return [*roots, (plan.runtime_document, TEMPLATE)]


def follow(source: Any, root: Path, tree: Any, path: Path) -> Path | None:
    """`path` of the rendered tree as a path of `source`, matching list elements by name."""
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
    """The longest prefix of `path` that exists in `tree`."""
    while path and value_at(tree, path) is None:
        path = path[:-1]
    return path
