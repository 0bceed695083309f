"""Finds the runtime that a TrainJob references, in the repository or in the shipped catalogue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.api import read
from trainform.core.beside.companions import in_order, runtime_of
from trainform.core.inputs import Input, Inputs
from trainform.core.provenance import SHIPPED, shown_at
from trainform.diagnostics import Diagnostic, dotted
from trainform.diagnostics.suggest import MOST, did_you_mean, listed
from trainform.source import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainform.api import TrainJob
    from trainform.api.trainjob import RuntimeRef

KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")


@dataclass(slots=True)
class Catalogue:
    """ClusterTrainingRuntimes by name: `files` maps `<name>.yaml` to the text of that file."""

    files: Mapping[str, str] = field(default_factory=dict)
    _read: dict[str, Input] = field(default_factory=dict)

    def names(self) -> list[str]:
        return sorted(file.removesuffix(".yaml") for file in self.files)

    def get(self, name: str) -> Input | None:
        """The shipped runtime `name` with its companions, or None."""
        file = f"{name}.yaml"
        if name not in self._read and file in self.files:
            documents = load(self.files[file], f"{SHIPPED}{file}").documents
            document = next(d for d in documents if d.tree.get("kind") == "ClusterTrainingRuntime")
            found = read(document)
            companions = in_order(d.tree for d in documents if runtime_of(d.tree) == name)
            key = ("ClusterTrainingRuntime", "", name)
            self._read[name] = Input(document, key, found, tuple(found.diagnostics), companions=companions)
        return self._read.get(name)


def find_runtime(
    job: TrainJob, item: Input, inputs: Inputs, catalogue: Catalogue
) -> tuple[Input | None, list[Diagnostic]]:
    """The job's runtime, or the errors of its reference. A ClusterTrainingRuntime in the repository shadows a shipped
    one of the same name. A TrainingRuntime must be in the job's namespace, as in the cluster."""
    ref = job.spec.runtime_ref
    _, namespace, _ = item.key
    key = (ref.kind, "" if ref.kind == KINDS[0] else namespace, ref.name)
    runtime = inputs.runtimes.get(key)
    if runtime is None and ref.kind == KINDS[0]:
        runtime = catalogue.get(ref.name)
    if runtime is None:
        # An unsupported kind or empty name is reported when the TrainJob is parsed.
        nameable = ref.kind in KINDS and ref.name
        return None, [_not_found(job, item, inputs, catalogue)] if nameable else []
    if not runtime.sound:
        return runtime, _broken(job, item, runtime)
    return runtime, []


def _not_found(job: TrainJob, item: Input, inputs: Inputs, catalogue: Catalogue) -> Diagnostic:
    ref = job.spec.runtime_ref
    _, namespace, _ = item.key
    where = f" in namespace {namespace}" if ref.kind == KINDS[1] else ""
    message = f"{ref.kind} {ref.name!r} not found{where}"
    hint = _other_place(ref, namespace, inputs, catalogue) or _near(ref, namespace, inputs, catalogue)
    return Diagnostic("TF201", "error", message, hint, ("spec", "runtimeRef", "name"), item.document)


def _other_place(ref: RuntimeRef, own: str, inputs: Inputs, catalogue: Catalogue) -> str:
    """A hint if the name exists under the other kind or in another namespace."""
    places = [(kind, place) for kind in KINDS for place in inputs.runtime_names.namespaces(kind, ref.name)]
    for kind, namespace in places:
        if namespace in ("", own):
            return f"a {kind} with this name exists; write runtimeRef: {{kind: {kind}, name: {ref.name}}}"
    for kind, namespace in places:
        return f"a {kind} with this name exists in namespace {namespace}, but only jobs in that namespace can use it"
    if ref.kind == KINDS[1] and ref.name in catalogue.names():
        return f"a shipped {KINDS[0]} has this name; write runtimeRef: {{name: {ref.name}}}"
    return ""


def _near(ref: RuntimeRef, namespace: str, inputs: Inputs, catalogue: Catalogue) -> str:
    usable = inputs.runtime_names.names(ref.kind, "" if ref.kind == KINDS[0] else namespace)
    if ref.kind == KINDS[0] and len(usable) < MOST:
        usable = sorted({*usable, *catalogue.names()})
    if near := did_you_mean(ref.name, usable):
        return near
    return f"available: {listed(usable)}" if usable else "add the runtime to runtimes/"


def _broken(job: TrainJob, item: Input, runtime: Input) -> list[Diagnostic]:
    """One error on the job for each error of its runtime, with the rendered object that it affects."""
    return [
        Diagnostic(
            "TF206",
            "error",
            f"runtime {job.spec.runtime_ref.name!r} has an error at {place_of(error)}: "
            f"{dotted(error.path)}: {error.message}",
            "fix the runtime first",
            ("spec", "runtimeRef", "name"),
            item.document,
            **shown_at(error.path, job.metadata.name),
        )
        for error in runtime.diagnostics
        if error.severity == "error"
    ]


def place_of(error: Diagnostic) -> str:
    """`runtimes/torch.yaml:12`."""
    position = error.position
    return f"{error.file}:{position.line}" if position else error.file
