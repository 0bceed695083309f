"""KAI Scheduler: sends pods to it, in a queue. KAI creates the PodGroup itself."""

from __future__ import annotations

from trainform.plugin import GANG_QUEUE, Plan, Plugin, send_to_scheduler, tell_waiting_steps


class Kai(Plugin):
    """Sends the pods to KAI and names their queue. A PodGroup of ours would conflict with KAI's own.

    KAI reads the queue from the JobSet, else from a pod, and groups a JobSet's pods: all of them, or step by step under
    the startup policy InOrder. Source: kai-scheduler/KAI-Scheduler `pkg/podgrouper/podgrouper/plugins`, defaultgrouper
    and jobset.
    """

    name = "kai"

    def applies(self, plan: Plan) -> bool:
        return plan.gang.scheduler == "kai"

    def validate(self, plan: Plan) -> None:
        tell_waiting_steps(plan, in_order_is_fine=True)

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        send_to_scheduler(plan)
        _carry_marks(plan)
        label = plan.gang.queue_label
        if plan.gang.queue:
            plan.label_jobset(label, plan.gang.queue, GANG_QUEUE)
        of_job = (plan.job.metadata.labels or {}).get(label)
        queue = of_job or (plan.metadata.get("labels") or {}).get(label)
        if queue:
            plan.label_pods(label, queue, ("trainjob", ("metadata", "labels", label)) if of_job else GANG_QUEUE)


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
