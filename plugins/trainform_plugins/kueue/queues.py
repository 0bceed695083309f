"""Checks of queue, priority and time limit: what Kueue's webhook rejects, and what the cluster facts lack."""

from __future__ import annotations

from trainform.plugin import (
    JobSetView,
    Plan,
    Tree,
    did_you_mean,
    kueue_configuration,
    listed,
    selector_keys,
    selector_matches,
    table,
    tell_undeclared,
    text,
)
from trainform_plugins.kueue.asked import FAMILY
from trainform_plugins.kueue.labels import MAX_TIME, PRIORITY, QUEUE, SETTINGS, settings_of, source_of

DEFAULT_QUEUE = "default"
"""The LocalQueue for jobs without the label, if their namespace has one of this name."""

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label with a namespace's own name, which Kubernetes sets."""


def queue_of(plan: Plan, jobset: JobSetView) -> str:
    """The JobSet's LocalQueue, or the empty string."""
    queue = text(jobset.labels, QUEUE)
    if not queue and plan.facts.get("LocalQueue", DEFAULT_QUEUE, plan.namespace):
        return DEFAULT_QUEUE
    return queue


def cluster_queue_of(plan: Plan, jobset: JobSetView) -> Tree | None:
    """The declared ClusterQueue behind the job's LocalQueue."""
    local = plan.facts.get("LocalQueue", queue_of(plan, jobset), plan.namespace)
    return plan.facts.get("ClusterQueue", text(table(local or {}, "spec"), "clusterQueue"))


def labels_are_sound(plan: Plan, jobset: JobSetView) -> None:
    """Kueue's webhook: the limit is a positive number of seconds."""
    seconds = jobset.labels.get(MAX_TIME)
    if seconds is not None and not (str(seconds).isdecimal() and int(seconds) > 0):
        message = f'{MAX_TIME} must be a positive whole number of seconds, not "{seconds}"'
        _report(plan, jobset, MAX_TIME, "TF359", message, "for example, 86400 is one day")


def has_queue(plan: Plan, jobset: JobSetView) -> None:
    """Kueue settings have no effect on a job that Kueue does not manage."""
    kueue = settings_of(plan)
    if kueue is None or queue_of(plan, jobset):
        return
    asks = any(key in jobset.labels for key in (PRIORITY, MAX_TIME)) or any(
        key in job.annotations for job in jobset.jobs for key in FAMILY
    )
    if asks or kueue.multi_kueue:
        plan.warn(
            "TF358",
            "the job has no queue, so Kueue ignores it unless its namespace has a default queue",
            hint="set spec.scheduling.kueue.localQueue in the Environment",
            source=("environment", SETTINGS),
        )


def default_queue_is_told(plan: Plan, jobset: JobSetView) -> None:
    """Kueue labels the JobSet itself, so neither a reviewer nor a GitOps tool sees its queue."""
    if not text(jobset.labels, QUEUE) and queue_of(plan, jobset):
        plan.report(
            "TF365",
            f"the job has no queue label, so Kueue takes it into LocalQueue {DEFAULT_QUEUE} of its namespace",
            severity="info",
            hint=f"to show the queue in the JobSet, write localQueue: {DEFAULT_QUEUE} in the Environment",
            path=("metadata", "labels"),
        )


def waits_for_ready_pods(plan: Plan, jobset: JobSetView) -> None:
    """Kueue counts a job as ready once the pods of all steps are, and evicts it after a while."""
    timeout = kueue_configuration(plan.facts).pods_ready_timeout
    waiting = next((job for job in jobset.jobs if job.tree.get("dependsOn")), None)
    if timeout and waiting and queue_of(plan, jobset):
        plan.report_object(
            jobset.tree,
            (*waiting.path, "dependsOn"),
            "TF366",
            f"Kueue evicts a job whose pods are not all ready within {timeout}, and {waiting.name!r} only starts "
            "after other steps: they must be done by then",
            severity="warning",
            hint="raise waitForPodsReady.timeout in Kueue's configuration, or use a runtime whose steps start together",
        )


def queue_admits(plan: Plan, jobset: JobSetView) -> None:
    """The LocalQueue is in the job's namespace, and its ClusterQueue admits that namespace."""
    queue = text(jobset.labels, QUEUE)
    if not queue:
        return
    if "LocalQueue" not in plan.facts.index:
        fact = f"LocalQueue {queue} in namespace {plan.namespace}"
        _tell_undeclared(plan, jobset, QUEUE, fact, "without its queue, the job would stay suspended")
    elif plan.facts.get("LocalQueue", queue, plan.namespace) is None:
        message = f"namespace {plan.namespace} has no LocalQueue {queue!r}: the job would stay suspended"
        _report(plan, jobset, QUEUE, "TF350", message, _other_queue(plan, queue))
    else:
        _namespace_is_admitted(plan, jobset)


def _other_queue(plan: Plan, queue: str) -> str:
    here = plan.facts.names("LocalQueue", plan.namespace)
    if near := did_you_mean(queue, here):
        return near
    if elsewhere := plan.facts.index.namespaces("LocalQueue", queue):
        return f"it exists in namespace {listed(elsewhere)}, but a job needs a queue in its own namespace"
    return f"declared queues: {listed(here)}" if here else "declare a LocalQueue in this namespace"


def _namespace_is_admitted(plan: Plan, jobset: JobSetView) -> None:
    cluster_queue = cluster_queue_of(plan, jobset)
    if cluster_queue is None:
        return
    name = text(table(cluster_queue, "metadata"), "name")
    selector = table(cluster_queue, "spec").get("namespaceSelector")
    if not isinstance(selector, dict):
        message = f"ClusterQueue {name} has no namespaceSelector, so it admits no namespace"
        _report(plan, jobset, QUEUE, "TF351", message, "to admit all namespaces, set its namespaceSelector to {}")
        return
    declared = plan.facts.get("Namespace", plan.namespace)
    labels = {NAMESPACE_NAME: plan.namespace, **table(table(declared or {}, "metadata"), "labels")}
    if selector_matches(selector, labels):
        return
    if declared is None and selector_keys(selector) - {NAMESPACE_NAME}:
        fact, what = f"Namespace {plan.namespace}", f"cannot tell whether ClusterQueue {name} admits it"
        tell_undeclared(plan, fact, what)
        return
    message = f"the queue's ClusterQueue {name} does not admit namespace {plan.namespace}"
    _report(plan, jobset, QUEUE, "TF351", message, "its namespaceSelector does not match the labels of the namespace")


def priority_is_declared(plan: Plan, jobset: JobSetView) -> None:
    """With a WorkloadPriorityClass that does not exist, the job is never queued."""
    name = text(jobset.labels, PRIORITY)
    declared = plan.facts.names("WorkloadPriorityClass") if name else []
    if not name or name in declared:
        return
    if not declared:
        consequence = "without its class, the job would never be queued"
        _tell_undeclared(plan, jobset, PRIORITY, f"WorkloadPriorityClass {name}", consequence)
        return
    hint = did_you_mean(name, declared) or f"declared: {listed(declared)}"
    _report(plan, jobset, PRIORITY, "TF352", f"there is no WorkloadPriorityClass {name!r}", hint)


def _tell_undeclared(plan: Plan, jobset: JobSetView, key: str, fact: str, consequence: str) -> None:
    source = source_of(plan, key, str(jobset.labels[key]))
    tell_undeclared(plan, fact, consequence, (jobset.tree, ("metadata", "labels", key)), source)


def _report(plan: Plan, jobset: JobSetView, key: str, code: str, message: str, hint: str) -> None:
    source = source_of(plan, key, str(jobset.labels[key]))
    plan.report_object(jobset.tree, ("metadata", "labels", key), code, message, hint=hint, source=source)
