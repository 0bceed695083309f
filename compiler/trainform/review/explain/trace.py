"""What each plugin and final patch changed in a job, found by comparison, so plugins need not cooperate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.beside.adoption import ADOPTION
from trainform.core.destination import in_text
from trainform.core.jobset_view import TRAINER_STEP
from trainform.core.patches.images import with_images
from trainform.core.patches.objects import apply_patches
from trainform.core.pod_set import PodSet
from trainform.core.provenance import Ledger
from trainform.core.trainer import set_trainer_fields
from trainform.k8s.tree import Tree, object_name
from trainform.review.explain.leaves import leaves, leaves_of, node_of, same
from trainform.review.explain.owner import Owner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainform.core.destination import Destination
    from trainform.core.patches.objects import ObjectPatch
    from trainform.core.plan import Plan
    from trainform.core.provenance import Key
    from trainform.diagnostics import Path
    from trainform.k8s.patch.json_patch import Operation
    from trainform.source import Document

COMPANIONS = "name of a companion"
"""The source of names that refer to a job's copy of an object."""

At = tuple[str, "Key"]
"""A leaf of one of the objects: `("JobSet/llm", ("spec", "suspend"))`."""

Snapshot = dict[At, Any]


class Assignment(NamedTuple):
    """A value that a leaf once had, and who set it; None if it predates all plugins."""

    value: Any
    owner: Owner | None


@dataclass(slots=True, eq=False)
class Trace:
    """The history of one job: all values of each leaf so far, in order, and the objects as built by plugins."""

    plan: Plan
    now: Snapshot = field(default_factory=dict)
    steps: dict[At, list[Assignment]] = field(default_factory=dict)
    built: list[Tree] = field(default_factory=list)

    def copy(self) -> Trace:
        steps = {at: list(values) for at, values in self.steps.items()}
        return Trace(self.plan, dict(self.now), steps, self.built)

    def note(self, snapshot: Snapshot, owner: Callable[[At, Any], Owner | None]) -> None:
        """Make `snapshot` the current state; `owner` names who changed each changed leaf."""
        for at, value in snapshot.items():
            if at not in self.now or not same(self.now[at], value):
                self.steps.setdefault(at, []).append(Assignment(value, owner(at, value)))
        self.now = snapshot


@dataclass(slots=True, eq=False)
class Recorder:
    """A pipeline observer that keeps a trace per job and Environment. For a job that is built twice, the second time
    under a hashed name, the second trace counts."""

    traces: dict[tuple[str, Document], Trace] = field(default_factory=dict)

    def __call__(self, stage: str, plugin: str, plan: Plan) -> None:
        if stage == "check":
            return
        job = (plan.destination.name, plan.job_document)
        trace = self.traces.get(job)
        if trace is None or trace.plan is not plan:
            trace = self.traces[job] = Trace(plan)
        actor = Owner("plugin", plugin, stage) if plugin else None
        trace.built = list(plan.objects)
        if stage == ADOPTION:
            trace.note(_snapshot(plan), lambda at, _: None if at[0] in plan.beside else Owner("default", COMPANIONS))
        else:
            trace.note(_snapshot(plan), lambda *_: actor)


def snapshot_of(objects: Iterable[Tree]) -> Snapshot:
    """The leaves of all objects."""
    return {(object_name(tree), leaf.key): leaf.value for tree in objects for leaf in leaves_of(tree)}


def _snapshot(plan: Plan) -> Snapshot:
    if plan.jobset is not None:
        return snapshot_of(plan.objects)
    snapshot = snapshot_of([*plan.objects, {"kind": "JobSet", **_preview(plan)}])
    snapshot.pop((f"JobSet/{plan.name}", ("kind",)))  # set by the plugin that builds the JobSet
    return snapshot


def _preview(plan: Plan) -> Tree:
    """The JobSet that the plan would become now. The plan applies counts, pod labels, annotations and trainer fields to
    the pods later. Here they are applied at once, so that they belong to whoever put them into the plan."""
    jobs = []
    for pods in plan.pod_sets:
        copy = PodSet.of(pods.job, pods.path, Ledger())
        copy.count = pods.count
        if pods.step == TRAINER_STEP:
            set_trainer_fields(plan, copy)
        copy.labels, copy.annotations = pods.labels, pods.annotations
        copy.sync()
        jobs.append(copy.job)
    return {"metadata": plan.metadata, "spec": {**plan.spec, "replicatedJobs": jobs}}


def trace_patches(trace: Trace, objects: list[Tree]) -> list[Tree]:
    """The objects after all final patches, recording what each patch changed."""
    destination = trace.plan.destination
    for patch in destination.patches if destination.document else ():
        objects = apply_patches(objects, [patch], trace.plan.stable).objects
        paths = {(object_name(tree), leaf.key): leaf.path for tree in objects for leaf in leaves_of(tree)}
        trace.note(snapshot_of(objects), partial(_owner, destination, patch, paths))
    return objects


def trace_images(trace: Trace, objects: list[Tree]) -> list[Tree]:
    """The objects with the Environment's images, recording what each entry changed."""
    destination = trace.plan.destination
    entries = destination.environment.spec.images if destination.document else ()
    for index, entry in enumerate(entries):
        objects = [with_images(tree, [entry]).tree if tree["kind"] == "JobSet" else tree for tree in objects]
        trace.note(snapshot_of(objects), _always(_image_owner(destination, index)))
    return objects


def _always(owner: Owner) -> Callable[[At, Any], Owner]:
    return lambda *_: owner


def _image_owner(destination: Destination, index: int) -> Owner:
    document = destination.document
    assert document is not None  # images come from a document
    return Owner(
        "environment", destination.name, None, document.file, document.position(destination.image_path(index)).line
    )


def _owner(destination: Destination, patch: ObjectPatch, paths: dict[At, Path], at: At, value: Any) -> Owner:
    """The Environment, at the line of the patch that has the value."""
    if isinstance(patch.change, list):
        inner = _operation(patch.change, paths[at], at, value)
    else:
        kind, key = at[0].partition("/")[0], at[1]
        merged = leaves(patch.change, node_of(kind))
        inner = next((leaf.path for leaf in merged if leaf.key == key and same(leaf.value, value)), ())
    document = destination.document
    assert document is not None  # patches come from a document
    path: Path = ("spec", "patches", patch.index, "patch")
    if patch.place is None:
        position = document.position((*path, *inner))
    else:
        position = in_text(document, path, patch.place.position(inner))
    return Owner("environment", destination.name, None, document.file, position.line)


def _operation(operations: list[Operation], path: Path, at: At, value: Any) -> Path:
    """The last operation that set the element at `path`, and the value in it."""
    pointer = tuple(map(str, path))
    for operation in reversed(operations):
        inner = _in_value(operation.value, at, value)
        if operation.touches(pointer) or (operation.path[-1:] == ("-",) and inner is not None):
            return (operation.index, *(() if inner is None else ("value", *inner)))
    return ()


def _in_value(tree: Any, at: At, value: Any) -> Path | None:
    """Where the leaf is in an operation's value, matched by the end of its key."""
    _, key = at
    found = (leaf for leaf in leaves(tree, node_of("")) if key[len(key) - len(leaf.path) :] == leaf.key)
    return next((leaf.path for leaf in found if same(leaf.value, value)), None)
