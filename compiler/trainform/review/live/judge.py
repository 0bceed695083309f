"""The state of a job, from git's JobSet, the live one and Kueue's Workload."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.core.jobset_view import STEP_LABEL
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import Tree, metadata_of, name_of, number, table, tables, text, value_at
from trainform.review.capacity.demand import QUEUE_LABEL
from trainform.review.live.drift import drift
from trainform.review.live.model import FailedPod, LiveJob, LiveState

ARGO_ANNOTATION = "argocd.argoproj.io/tracking-id"
ARGO_LABEL = "app.kubernetes.io/instance"
FLUX_LABEL = "kustomize.toolkit.fluxcd.io/name"
"""How engines mark what they applied: with the Application `prod-ml`, or the Kustomization `prod.ml`."""


ORPHANED = "its marks are those of this environment, but it is not in git"


def judged(namespace: str, name: str, git: Tree, live: Tree | None, workload: Tree | None) -> LiveJob:
    """A job that is in git."""
    jobset = name_of(git)
    if live is None:
        return LiveJob(namespace, name, jobset, "not created")
    state, reason = _state(live, workload)
    if metadata_of(live).get("deletionTimestamp"):
        reason = "is being deleted"
    return LiveJob(namespace, name, jobset, state, reason, tuple(drift(git, live)))


def _state(live: Tree, workload: Tree | None) -> tuple[LiveState, str]:
    status = table(live, "status")
    ended = _true(status, "Failed") or _true(status, "Completed")
    if ended:
        state: LiveState = "failed" if text(ended, "type") == "Failed" else "finished"
        return state, text(ended, "message") if state == "failed" else ""
    if table(live, "spec").get("suspend") is True:
        if QUEUE_LABEL in labels_of(live) or workload is not None:
            return "queued", _waiting(workload)
        return "suspended", ""
    return "running", _progress(status)


def _true(status: Tree, kind: str) -> Tree | None:
    return next((each for each in tables(status, "conditions") if _is(each, kind, "True")), None)


def _is(condition: Tree, kind: str, status: str) -> bool:
    return text(condition, "type") == kind and text(condition, "status") == status


def _waiting(workload: Tree | None) -> str:
    """Kueue's own words."""
    if workload is None:
        return "Kueue has not seen it yet"
    if table(workload, "spec").get("active") is False:
        return "deactivated: Kueue does not start it until somebody activates its Workload"
    conditions = tables(table(workload, "status"), "conditions")
    for kind in ("QuotaReserved", "Admitted"):
        for each in conditions:
            if _is(each, kind, "False") and text(each, "message"):
                return text(each, "message")
    checks = [
        text(each, "name")
        for each in tables(table(workload, "status"), "admissionChecks")
        if text(each, "state") != "Ready"
    ]
    return f"waits for the admission check {', '.join(checks)}" if checks else ""


def _progress(status: Tree) -> str:
    rows = tables(status, "replicatedJobsStatus")
    counts = {key: sum(number(each, key) or 0 for each in rows) for key in ("ready", "active", "succeeded", "failed")}
    told = [f"{count} {key}" for key, count in counts.items() if count]
    restarts = number(status, "restarts") or 0
    return ", ".join([f"Jobs: {', '.join(told)}"] * bool(told) + [f"restarted {restarts} times"] * bool(restarts))


def is_orphan(live: Tree, environment: str) -> bool:
    """Whether a JobSet that git does not have was applied for this environment. One that the Trainer controller made,
    or another application, is none."""
    namespace = text(metadata_of(live), "namespace")
    labels, annotations = labels_of(live), table(metadata_of(live), "annotations")
    argo = text(annotations, ARGO_ANNOTATION).partition(":")[0] or text(labels, ARGO_LABEL)
    flux = text(labels, FLUX_LABEL)
    if argo or flux:
        return argo == f"{environment}-{namespace}" or flux == f"{environment}.{namespace}"
    return not metadata_of(live).get("ownerReferences") and _has_steps(live)


def _has_steps(live: Tree) -> bool:
    """Whether it was rendered from a TrainJob: the label of a step is in each."""
    jobs = tables(table(live, "spec"), "replicatedJobs")
    return any(value_at(each, ("template", "metadata", "labels", STEP_LABEL)) for each in jobs)


def workloads_by_jobset(workloads: Iterable[Tree]) -> dict[tuple[str, str], Tree]:
    """Kueue's Workloads by namespace and name of the JobSet that owns each."""
    return {
        (text(metadata_of(each), "namespace"), text(owner, "name")): each
        for each in workloads
        for owner in tables(metadata_of(each), "ownerReferences")
        if text(owner, "kind") == "JobSet"
    }


def first_failed(pods: Iterable[Tree]) -> FailedPod | None:
    """The first container that ended badly, of the pod that failed first, and otherwise what its pod says."""
    ended = sorted(
        ((_when(each, state), each, state) for each in pods for state in _ends(each)), key=lambda each: each[0]
    )
    for _, pod, state in ended:
        terminated = table(table(state, "state"), "terminated") or table(table(state, "lastState"), "terminated")
        return FailedPod(name_of(pod), text(state, "name"), number(terminated, "exitCode"), text(terminated, "reason"))
    return None


def _ends(pod: Tree) -> list[Tree]:
    status = table(pod, "status")
    states = [*tables(status, "initContainerStatuses"), *tables(status, "containerStatuses")]
    return [each for each in states if _exit_code(each)]


def _exit_code(state: Tree) -> int:
    codes = (number(table(table(state, key), "terminated"), "exitCode") for key in ("state", "lastState"))
    return next((code for code in codes if code), 0)


def _when(pod: Tree, state: Tree) -> tuple[str, str, str]:
    times = (text(table(table(state, key), "terminated"), "finishedAt") for key in ("state", "lastState"))
    return next(filter(None, times), "~"), name_of(pod), text(state, "name")
