"""KAI Scheduler: sends pods to it, in a queue, by topology. KAI creates the PodGroup itself."""

from __future__ import annotations

from trainform.plugin import (
    GANG_QUEUE,
    SCHEDULER_NAMES,
    JobSetView,
    Plan,
    Plugin,
    first_that_waits,
    per_stage_remedy,
    send_to_scheduler,
    starts_in_order,
    tables,
    tell_waiting_steps,
)
from trainform_plugins.kai.queues import queue_exists
from trainform_plugins.kai.topology import place_by_topology, topology_exists

NAME = "kai"
LEAST_SUBGROUPS = "kai.scheduler/batch-min-member"
"""The JobSet's annotation with how many of its replicated jobs KAI must be able to place at once, from KAI 0.15 on."""

REMEDY = f"{per_stage_remedy(NAME)} (KAI 0.15 or later)"
READY_REMEDY = f"{REMEDY}, or replace dependsOn with startupPolicy: {{startupPolicyOrder: InOrder}} in the runtime"
"""For steps that wait until others are ready: InOrder means the same."""


class Kai(Plugin):
    """Sends the pods to KAI and names their queue and topology. A PodGroup of ours would conflict with KAI's own.

    KAI reads queue and topology from the JobSet, the queue else from a pod, and groups a JobSet's pods: all of them, or
    step by step under the startup policy InOrder. Source: kai-scheduler/KAI-Scheduler
    `pkg/podgrouper/podgrouper/plugins`, defaultgrouper and jobset, and `docs/batch`.
    """

    name = NAME

    def applies(self, plan: Plan) -> bool:
        own = SCHEDULER_NAMES[NAME]
        return plan.gang.scheduler == NAME or any(pods.pod_spec.get("schedulerName") == own for pods in plan.pod_sets)

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        if plan.gang.scheduler != NAME:
            return
        send_to_scheduler(plan)
        if plan.gang.per_stage:
            plan.annotate_jobset(LEAST_SUBGROUPS, "1")
        place_by_topology(plan)
        _carry_marks(plan)
        label = plan.gang.queue_label
        if plan.gang.queue:
            plan.label_jobset(label, plan.gang.queue, GANG_QUEUE)
        of_job = (plan.job.metadata.labels or {}).get(label)
        queue = of_job or (plan.metadata.get("labels") or {}).get(label)
        if queue:
            plan.label_pods(label, queue, ("trainjob", ("metadata", "labels", label)) if of_job else GANG_QUEUE)

    def check(self, plan: Plan) -> None:
        jobset = plan.jobset
        if jobset is None:
            return
        if plan.gang.scheduler == NAME:
            _steps_can_start(plan, jobset)
        queue_exists(plan, jobset)
        topology_exists(plan, jobset)


def _steps_can_start(plan: Plan, jobset: JobSetView) -> None:
    """KAI makes a gang of each step under InOrder, and where the JobSet says how many steps must be placed at once."""
    if starts_in_order(jobset.spec) or LEAST_SUBGROUPS in jobset.annotations:
        return
    waiting = first_that_waits(job.tree for job in jobset.jobs)
    awaited = tables(waiting, "dependsOn") if waiting else []
    tell_waiting_steps(plan, READY_REMEDY if all(each.get("status") == "Ready" for each in awaited) else REMEDY)


def _carry_marks(plan: Plan) -> None:
    """D12: KAI reads topology, preemptibility and priority class from the owner of the pods, too, which is the TrainJob
    with the controller, and the JobSet here."""
    metadata, carried = plan.job.metadata, []
    for kind, marks, put in (
        ("labels", metadata.labels or {}, plan.label_jobset),
        ("annotations", metadata.annotations or {}, plan.annotate_jobset),
    ):
        for key, value in marks.items():
            if is_kais(key) and key != plan.gang.queue_label:
                put(key, value, ("trainjob", ("metadata", kind, key)))
                carried.append(key)
    if carried:
        names = ", ".join(carried)
        plan.deviates_each(
            "D12", f"the controller would leave {names} on the TrainJob instead of the JobSet", path=("metadata",)
        )


def is_kais(key: str) -> bool:
    """Whether KAI reads a label or annotation of this name."""
    return key.startswith("kai.scheduler/") or key == "priorityClassName"
