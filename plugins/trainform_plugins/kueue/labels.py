"""The labels from which Kueue reads a job's queue, priority and time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.plugin import Path, Plan, Source, table

if TYPE_CHECKING:
    from trainform.plugin import KueueScheduling

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
MAX_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"

SETTINGS: Path = ("spec", "scheduling", "kueue")
HAND_OVER: Source = ("environment", (*SETTINGS, "multiKueue"))
FIELDS = {QUEUE: "localQueue", PRIORITY: "priorityClass", MAX_TIME: "maxExecTimeSeconds"}
"""Each label with its field in the Environment."""


def settings_of(plan: Plan) -> KueueScheduling | None:
    """The Environment's Kueue settings; None without any, or without an Environment."""
    given = plan.destination.given
    return given.spec.scheduling.kueue if given else None


def labels_of(plan: Plan) -> dict[str, str]:
    """The labels that the Environment puts on the JobSet."""
    kueue = settings_of(plan)
    if kueue is None:
        return {}
    seconds = kueue.max_exec_time_seconds
    wanted = {
        QUEUE: kueue.local_queue,
        PRIORITY: kueue.priority_class,
        MAX_TIME: None if seconds is None else str(seconds),
    }
    return {key: value for key, value in wanted.items() if value is not None}


def wants_multikueue(plan: Plan) -> bool:
    """Whether the Environment uses MultiKueue; a TrainJob that sets `managedBy` decides itself."""
    kueue = settings_of(plan)
    named = table(plan.job_document.tree, "spec").get("managedBy")
    return kueue is not None and kueue.multi_kueue and named is None


def source_of(plan: Plan, key: str, value: str) -> Source | None:
    """The Environment's field, if that set the JobSet's label `key` to `value`: a label of the TrainJob beats it."""
    is_own = key in (plan.job.metadata.labels or {})
    return environments_label(key) if not is_own and labels_of(plan).get(key) == value else None


def environments_label(key: str) -> Source:
    """The Environment's field for a label."""
    return "environment", (*SETTINGS, FIELDS[key])
