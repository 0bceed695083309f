"""Whether Kueue could ever admit one job, if nothing else ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.kueue_configuration import kueue_configuration
from trainform.k8s.labels import selector_keys, selector_matches
from trainform.k8s.tree import Tree, table, text
from trainform.review.capacity.cohorts import Cohorts, Usage
from trainform.review.capacity.demand import QUEUE_LABEL, JobDemand
from trainform.review.capacity.kueue_facts import METADATA_NAME, ClusterQueue, namespace_labels, nodes, stop_policy_of
from trainform.review.capacity.reasons import never_admitted
from trainform.review.capacity.releases import most_pod_sets
from trainform.review.capacity.scheduler import ClusterState, Workload, admit_alone

if TYPE_CHECKING:
    from trainform.core.cluster.facts import Facts

Verdict = Literal["fits", "waits", "never", "unknown"]


@dataclass(slots=True, eq=False)
class Judged:
    """The verdict on one job by itself. `asked` is its use of each quota: of the flavors it gets, else of the first
    that match. `workload` is what enters the queue, where a strict order lets nothing overtake it; None if nothing
    does."""

    job: JobDemand
    queue: ClusterQueue | None
    verdict: Verdict
    reason: str = ""
    asked: Usage | None = None
    workload: Workload | None = None


def judge(job: JobDemand, queues: Mapping[str, ClusterQueue], cluster: ClusterState, facts: Facts) -> Judged:
    """The verdict on a job alone. Impossibilities come first, then unknowns."""
    if unmanaged := _unmanaged(job, facts):
        return Judged(job, None, *unmanaged)
    local_queue = facts.get("LocalQueue", job.queue, job.namespace)
    queue = queues.get(text(table(local_queue or {}, "spec"), "clusterQueue"))
    if local_queue is None or queue is None:
        return Judged(job, None, "unknown", _no_queue(job, local_queue, queues, facts))
    workload = Workload(job, queue)
    fits = admit_alone(workload, cluster)
    asked = workload.assignment.usage if fits else cluster.assigner(queue).first_usage(job.pod_sets)
    if reason := _kept_out(job, queue, cluster.cohorts, facts):
        return Judged(job, queue, "never", reason, asked)
    if job.refusals:
        workload.is_misconfigured = True
        return Judged(job, queue, "never", f"admission refuses its pods: {'; '.join(job.refusals)}", asked, workload)
    judged = Judged(job, queue, "fits", _not_judged(queue, workload, facts), asked, workload)
    question = _open_question(job, queue, local_queue, facts)
    if not fits and (queue.undeclared() == "" or _fits_nowhere(job, queue, cluster)):
        judged.verdict, judged.reason = "never", never_admitted(workload, cluster.cohorts)
    elif question:
        judged.verdict, judged.reason = question
        judged.workload = None
    return judged


def _fits_nowhere(job: JobDemand, queue: ClusterQueue, cluster: ClusterState) -> bool:
    """Whether a step fits nowhere, even if nothing else does and all that is not declared suits it."""
    alone = (Workload(replace(job, pod_sets=(each,)), queue) for each in job.pod_sets)
    return not all(admit_alone(each, cluster) for each in alone)


def _not_judged(queue: ClusterQueue, workload: Workload, facts: Facts) -> str:
    """What a job that fits also depends on."""
    if checks := queue.admission_checks:
        return f"within the quota; admission checks {', '.join(checks)} of ClusterQueue {queue.name} decide too"
    if workload.assignment.topology and nodes(facts) is None:
        return "within the quota; no Node is declared, so whether its pods have room by topology is not known"
    return ""


def _unmanaged(job: JobDemand, facts: Facts) -> tuple[Verdict, str] | None:
    """What Kueue's declared configuration says of jobs that it does not manage, or manages without a queue."""
    configuration = kueue_configuration(facts)
    managed = configuration.manages(job.namespace, facts)
    if managed is False:
        return "unknown", f"Kueue does not manage namespace {job.namespace}, by its managedJobsNamespaceSelector"
    if managed and configuration.manages_all and not job.queue:
        return "never", "Kueue manages jobs without a queue too (manageJobsWithoutQueueName), and never starts them"
    return None


def _no_queue(job: JobDemand, local_queue: Tree | None, queues: Mapping[str, ClusterQueue], facts: Facts) -> str:
    """The missing fact between the job and its ClusterQueue."""
    if not job.queue:
        return f"has no label {QUEUE_LABEL}, so Kueue leaves it alone unless it manages all jobs"
    if local_queue is None:
        missing = f"LocalQueue {job.queue} is not declared in namespace {job.namespace}"
        return _with_hint(missing, did_you_mean(job.queue, facts.names("LocalQueue", job.namespace)))
    name = text(table(local_queue, "spec"), "clusterQueue")
    return _with_hint(f"ClusterQueue {name} is not declared", did_you_mean(name, queues))


def _with_hint(reason: str, hint: str) -> str:
    return f"{reason}; {hint}" if hint else reason


def _kept_out(job: JobDemand, queue: ClusterQueue, cohorts: Cohorts, facts: Facts) -> str:
    """Why the job does not even enter the queue."""
    if len(job.pod_sets) > (most := most_pod_sets(facts.versions.kueue)[1]):
        return f"has {len(job.pod_sets)} replicated jobs, and Kueue takes at most {most}"
    if way := cohorts.circles.get(queue.name):
        return f"the cohorts of ClusterQueue {queue.name} go round in a circle: {' → '.join(way)}"
    if queue.namespace_selector is None:
        return f"ClusterQueue {queue.name} has no namespaceSelector, which lets no namespace in"
    labels, complete = namespace_labels(job.namespace, facts)
    decided = complete or selector_keys(queue.namespace_selector) <= {METADATA_NAME}
    if decided and not selector_matches(queue.namespace_selector, labels):
        return f"namespace {job.namespace} does not match the namespaceSelector of ClusterQueue {queue.name}"
    return ""


def _open_question(job: JobDemand, queue: ClusterQueue, local_queue: Tree, facts: Facts) -> tuple[Verdict, str] | None:
    """What else admission depends on if the quotas suffice. A stopped queue starts nothing new until someone resumes
    it, so its jobs wait."""
    if undeclared := queue.undeclared():
        return "unknown", f"{undeclared} of ClusterQueue {queue.name} is not declared, and may not match the pods"
    if len(job.pod_sets) > (least := most_pod_sets(facts.versions.kueue)[0]):
        why = f"Kueue takes {least} or more, depending on its version: write spec.cluster.kueue"
        return "unknown", f"has {len(job.pod_sets)} replicated jobs, and {why}"
    declared = namespace_labels(job.namespace, facts)[1]
    if not declared and not selector_keys(queue.namespace_selector or {}) <= {METADATA_NAME}:
        why = f"ClusterQueue {queue.name} selects namespaces by other labels than the name"
        return "unknown", f"Namespace {job.namespace} is not declared, and {why}"
    stopped = [(f"LocalQueue {job.queue}", stop_policy_of(local_queue))]
    stopped += [(f"ClusterQueue {queue.name}", queue.stop_policy)]
    for name, policy in stopped:
        if policy:
            return "waits", f"{name} has stopPolicy {policy}: it starts nothing until that ends"
    return None
