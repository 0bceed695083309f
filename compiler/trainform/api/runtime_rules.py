"""Rules for a runtime beyond its shape, one function each. Docstrings name the source: CEL rules beside the types
(pkg/apis/trainer/v1alpha1/trainingruntime_types.go), the CRD, or the validating webhook
(pkg/webhooks/trainingruntime_webhook.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trainform.api.problems import Problem
from trainform.api.rules import better, labels_and_annotations, namespace, node_count, positive, repeated
from trainform.api.runtime import FRAMEWORKS, EnvInjectionTarget, Runtime
from trainform.diagnostics import Diagnostic, Path, Place
from trainform.k8s.names import dns1123_subdomain, quoted
from trainform.k8s.tree import value_at

STEP_LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"
STEP_CONTAINERS = {
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
    "trainer": "node",
}
"""Main container of each step."""

SUPPORT_LABEL = "trainer.kubeflow.org/support"
WEBHOOK_LABEL = "trainer.kubeflow.org/webhook-validation"

_POLICY: Path = ("spec", "mlPolicy")
_TARGETS: Path = (*_POLICY, "torch", "envInjection", "targets")
_GROUP: Path = ("spec", "podGroupPolicy")
JOBS: Path = ("spec", "template", "spec", "replicatedJobs")


def runtime_name(runtime: Runtime) -> Iterator[Problem]:
    """API server: the name is an RFC 1123 subdomain, at most 253 characters."""
    if reason := dns1123_subdomain(runtime.name):
        yield Problem(("metadata", "name"), "TF301", quoted(runtime.name, reason), better(runtime.name), leave_out=())


def one_policy(runtime: Runtime) -> Iterator[Problem]:
    """CEL on MLPolicy: at most one framework."""
    policy = runtime.spec.ml_policy
    given = [name for name in FRAMEWORKS if getattr(policy, name, None) is not None]
    if len(given) > 1:
        message = f"must set one framework, not {len(given)}: {', '.join(given)}"
        rest = tuple((*_POLICY, name) for name in given[1:])
        yield Problem(_POLICY, "TF401", message, "write a separate runtime for each", leave_out=rest)


def policy_nodes(runtime: Runtime) -> Iterator[Problem]:
    """CRD: `numNodes` is a count; 0 is accepted there but an error here."""
    policy = runtime.spec.ml_policy
    if policy and policy.num_nodes is not None:
        yield from node_count(policy.num_nodes, (*_POLICY, "numNodes"), "would treat it as 1")


def policy_processes(runtime: Runtime) -> Iterator[Problem]:
    """CEL on the MPI and Flux policies: `numProcPerNode` is at least 1."""
    policy = runtime.spec.ml_policy
    for name, framework in (("mpi", policy and policy.mpi), ("flux", policy and policy.flux)):
        if framework:
            yield from positive(framework.num_proc_per_node, (*_POLICY, name, "numProcPerNode"), "for 1, remove it")


def injected_containers(runtime: Runtime) -> Iterator[Problem]:
    """CEL on EnvInjectionTarget: the main container always gets the variables. CRD: entries are unique."""
    targets = _injection_targets(runtime)
    yield from repeated(_TARGETS, [target.job_name for target in targets], "jobName")
    for index, target in enumerate(targets):
        path = (*_TARGETS, index, "containerNames")
        yield from repeated(path, target.container_names, "name")
        if "node" in target.container_names:
            node = (*path, target.container_names.index("node"))
            message = 'must not list the main container "node", which always gets the variables'
            yield Problem(path, "TF402", message, "remove node", leave_out=(node,))


def one_gang(runtime: Runtime) -> Iterator[Problem]:
    """Deviation D06: the controller creates a PodGroup for each scheduler, and the pods wait forever."""
    policy = runtime.spec.pod_group_policy
    if policy and policy.coscheduling and policy.volcano:
        message = "must set one scheduler, not both coscheduling and volcano: the controller creates two PodGroups"
        yield Problem(_GROUP, "TFD06", message, "remove one of them", leave_out=((*_GROUP, "volcano"),))


def steps(runtime: Runtime) -> Iterator[Problem]:
    """Webhook: a step is one Job and has its main container. A runtime label disables the check."""
    if (runtime.metadata.labels or {}).get(WEBHOOK_LABEL) == "disabled":
        return
    for index, job in enumerate(_replicated_jobs(runtime)):
        if (step := step_of(job)) in STEP_CONTAINERS:
            yield from _step((*JOBS, index), job, step)


def _step(path: Path, job: Any, step: str) -> Iterator[Problem]:
    replicas = job.get("replicas")
    if replicas not in (None, 1):
        message = f"must be 1 for the {step} step, not {replicas}"
        yield Problem((*path, "replicas"), "TF403", message, "set the number of pods in mlPolicy.numNodes")
    pod = ("template", "spec", "template", "spec")
    names = [container.get("name") for container in value_at(job, (*pod, "containers")) or ()]
    if STEP_CONTAINERS[step] not in names:
        message = f'must have a container "{STEP_CONTAINERS[step]}", the main container of the {step} step'
        hint = f"rename the main container; found: {', '.join(names)}" if names else "add a container with that name"
        yield Problem((*path, *pod, "containers"), "TF404", message, hint, leave_out=())


def some_job(runtime: Runtime) -> Iterator[Problem]:
    """Ours: the controller would render a JobSet without jobs."""
    if not _replicated_jobs(runtime):
        hint = "write a replicated job called node with its pod template"
        yield Problem(JOBS, "TF405", "must contain at least one replicated job", hint, leave_out=())


def trainer_step(runtime: Runtime) -> Iterator[Problem]:
    """Ours, a warning: without the label, which the API does not require, `spec.trainer` reaches no container."""
    jobs = _replicated_jobs(runtime)
    if jobs and not any(step_of(job) == "trainer" for job in jobs):
        message = "no job is labeled as the trainer step: a TrainJob's image and command reach no container"
        hint = f"add the label {STEP_LABEL}: trainer to template.metadata.labels of the training job"
        yield Problem(JOBS, "TF406", message, hint, severity="warning", leave_out=())


def step_of(replicated_job: Any) -> str:
    """The step label of a replicated job, or empty."""
    return (value_at(replicated_job, ("template", "metadata", "labels")) or {}).get(STEP_LABEL) or ""


def deprecation(runtime: Runtime, job: Place) -> Diagnostic | None:
    """The webhook's warning for a deprecated runtime; `job` is the job's document."""
    if (runtime.metadata.labels or {}).get(SUPPORT_LABEL) != "deprecated":
        return None
    message = f"{runtime.kind} {runtime.name} is deprecated: a later release of Kubeflow Trainer removes it"
    hint = "see the runtime deprecation policy in Kubeflow Trainer's operator guide"
    return Diagnostic("TF407", "warning", message, hint, ("spec", "runtimeRef", "name"), job)


def _injection_targets(runtime: Runtime) -> list[EnvInjectionTarget]:
    torch = runtime.spec.ml_policy and runtime.spec.ml_policy.torch
    return (torch and torch.env_injection and torch.env_injection.targets) or []


def _replicated_jobs(runtime: Runtime) -> list[Any]:
    template = runtime.spec.template
    return value_at(template and template.spec, ("replicatedJobs",)) or []


RULES: tuple[Callable[[Runtime], Iterator[Problem]], ...] = (
    runtime_name,
    namespace,
    labels_and_annotations,
    one_policy,
    policy_nodes,
    policy_processes,
    injected_containers,
    one_gang,
    steps,
)

ALL_RULES = (*RULES, some_job, trainer_step)
"""Includes the rules on missing jobs, valid only if no replicated job was left out for an error of its own."""
