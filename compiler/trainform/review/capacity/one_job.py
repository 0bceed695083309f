"""Whether Kueue could ever admit one job, if nothing else ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.labels import selector_keys, selector_matches
from trainform.k8s.tree import Tree, table, text
from trainform.review.capacity.assignment import Undecided, Usage, find, preferred
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.demand import QUEUE_LABEL, JobDemand
from trainform.review.capacity.flavors import Choice, choices, uncovered
from trainform.review.capacity.kueue_facts import METADATA_NAME, ClusterQueue, namespace_labels, stop_policy_of
from trainform.review.capacity.reasons import too_much

if TYPE_CHECKING:
    from trainform.core.facts import Facts

Verdict = Literal["fits", "waits", "never", "unknown"]

MOST_POD_SETS = 10
"""Most pod sets of a Kueue Workload; older releases allow 8."""


@dataclass(slots=True, eq=False)
class Judged:
    """The verdict on one job by itself. `asked` is its use of each quota: under the assignment that fits, else with the
    first matching flavors. `heads`: the job occupies its queue, where a strict order lets nothing overtake it."""

    job: JobDemand
    queue: ClusterQueue | None
    verdict: Verdict
    reason: str = ""
    choices: list[Choice] = field(default_factory=list)
    asked: Usage = field(default_factory=dict)
    heads: bool = False


def judge(job: JobDemand, queues: Mapping[str, ClusterQueue], cohorts: Cohorts, facts: Facts) -> Judged:
    """The verdict on a job alone. Impossibilities come first, then unknowns."""
    local_queue = facts.get("LocalQueue", job.queue, job.namespace)
    queue = queues.get(text(table(local_queue or {}, "spec"), "clusterQueue"))
    if local_queue is None or queue is None:
        return Judged(job, None, "unknown", _no_queue(job, local_queue, queues, facts))
    chosen = choices(job.pod_sets, queue)
    if reason := _kept_out(job, queue, cohorts, facts):
        return Judged(job, queue, "never", reason, chosen, preferred(chosen))
    if reason := _refused(job, queue):
        return Judged(job, queue, "never", reason, chosen, preferred(chosen), heads=True)
    weighed = _weigh(job, queue, chosen, cohorts)
    if weighed.verdict == "fits" and (question := _open_question(job, queue, local_queue, facts)):
        verdict, reason = question
        return replace(weighed, verdict=verdict, reason=reason, heads=False)
    return weighed


def _weigh(job: JobDemand, queue: ClusterQueue, chosen: list[Choice], cohorts: Cohorts) -> Judged:
    """The verdict by quota."""
    try:
        asked = find(chosen, lambda key: cohorts.most(queue.name, key))
    except Undecided:
        reason = "there are too many ways to give its pod sets flavors to try them all"
        return Judged(job, queue, "unknown", reason, chosen, preferred(chosen))
    if asked is None:
        reason = too_much(chosen, queue, cohorts)
        return Judged(job, queue, "never", reason, chosen, preferred(chosen), heads=True)
    return Judged(job, queue, "fits", "", chosen, asked, heads=True)


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
    if len(job.pod_sets) > MOST_POD_SETS:
        return f"has {len(job.pod_sets)} replicated jobs, and Kueue takes at most {MOST_POD_SETS}"
    if way := cohorts.circles.get(queue.name):
        return f"the cohorts of ClusterQueue {queue.name} go round in a circle: {' → '.join(way)}"
    if queue.namespace_selector is None:
        return f"ClusterQueue {queue.name} has no namespaceSelector, which lets no namespace in"
    labels, complete = namespace_labels(job.namespace, facts)
    decided = complete or selector_keys(queue.namespace_selector) <= {METADATA_NAME}
    if decided and not selector_matches(queue.namespace_selector, labels):
        return f"namespace {job.namespace} does not match the namespaceSelector of ClusterQueue {queue.name}"
    return ""


def _refused(job: JobDemand, queue: ClusterQueue) -> str:
    """Why the job is refused regardless of quota amounts."""
    if job.refusals:
        return f"admission refuses its pods: {'; '.join(job.refusals)}"
    if resources := uncovered(job.pod_sets, queue):
        names = ", ".join(resources)
        return f"asks {names}, which no resource group of ClusterQueue {queue.name} covers"
    return ""


def _open_question(job: JobDemand, queue: ClusterQueue, local_queue: Tree, facts: Facts) -> tuple[Verdict, str] | None:
    """What else admission depends on if the quotas suffice. A stopped queue starts nothing new until someone resumes
    it, so its jobs wait."""
    if undeclared := queue.undeclared():
        return "unknown", f"{undeclared} of ClusterQueue {queue.name} is not declared, and may not match the pods"
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
