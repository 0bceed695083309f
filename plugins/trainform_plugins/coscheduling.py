"""Gang scheduling with the scheduler-plugins project: a PodGroup, and a label on every pod."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.plugin import Plan, Plugin, Tree, gang_demand, send_to_scheduler, tell_waiting_steps

POD_GROUP_LABEL = "scheduling.x-k8s.io/pod-group"


class Coscheduling(Plugin):
    """One PodGroup for all pods of the job, or for each stage. Source: kubeflow/trainer
    `pkg/runtime/framework/plugins/coscheduling`."""

    name = "coscheduling"

    def applies(self, plan: Plan) -> bool:
        return plan.gang.scheduler == "coscheduling"

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        send_to_scheduler(plan)
        for gang in plan.gangs:
            plan.label_pods(POD_GROUP_LABEL, gang.name, steps=gang.steps)

    def build(self, plan: Plan) -> Iterable[Tree]:
        for gang in plan.gangs:
            members, resources = gang_demand(plan, gang.steps)
            spec = {
                "minMember": members,
                **({"minResources": resources} if resources else {}),
                "scheduleTimeoutSeconds": plan.gang.timeout_seconds,
            }
            pod_group = plan.new_object("scheduling.x-k8s.io/v1alpha1", "PodGroup", gang.name, spec=spec)
            plan.record_source(plan.gang.timeout_source, "spec", "scheduleTimeoutSeconds", object=pod_group)
            yield pod_group

    def check(self, plan: Plan) -> None:
        tell_waiting_steps(plan)
