"""Apache YuniKorn: one application per job, with a task group per step."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256

from trainform.plugin import (
    GANG_QUEUE,
    Plan,
    Plugin,
    Tree,
    admitted_pod_spec,
    format_requests,
    pod_requests,
    send_to_scheduler,
)

APPLICATION = "applicationId"
QUEUE = "queue"
GROUP_NAME = "yunikorn.apache.org/task-group-name"
GROUPS = "yunikorn.apache.org/task-groups"
PARAMETERS = "yunikorn.apache.org/schedulingPolicyParameters"

PLACEMENT = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")
"""What a placeholder copies from its pod, in addition to resources."""

LABEL_LENGTH = 63


class YuniKorn(Plugin):
    """Sends the pods to YuniKorn, whose placeholders first reserve room for all of them. Every pod carries all task
    groups, because YuniKorn may see any pod first. Source: YuniKorn's user guide, `gang_scheduling` and
    `labels_and_annotations_in_yunikorn`."""

    name = "yunikorn"

    def applies(self, plan: Plan) -> bool:
        return plan.gang.scheduler == "yunikorn"

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        send_to_scheduler(plan)
        plan.label_pods(APPLICATION, _application(plan))
        if plan.gang.queue:
            plan.label_pods(QUEUE, plan.gang.queue, GANG_QUEUE)
        choice = plan.environment.spec.scheduling.gang  # set, because it chose this gang
        timeout = choice.schedule_timeout_seconds if choice else None
        if timeout is not None:
            plan.annotate_pods(PARAMETERS, f"placeholderTimeoutInSeconds={timeout}")

    def pre_build_sync(self, plan: Plan) -> None:
        steps = [(pods.name, pods.count * pods.replicas, pods.pod_spec) for pods in plan.pod_sets]
        plan.annotate_pods(GROUPS, _task_groups(plan, steps))
        for pods in plan.pod_sets:
            pods.annotate(GROUP_NAME, pods.name)

    def check(self, plan: Plan) -> None:
        _still_fits(plan)


def _application(plan: Plan) -> str:
    """YuniKorn identifies applications by this alone, so jobs of one name in two namespaces must differ."""
    name = f"{plan.namespace}-{plan.name}"
    if len(name) <= LABEL_LENGTH:
        return name
    digest = sha256(f"{plan.namespace}/{plan.name}".encode()).hexdigest()[:8]
    return f"{name[: LABEL_LENGTH - 9].rstrip('-.')}-{digest}"


def _task_groups(plan: Plan, steps: Iterable[tuple[str, int, Tree]]) -> str:
    """The groups as JSON; `steps` are each step's name, pod count and pod spec."""
    return json.dumps([_task_group(plan, *step) for step in steps])


def _task_group(plan: Plan, name: str, members: int, pod_spec: Tree) -> Tree:
    spec = admitted_pod_spec(pod_spec, plan.namespace, plan.facts)
    requests = format_requests(pod_requests(spec, limits_default_requests=True))
    placement = {field: spec[field] for field in PLACEMENT if spec.get(field)}
    return {"name": name, "minMember": members, "minResource": requests, **placement}


def _still_fits(plan: Plan) -> None:
    """Checked after the Environment's final patches: placeholders for different pods would reserve the wrong room."""
    jobset = plan.jobset
    if jobset is None or plan.failed:
        return
    groups = _task_groups(plan, [(job.name, job.pods, job.pod_spec) for job in jobset.jobs])
    for job in jobset.jobs:
        if job.annotations.get(GROUPS) != groups:
            plan.report_object(
                jobset.tree,
                (*job.pod_path, "metadata", "annotations", GROUPS),
                "TF363",
                f"after the patches, {GROUPS} no longer matches the pods of JobSet/{plan.name}",
                hint=f"also patch the annotation to '{groups}', or change the job instead",
                source=("environment", ("spec", "patches")),
            )
            return
