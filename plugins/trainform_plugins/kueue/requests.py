"""Steps that request nothing: Kueue gives them no flavor, and cannot place their pods by topology."""

from __future__ import annotations

from typing import NamedTuple

from trainform.plugin import (
    TRAINER_STEP,
    JobSetView,
    Path,
    Plan,
    ReplicatedJob,
    Source,
    admitted_pod_spec,
    kueue_configuration,
    pod_requests,
    table,
    tables,
    text,
    texts,
    value_at,
)
from trainform_plugins.kueue.asked import FAMILY, GROUP
from trainform_plugins.kueue.multikueue import is_handed_on
from trainform_plugins.kueue.queues import cluster_queue_of

PODS = "pods"
"""The resource that every pod counts as one of."""

SMALL = {"cpu": "100m", "memory": "64Mi"}
"""Requests that a step can be given just to be counted, the first of them that its queue covers."""


class _Queue(NamedTuple):
    """A ClusterQueue with flavors for some resources. `by_topology`: all of them are declared and have a topology, so
    it places all pods by topology."""

    name: str
    covered: tuple[str, ...]
    by_topology: bool


def every_step_requests_something(plan: Plan, jobset: JobSetView) -> None:
    """Pods that are placed by topology need a flavor, which they get for a resource that they request.

    Nothing is said of a job with errors: what is wrong may be the request itself. Nor of one for MultiKueue: the facts
    describe the manager cluster, not the worker."""
    if plan.failed or is_handed_on(jobset):
        return
    queue = _queue(plan, jobset)
    if queue is None or PODS in queue.covered:
        return
    for job in jobset.jobs:
        by_topology = queue.by_topology or any(key in job.annotations for key in FAMILY)
        if job.pods and by_topology and GROUP not in job.annotations and _requests_nothing(plan, job, queue):
            _tell(plan, jobset, job, queue)


def _queue(plan: Plan, jobset: JobSetView) -> _Queue | None:
    """The job's queue; None if it is not known, or gives no resource to anybody."""
    tree = cluster_queue_of(plan, jobset) or {}
    groups = tables(table(tree, "spec"), "resourceGroups")
    names = [text(flavor, "name") for group in groups for flavor in tables(group, "flavors")]
    flavors = [plan.facts.get("ResourceFlavor", name) for name in names]
    covered = tuple(name for group in groups for name in texts(group, "coveredResources") if name)
    if not flavors or not covered:
        return None
    topologies = [text(table(flavor or {}, "spec"), "topologyName") for flavor in flavors]
    return _Queue(text(table(tree, "metadata"), "name"), covered, all(topologies))


def _requests_nothing(plan: Plan, job: ReplicatedJob, queue: _Queue) -> bool:
    """Whether the pods ask for no resource that quotas count. One that the queue does not cover is another problem."""
    pod_spec, configuration = (
        admitted_pod_spec(job.pod_spec, plan.namespace, plan.facts),
        kueue_configuration(plan.facts),
    )
    counted = configuration.counted(pod_requests(pod_spec, limits_default_requests=True))
    return not any(
        name in queue.covered or (amount.nano and not configuration.ignores_undeclared)
        for name, amount in counted.items()
    )


def _tell(plan: Plan, jobset: JobSetView, job: ReplicatedJob, queue: _Queue) -> None:
    resource = next((name for name in SMALL if name in queue.covered), queue.covered[0])
    container = job.containers[0]
    source, hint = _remedy(plan, job, text(container, "name"), f"{{{resource}: {SMALL.get(resource, '1')}}}")
    plan.report_object(
        jobset.tree,
        (*job.path_of(container), "resources"),
        "TF374",
        f"pods of {job.name!r} request nothing, so Kueue gives them no flavor and cannot place them: "
        f"ClusterQueue {queue.name} places them by topology",
        hint=hint,
        source=source,
    )


def _remedy(plan: Plan, job: ReplicatedJob, container: str, requests: str) -> tuple[Source | None, str]:
    """Where in the repository the requests can be written, and what to write there."""
    if job.step == TRAINER_STEP:
        return _deepest(plan, ("spec", "trainer")), f"set spec.trainer.resourcesPerNode: {{requests: {requests}}}"
    if not plan.runtime_is_shipped:
        return None, f"add resources: {{requests: {requests}}} to container {container}"
    patch = (
        f"{{spec: {{replicatedJobs: [{{name: {job.name}, template: {{spec: {{template: {{spec: {{containers: "
        f"[{{name: {container}, resources: {{requests: {requests}}}}}]}}}}}}}}}}]}}}}"
    )
    target = f"{{kind: JobSet, name: {plan.stable_name}}}"
    hint = f"add to spec.patches of the Environment: {{target: {target}, patch: {patch}}}"
    return _deepest(plan, ("spec", "initializer", job.name.removesuffix("-initializer"))), hint


def _deepest(plan: Plan, path: Path) -> Source:
    """The field of the TrainJob, if it has it, else its reference to the runtime."""
    return "trainjob", path if value_at(plan.job_document.tree, path) is not None else ("spec", "runtimeRef", "name")
