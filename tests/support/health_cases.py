"""Objects as a cluster shows them in each phase of their life, with the health that both engines should tell.

Statuses are shaped as their controllers write them: JobSet 0.12, scheduler-plugins 0.35, Volcano 1.13, Kueue 0.17.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    """An object and what is told of it: Argo CD's status and a part of its message, and Flux's status."""

    id: str
    kind: str
    object: dict[str, Any]
    argocd: str
    told: str
    flux: str


KINDS = {
    "jobset.x-k8s.io_JobSet": "jobset.x-k8s.io/v1alpha2",
    "scheduling.x-k8s.io_PodGroup": "scheduling.x-k8s.io/v1alpha1",
    "scheduling.volcano.sh_PodGroup": "scheduling.volcano.sh/v1beta1",
    "kueue.x-k8s.io_Workload": "kueue.x-k8s.io/v1beta1",
}
JOBSET, COSCHEDULING, VOLCANO, WORKLOAD = KINDS

QUEUED = {"kueue.x-k8s.io/queue-name": "team-a"}


def case(
    id: str,
    kind: str,
    argocd: str,
    told: str,
    flux: str,
    status: dict[str, Any] | None = None,
    spec: dict[str, Any] | None = None,
    labels: dict[str, str] | None = None,
) -> Case:
    metadata = {"name": "llm", "namespace": "ml", "generation": 1} | ({"labels": labels} if labels else {})
    tree = {"apiVersion": KINDS[kind], "kind": kind.partition("_")[2], "metadata": metadata, "spec": spec or {}}
    return Case(f"{kind.partition('.')[0]}-{id}", kind, tree | _present(status), argocd, told, flux)


def _present(status: dict[str, Any] | None) -> dict[str, Any]:
    return {} if status is None else {"status": status}


def condition(kind: str, status: str, reason: str, message: str = "") -> dict[str, str]:
    time = "2026-08-21T08:00:00Z"
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": time}


def conditions(*found: dict[str, str]) -> dict[str, Any]:
    return {"conditions": list(found)}


RUNNING = {"name": "node", "active": 1, "failed": 0, "ready": 1, "succeeded": 0, "suspended": 0}
SUSPENDED = condition("Suspended", "True", "SuspendedJobs", "jobset is suspended")
RESUMED = condition("Suspended", "False", "ResumeJobs", "jobset is resumed")
COMPLETED = condition("Completed", "True", "AllJobsCompleted", "jobset completed successfully")
FAILED = condition("Failed", "True", "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")
STARTED = condition("StartupPolicyCompleted", "True", "StartupPolicyCompleted", "all replicated jobs have started")

JOBSETS = [
    case("new", JOBSET, "Progressing", "not yet seen", "Unknown"),
    case("empty-status", JOBSET, "Progressing", "starting", "InProgress", {}),
    case("no-restarts-yet", JOBSET, "Progressing", "starting", "InProgress", {"restarts": 0}),
    case("starting", JOBSET, "Progressing", "node: 1 active", "Current", {"replicatedJobsStatus": [RUNNING]}),
    case("restarted", JOBSET, "Progressing", "restarts: 2; node", "Current",
         {"restarts": 2, "replicatedJobsStatus": [RUNNING]}),
    case("started-in-order", JOBSET, "Progressing", "starting", "Current", conditions(STARTED)),
    case("new-in-a-queue", JOBSET, "Suspended", "queue team-a", "Current", None, {"suspend": True}, QUEUED),
    case("in-a-queue", JOBSET, "Suspended", "queue team-a", "Current",
         conditions(SUSPENDED), {"suspend": True}, QUEUED),
    case("suspended-by-hand", JOBSET, "Suspended", "spec.suspend", "Current", conditions(SUSPENDED), {"suspend": True}),
    case("just-resumed", JOBSET, "Progressing", "starting", "Current", conditions(SUSPENDED), {"suspend": False}),
    case("resumed", JOBSET, "Progressing", "node: 1 active", "Current",
         conditions(RESUMED) | {"replicatedJobsStatus": [RUNNING]}, {"suspend": False}, QUEUED),
    case("completed", JOBSET, "Healthy", "completed successfully", "Current",
         conditions(RESUMED, COMPLETED) | {"terminalState": "Completed"}),
    case("failed", JOBSET, "Degraded", "max number of restarts", "Failed",
         conditions(STARTED, FAILED) | {"terminalState": "Failed", "restarts": 3}),
    case("failed-is-not-true", JOBSET, "Progressing", "starting", "Current",
         conditions(condition("Failed", "False", "None"))),
    case("ended-without-condition", JOBSET, "Degraded", "failed", "InProgress", {"terminalState": "Failed"}),
    case("fields-of-the-future", JOBSET, "Progressing", "starting", "Current",
         conditions(condition("Elastic", "True", "Resized")) | {"previousInPlaceRestartAttempt": 1}),
]  # fmt: skip


def gangs(kind: str, phases: dict[str, tuple[str, str, str]]) -> list[Case]:
    return [
        case("new", kind, "Healthy", "not yet seen", "Current", None, {"minMember": 4}),
        case("empty-status", kind, "Healthy", "not yet seen", "Current", {}, {"minMember": 4}),
        case("fields-of-the-future", kind, "Healthy", "Dreaming", "Current", {"phase": "Dreaming", "depth": 2}),
        *(
            case(phase, kind, argocd, told, flux, {"phase": phase, "running": 3}, {"minMember": 4})
            for phase, (argocd, told, flux) in phases.items()
        ),
    ]


COSCHEDULING_GANGS = gangs(
    COSCHEDULING,
    {
        "Pending": ("Healthy", "Pending: 3 of 4", "Current"),
        "PreScheduling": ("Healthy", "PreScheduling", "Current"),
        "Scheduling": ("Healthy", "Scheduling", "Current"),
        "Scheduled": ("Healthy", "Scheduled", "Current"),
        "Running": ("Healthy", "Running: 3 of 4", "Current"),
        "Finished": ("Healthy", "Finished", "Current"),
        "Failed": ("Healthy", "pods of the gang failed", "Current"),
        "Unknown": ("Healthy", "lost track", "Current"),
    },
)

NO_PLACE = condition("Unschedulable", "True", "NotEnoughResources", "4/4 tasks in gang unschedulable")
VOLCANO_GANGS = [
    *gangs(
        VOLCANO,
        {
            "Pending": ("Healthy", "Pending: 3 of 4", "Current"),
            "Inqueue": ("Healthy", "Inqueue", "Current"),
            "Running": ("Healthy", "Running: 3 of 4", "Current"),
            "Completed": ("Healthy", "Completed", "Current"),
            "Failed": ("Healthy", "pods of the gang failed", "Current"),
            "Unknown": ("Healthy", "others find no place; Unknown: 3 of 4", "Current"),
        },
    ),
    case("no-place", VOLCANO, "Healthy", "Inqueue: 4/4 tasks", "Current", conditions(NO_PLACE) | {"phase": "Inqueue"}),
    case("no-place-any-more", VOLCANO, "Healthy", "Running: 4 of 4", "Current",
         conditions(NO_PLACE) | {"phase": "Running", "running": 4}, {"minMember": 4}),
]  # fmt: skip

RESERVED = condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue gpu")
ADMITTED = condition("Admitted", "True", "Admitted", "The workload is admitted")
WAITS = condition("QuotaReserved", "False", "Pending", "couldn't assign flavors to pod set node: insufficient quota")
NO_QUEUE = condition("QuotaReserved", "False", "Inadmissible", "LocalQueue team-b doesn't exist")
PREEMPTED = condition("Evicted", "True", "Preempted", "Preempted to accommodate a workload of higher priority")
LIMIT = condition("Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded", "exceeded the number of re-queues")
BY_HAND = condition("Evicted", "True", "Deactivated", "The workload is deactivated")
SUCCEEDED = condition("Finished", "True", "Succeeded", "jobset completed successfully")
LOST = condition("Finished", "True", "Failed", "jobset failed")
REJECTED = condition("Finished", "True", "AdmissionChecksRejected", "Admission checks [provision] are rejected")
OLD_KUEUE = condition("Finished", "True", "JobFinished", "Job finished successfully")
QUEUE = {"queueName": "team-a", "active": True}

WORKLOADS = [
    case("new", WORKLOAD, "Progressing", "waits for quota in queue team-a", "Unknown", None, QUEUE),
    case("empty-status", WORKLOAD, "Progressing", "waits for quota", "InProgress", {}, QUEUE),
    case("no-queue-named", WORKLOAD, "Progressing", "queue (none)", "InProgress", {}),
    case("waits", WORKLOAD, "Progressing", "insufficient quota", "InProgress", conditions(WAITS), QUEUE),
    case("no-such-queue", WORKLOAD, "Progressing", "doesn't exist", "InProgress", conditions(NO_QUEUE), QUEUE),
    case("checks", WORKLOAD, "Progressing", "waits for admission checks", "InProgress", conditions(RESERVED), QUEUE),
    case("admitted", WORKLOAD, "Healthy", "is admitted", "Current", conditions(RESERVED, ADMITTED), QUEUE),
    case("preempted", WORKLOAD, "Progressing", "higher priority", "InProgress", conditions(WAITS, PREEMPTED), QUEUE),
    case("succeeded", WORKLOAD, "Healthy", "completed", "Current", conditions(RESERVED, ADMITTED, SUCCEEDED), QUEUE),
    case("finished-before-reasons", WORKLOAD, "Healthy", "finished", "Current", conditions(OLD_KUEUE), QUEUE),
    case("failed", WORKLOAD, "Degraded", "jobset failed", "Failed", conditions(RESERVED, ADMITTED, LOST), QUEUE),
    case("rejected", WORKLOAD, "Degraded", "rejected", "Failed", conditions(REJECTED), QUEUE),
    case("set-aside", WORKLOAD, "Suspended", "deactivated", "InProgress", conditions(BY_HAND), {"active": False}),
    case("set-aside-at-once", WORKLOAD, "Suspended", "spec.active", "InProgress", {}, {"active": False}),
    case("given-up", WORKLOAD, "Degraded", "number of re-queues", "InProgress", conditions(LIMIT), {"active": False}),
    case("fields-of-the-future", WORKLOAD, "Healthy", "is admitted", "Current",
         conditions(ADMITTED, condition("Blessed", "True", "Yes")) | {"aura": {"colour": "blue"}}, QUEUE),
]  # fmt: skip

CASES = [*JOBSETS, *COSCHEDULING_GANGS, *VOLCANO_GANGS, *WORKLOADS]
