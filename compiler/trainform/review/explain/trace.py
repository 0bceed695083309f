"""What each plugin changed in a job, stage by stage: found by comparison, so that no plugin has to cooperate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.jobset_view import TRAINER_STEP
from trainform.core.pod_set import PodSet
from trainform.core.provenance import Ledger
from trainform.core.trainer import set_trainer_fields
from trainform.k8s.tree import Tree, object_name
from trainform.review.explain.leaves import leaves_of, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainform.core.plan import Plan
    from trainform.core.provenance import Key
    from trainform.review.explain.owner import Owner
    from trainform.source import Document

At = tuple[str, "Key"]
"""A leaf of one of the objects: `("JobSet/llm", ("spec", "suspend"))`."""

Snapshot = dict[At, Any]


class Assignment(NamedTuple):
    """A value that a leaf had at some time, and who set it; None if it was there before any plugin."""

    value: Any
    owner: Owner | None


@dataclass(slots=True, eq=False)
class Trace:
    """One job on its way: all values of each leaf so far, in order, and the objects as plugins built them."""

    plan: Plan
    now: Snapshot = field(default_factory=dict)
    steps: dict[At, list[Assignment]] = field(default_factory=dict)
    built: list[Tree] = field(default_factory=list)

    def copy(self) -> Trace:
        steps = {at: list(values) for at, values in self.steps.items()}
        return Trace(self.plan, dict(self.now), steps, self.built)

    def note(self, snapshot: Snapshot, owner: Callable[[At, Any], Owner | None]) -> None:
        """Make `snapshot` the current state; every leaf that changed belongs to `owner`."""
        for at, value in snapshot.items():
            if at not in self.now or not same(self.now[at], value):
                self.steps.setdefault(at, []).append(Assignment(value, owner(at, value)))
        self.now = snapshot


@dataclass(slots=True, eq=False)
class Recorder:
    """An observer of the pipeline: keeps a trace for each job and Environment.

    A job that is built twice, the second time under a hashed name, is traced the second time.
    """

    traces: dict[tuple[str, Document], Trace] = field(default_factory=dict)

    def __call__(self, stage: str, plugin: str, plan: Plan) -> None:
        from trainform.review.explain.owner import Owner

        if stage == "check":
            return
        job = (plan.destination.name, plan.job_document)
        trace = self.traces.get(job)
        if trace is None or trace.plan is not plan:
            trace = self.traces[job] = Trace(plan)
        actor = Owner("plugin", plugin, stage) if plugin else None
        trace.built = list(plan.objects)
        trace.note(_snapshot(plan), lambda at, value: actor)


def snapshot_of(objects: Iterable[Tree]) -> Snapshot:
    """The leaves of all objects."""
    return {(object_name(tree), leaf.key): leaf.value for tree in objects for leaf in leaves_of(tree)}


def _snapshot(plan: Plan) -> Snapshot:
    if plan.jobset is not None:
        return snapshot_of(plan.objects)
    snapshot = snapshot_of([*plan.objects, {"kind": "JobSet", **_preview(plan)}])
    snapshot.pop((f"JobSet/{plan.name}", ("kind",)))  # it is written by who builds the JobSet
    return snapshot


def _preview(plan: Plan) -> Tree:
    """The JobSet that the plan would become now.

    Counts, marks of pods and the trainer's fields wait in the plan until the pods get them: here they have
    them at once, so that they belong to whoever put them into the plan.
    """
    jobs = []
    for pods in plan.pod_sets:
        copy = PodSet.of(pods.job, pods.path, Ledger())
        copy.count = pods.count
        if pods.step == TRAINER_STEP:
            set_trainer_fields(plan, copy)
        copy.sync(plan.pod_labels, plan.pod_annotations)
        jobs.append(copy.job)
    return {"metadata": plan.metadata, "spec": {**plan.spec, "replicatedJobs": jobs}}
