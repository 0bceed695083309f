"""Finds who set each field of a job's objects, and where. Objects are compared before and after each stage, and a
change belongs to the plugin that acted, so plugins need not cooperate. What a plugin recorded as copied from a document
belongs to that document."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.core.beside.companions import KINDS, runtime_of
from trainform.core.provenance import SHIPPED
from trainform.k8s.defaults import admit
from trainform.k8s.tree import Tree, object_name
from trainform.review.explain.leaves import Leaf, leaves_of, same
from trainform.review.explain.owner import Field, Override, Owner
from trainform.review.explain.sources import sources_of
from trainform.review.explain.trace import (
    COMPANIONS,
    Assignment,
    At,
    Recorder,
    Trace,
    snapshot_of,
    trace_images,
    trace_patches,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainform.core.compile import CompiledJob
    from trainform.core.plan import Plan
    from trainform.review.explain.sources import Sources, Stated
    from trainform.source import Document

__all__ = ["Field", "Override", "Owner", "Recorder", "explain"]

WEBHOOK = "JobSet's webhook"
CRD = "JobSet's CRD"

BY_WEBHOOK = (
    ("completionMode",),
    ("divisor",),
    ("network", "enableDNSHostnames"),
    ("network", "publishNotReadyAddresses"),
    ("restartPolicy",),
    ("startupPolicy", "startupPolicyOrder"),
    ("successPolicy", "operator"),
)
"""Suffixes of fields that JobSet's defaulting webhook fills in; the other defaults are its CRD's."""


def explain(job: CompiledJob, recorder: Recorder, documents: Iterable[Document]) -> list[Field]:
    """Every leaf of the job's objects, in order, with its owner; none for a job with an error. `recorder` observed the
    compile; `documents` are all its documents."""
    recorded = recorder.traces.get((job.environment, job.document))
    if recorded is None or not job.objects:
        return []
    sources = sources_of(recorded.plan, recorded.built, [*documents, *_shipped_companions(job)])
    history = _History(_finished(recorded, job.objects), sources)
    return [history.field(object_name(tree), leaf) for tree in job.objects for leaf in leaves_of(tree)]


def _finished(recorded: Trace, objects: Sequence[Tree]) -> Trace:
    """The recorded trace, plus what happens after `build`: final patches, images, API server defaults, annotations for
    the engine."""
    trace = recorded.copy()
    patched = trace_images(trace, trace_patches(trace, trace.built))
    _note_defaults(trace, [admit(tree) for tree in patched])
    trace.note(
        snapshot_of(objects), lambda at, value: Owner("default", f"engine {trace.plan.environment.spec.gitops.engine}")
    )
    return trace


def _note_defaults(trace: Trace, written: Sequence[Tree]) -> None:
    """New leaves are defaults. A value with only a different spelling keeps its owner."""
    snapshot = snapshot_of(written)
    trace.now.update({at: value for at, value in snapshot.items() if at in trace.now})
    trace.note(snapshot, _default)


def _default(at: At, _: object) -> Owner:
    _, key = at
    return Owner("default", WEBHOOK if any(key[-len(end) :] == end for end in BY_WEBHOOK) else CRD)


class _History(NamedTuple):
    """Finds owners from the trace of changes and from what the documents state."""

    trace: Trace
    sources: Sources

    def field(self, name: str, leaf: Leaf) -> Field:
        at = (name, leaf.key)
        *earlier, last = self.trace.steps[at]
        stated = self._stated(at, last)
        owner = _naming(self.trace.plan, at, last) or (
            stated.owner() if stated else last.owner or _unstated(self.trace.plan, at)
        )
        overrides = (each for each in self._overrides(at, earlier, stated) if each.owner != owner)
        names = tuple(part[0] or None for part in leaf.key if isinstance(part, tuple))
        return Field(name, leaf.path, names, leaf.value, owner, tuple(overrides), stated.path if stated else ())

    def _stated(self, at: At, step: Assignment) -> Stated | None:
        """The document that has the value, if it was there initially or a plugin copied it."""
        if step.owner is not None and step.owner.kind != "plugin":
            return None
        return self.sources.of(at, step.value, copied=step.owner is not None)

    def _overrides(self, at: At, earlier: Sequence[Assignment], last: Stated | None) -> Iterator[Override]:
        # A source counts only if the object once had its value.
        had = [step.value for step in self.trace.steps[at]]
        for stated in self.sources.before(at, last):
            if stated.early or any(same(stated.value, value) for value in had):
                yield Override(stated.value, stated.owner())
        for step in earlier:
            if step.owner is not None and self._stated(at, step) is None:
                yield Override(step.value, step.owner)


def _unstated(plan: Plan, at: At) -> Owner:
    """The owner of a value that predates all plugins and is in no document."""
    match at[1]:
        case ("metadata", "namespace"):
            return Owner("default", "namespace")
        case (*_, "parallelism" | "completions"):
            return Owner("default", "one pod")
        case (*_, "rules", _, "name"):
            return Owner("default", WEBHOOK)
        case (*_, "serviceAccountName"):
            return Owner("default", COMPANIONS)
    return Owner("default", COMPANIONS if at[0] in plan.beside or at[0].startswith(KINDS) else "trainform")


def _naming(plan: Plan, at: At, step: Assignment) -> Owner | None:
    """A name with a content hash belongs to the Environment, which requests it, whoever wrote it."""
    environment = plan.destination.document
    if environment is None or plan.name == plan.stable_name or at[1] != ("metadata", "name"):
        return None
    if not str(step.value).startswith(plan.name):
        return None
    line = environment.position(("spec", "gitops", "naming")).line
    return Owner("environment", plan.destination.name, "naming", environment.file, line)


def _shipped_companions(job: CompiledJob) -> list[Document]:
    """Companions of a shipped runtime, which are not among a compile's documents."""
    if job.runtime is None or not job.runtime.companions:
        return []
    from trainform.source import load

    source = job.runtime.document.part.source
    if not source.file.startswith(SHIPPED):
        return []
    return [each for each in load(source.text, source.file).documents if runtime_of(each.tree)]
