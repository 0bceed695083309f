"""Rules for a TrainJob beyond its shape, one function each. Docstrings name the source: CEL rules beside the types
(pkg/apis/trainer/v1alpha1/trainjob_types.go), the CRD, or the validating webhook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from trainform.api.problems import Problem, server_written
from trainform.api.runtime import Runtime
from trainform.api.trainjob import CONTROLLER, MULTIKUEUE, RuntimePatch, StepInitializer, TrainJob
from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s import names
from trainform.k8s.names import dns1035_label, dns1123_label, quoted
from trainform.k8s.rules.metadata import check_metadata
from trainform.k8s.rules.parts import Found
from trainform.k8s.tree import Tree, value_at

if TYPE_CHECKING:
    from trainform.api.environment import Environment

_URI = r"[A-Za-z][A-Za-z0-9+.-]*://.+"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

RUNTIME_KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")
RESERVED_CONTAINERS = ("dataset-initializer", "model-initializer", "node")
"""Containers whose variables come from `trainer.env` and `initializer`, never from a patch."""


def job_name(job: TrainJob) -> Iterator[Problem]:
    """CEL on TrainJob: the name is an RFC 1035 label, at most 63 characters."""
    name = job.metadata.name
    if reason := dns1035_label(name):
        yield Problem(("metadata", "name"), "TF301", quoted(name, reason), better(name) + _room(name), leave_out=())


def namespace(document: TrainJob | Runtime) -> Iterator[Problem]:
    """API server: a namespace is an RFC 1123 label, at most 63 characters."""
    name = document.metadata.namespace
    if name is not None and (reason := dns1123_label(name)):
        hint = better(name) if name else "remove it, or write a name"
        yield Problem(("metadata", "namespace"), "TF301", quoted(name, reason), hint, leave_out=())


def labels_and_annotations(document: TrainJob | Runtime) -> Iterator[Problem]:
    """API server: keys and values of the object's labels, keys of its annotations."""
    metadata = document.metadata
    if metadata.labels or metadata.annotations:
        found = Found()
        tree = {"labels": metadata.labels or {}, "annotations": metadata.annotations or {}}
        check_metadata(tree, ("metadata",), found)
        yield from (Problem(*problem, leave_out=()) for problem in found)


def runtime_ref(job: TrainJob) -> Iterator[Problem]:
    """Webhook, "unsupported runtime": one of two kinds in one group. CRD: `name` is not empty."""
    ref, path = job.spec.runtime_ref, ("spec", "runtimeRef")
    if not ref.name:
        hint = "write name: torch-distributed; `trainform runtimes` lists the names"
        yield Problem((*path, "name"), "TF104", "must not be empty", hint, leave_out=())
    if ref.api_group != "trainer.kubeflow.org":
        message = f'apiGroup "{ref.api_group}" has no runtimes'
        yield Problem((*path, "apiGroup"), "TF302", message, "write trainer.kubeflow.org, or remove it")
    if ref.kind not in RUNTIME_KINDS:
        hint = did_you_mean(ref.kind, RUNTIME_KINDS) or f"write {' or '.join(RUNTIME_KINDS)}"
        yield Problem((*path, "kind"), "TF302", f'"{ref.kind}" is not a runtime kind', hint, leave_out=())


def num_nodes(job: TrainJob) -> Iterator[Problem]:
    """CRD: at least 0; 0 is accepted there but an error here."""
    path = ("spec", "trainer", "numNodes")
    if job.spec.trainer and job.spec.trainer.num_nodes is not None:
        yield from node_count(job.spec.trainer.num_nodes, path, "would run a job without pods")


def node_count(value: int, path: Path, controller: str) -> Iterator[Problem]:
    """`value` is a valid number of nodes; `controller` says what the controller does with 0."""
    hint = "remove it to use the default"
    if value == 0:
        yield Problem(path, "TFD02", f"must be at least 1, not 0: the controller {controller}", hint)
    else:
        yield from positive(value, path, hint)


def num_proc_per_node(job: TrainJob) -> Iterator[Problem]:
    """CEL on Trainer: at least 1."""
    if trainer := job.spec.trainer:
        path = ("spec", "trainer", "numProcPerNode")
        yield from positive(trainer.num_proc_per_node, path, "remove it to use the number of GPUs")


def active_deadline(job: TrainJob) -> Iterator[Problem]:
    """CRD: at least 1 second."""
    yield from positive(
        job.spec.active_deadline_seconds, ("spec", "activeDeadlineSeconds"), "for no deadline, remove it"
    )


def positive(value: int | None, path: Path, hint: str = "") -> Iterator[Problem]:
    """A number at `path`, if present, is at least 1."""
    if value is not None and value < 1:
        yield Problem(path, "TF104", f"must be at least 1, not {value}", hint)


def managed_by(job: TrainJob) -> Iterator[Problem]:
    """CEL on `managedBy`: one of two controllers."""
    if job.spec.managed_by not in (CONTROLLER, MULTIKUEUE):
        message = f'"{job.spec.managed_by}" does not manage TrainJobs'
        hint = f"write {CONTROLLER} or {MULTIKUEUE}, or remove it"
        yield Problem(("spec", "managedBy"), "TF104", message, hint)


def storage_uris(job: TrainJob) -> Iterator[Problem]:
    """CEL on `storageUri`: empty, or `scheme://…`."""
    for path, step in _initializers(job):
        if step.storage_uri and not re.fullmatch(_URI, step.storage_uri):
            message = f'"{step.storage_uri}" is not a URI of the form scheme://…'
            yield Problem((*path, "storageUri"), "TF104", message, _as_uri(step.storage_uri))


def variables_once(job: TrainJob) -> Iterator[Problem]:
    """CRD: variable names are unique in a list."""
    trainer = job.spec.trainer
    if trainer and trainer.env:
        yield from repeated(("spec", "trainer", "env"), [entry["name"] for entry in trainer.env], "name")
    for path, step in _initializers(job):
        yield from repeated((*path, "env"), [entry["name"] for entry in step.env or ()], "name")


def patches(job: TrainJob | Environment) -> Iterator[Problem]:
    """All rules for `runtimePatches`, which few jobs have."""
    if job.spec.runtime_patches:
        for rule in (managers_once, patch_managers, patch_times, patched_variables):
            yield from rule(job)


def managers_once(job: TrainJob | Environment) -> Iterator[Problem]:
    """CRD: managers are unique in `runtimePatches`."""
    yield from repeated(("spec", "runtimePatches"), [patch.manager for patch in _patches(job)], "manager")


def repeated(path: Path, keys: Sequence[str], word: str) -> Iterator[Problem]:
    """A problem for each entry of the list at `path` that repeats an earlier key."""
    if len(set(keys)) == len(keys):
        return
    from trainform.k8s.schema.keywords import duplicates
    from trainform.k8s.schema.messages import duplicate

    for index, before, key in duplicates((), list(keys)):
        yield Problem(*duplicate((*path, index), (word,), key, before))


def patch_managers(job: TrainJob | Environment) -> Iterator[Problem]:
    """Webhook (JobSet plugin): a manager is a domain-prefixed path, such as `acme.io/foo`."""
    for index, patch in enumerate(_patches(job)):
        domain, slash, rest = patch.manager.partition("/")
        if not (slash and not names.dns1123_subdomain(domain) and re.fullmatch(_HTTP_PATH, rest)):
            message = f'"{patch.manager}" must be a path prefixed with a domain, such as acme.io/foo'
            path = ("spec", "runtimePatches", index, "manager")
            yield Problem(path, "TF303", message, f"write example.com/{rest or domain or 'me'}", leave_out=())


def patch_times(job: TrainJob | Environment) -> Iterator[Problem]:
    """Defaulting webhook: it sets `time` itself."""
    for index, patch in enumerate(_patches(job)):
        if patch.time is not None:
            yield server_written(("spec", "runtimePatches", index, "time"))


def patched_variables(job: TrainJob | Environment) -> Iterator[Problem]:
    """Webhook (JobSet plugin): no variables for containers that the job's own fields set. Reported at
    `spec.runtimePatches` as upstream does; the message names the patch."""
    for patch in _patches(job):
        for replicated_job, container in _patched_containers(patch):
            if container.get("env") and container.get("name") in RESERVED_CONTAINERS:
                name = container["name"]
                message = f"must not set env of container {name}, but {patch.manager} does in {replicated_job}"
                yield Problem(("spec", "runtimePatches"), "TF304", message, _own_field(name), leave_out=())


def _own_field(container: str) -> str:
    step = container.removesuffix("-initializer")
    return f"write spec.{'trainer' if container == 'node' else f'initializer.{step}'}.env"


def _patched_containers(patch: RuntimePatch) -> Iterator[tuple[str, Tree]]:
    for job in value_at(patch.training_runtime_spec, ("template", "spec", "replicatedJobs")) or ():
        for container in value_at(job, ("template", "spec", "template", "spec", "containers")) or ():
            yield job["name"], container


def _initializers(job: TrainJob) -> Iterator[tuple[Path, StepInitializer]]:
    initializer = job.spec.initializer
    for name in ("dataset", "model") if initializer else ():
        if step := getattr(initializer, name):
            yield ("spec", "initializer", name), step


def _patches(job: TrainJob | Environment) -> list[RuntimePatch]:
    return job.spec.runtime_patches or []


def better(name: str) -> str:
    """A hint for a name that Kubernetes rejects."""
    if len(name) > names.LABEL_LENGTH:
        return "choose a shorter name"
    from trainform.api.hints import better_name  # only for bad names

    return f"write {better_name(name)}" if name else "write a name, such as llm"


def _room(name: str) -> str:
    """Mentions JobSet's limit too, since the shortened name may hit it next."""
    too_long = len(name) > names.LABEL_LENGTH
    return f"; pod names append to it and are also limited to {names.LABEL_LENGTH}" if too_long else ""


def _as_uri(value: str) -> str:
    return f"write hf://{value}" if re.fullmatch(r"[\w.-]+/[\w./-]+", value) else "for example s3://bucket/path"


RULES: tuple[Callable[[TrainJob], Iterator[Problem]], ...] = (
    job_name,
    namespace,
    labels_and_annotations,
    runtime_ref,
    storage_uris,
    num_nodes,
    num_proc_per_node,
    variables_once,
    patches,
    active_deadline,
    managed_by,
)
