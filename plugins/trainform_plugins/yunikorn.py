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
    per_stage_remedy,
    pod_requests,
    send_to_scheduler,
    steps_that_wait,
    tell_at_the_gang,
)

APPLICATION = "applicationId"
QUEUE = "queue"
GROUP_NAME = "yunikorn.apache.org/task-group-name"
GROUPS = "yunikorn.apache.org/task-groups"
PARAMETERS = "yunikorn.apache.org/schedulingPolicyParameters"

PLACEMENT = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")
"""What a placeholder copies from its pod, in addition to resources."""

PLACEHOLDER_SECONDS = 15 * 60
"""How long YuniKorn holds places for pods, by default."""

LABEL_LENGTH = 63


class YuniKorn(Plugin):
    """Sends the pods to YuniKorn, whose placeholders first reserve room for all of them. Every pod carries all task
    groups of its application, because YuniKorn may see any pod first. The job is one application, or each stage is.
    Source: YuniKorn's user guide, `gang_scheduling` and `labels_and_annotations_in_yunikorn`."""

    name = "yunikorn"

    def applies(self, plan: Plan) -> bool:
        return plan.gang.scheduler == "yunikorn"

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        send_to_scheduler(plan)
        for gang in plan.gangs:
            plan.label_pods(APPLICATION, _application(plan, gang.name), steps=gang.steps)
        if plan.gang.queue:
            plan.label_pods(QUEUE, plan.gang.queue, GANG_QUEUE)
        if parameters := _parameters(plan):
            plan.annotate_pods(PARAMETERS, parameters)

    def pre_build_sync(self, plan: Plan) -> None:
        for gang in plan.gangs:
            groups = _task_groups(plan, [(pods.name, pods.count * pods.replicas, pods.pod_spec) for pods in gang.steps])
            plan.annotate_pods(GROUPS, groups, steps=gang.steps)
            for pods in gang.steps:
                pods.annotate(GROUP_NAME, pods.name)

    def check(self, plan: Plan) -> None:
        _style_is_told(plan)
        _places_are_held(plan)
        _still_fits(plan)


def _parameters(plan: Plan) -> str:
    choice = plan.environment.spec.scheduling.gang  # set, because it chose this gang
    given = {
        "placeholderTimeoutInSeconds": choice and choice.schedule_timeout_seconds,
        "gangSchedulingStyle": choice and choice.style,
    }
    return " ".join(f"{key}={value}" for key, value in given.items() if value is not None)


def _style_is_told(plan: Plan) -> None:
    """By default, a gang is one only as long as YuniKorn holds places."""
    choice = plan.environment.spec.scheduling.gang
    if choice and choice.style is None:
        seconds = choice.schedule_timeout_seconds or PLACEHOLDER_SECONDS
        tell_at_the_gang(
            plan,
            "TF375",
            f"YuniKorn's gangs are Soft by default: if not all pods have room after {seconds} s, they start one by one",
            "to let the job fail instead, set scheduling.gang.style: Hard; to keep the default, write style: Soft",
            "info",
        )


def _places_are_held(plan: Plan) -> None:
    """Places are held for all steps from the start, and given up after a while, whether their pods exist or not."""
    jobset, choice = plan.jobset, plan.environment.spec.scheduling.gang
    if jobset is None or plan.gang.per_stage or (choice and choice.schedule_timeout_seconds):
        return
    if what := steps_that_wait(jobset):
        tell_at_the_gang(
            plan,
            "TF361",
            f"{what}, but YuniKorn holds the places of all steps from the start, and gives them up after "
            f"{PLACEHOLDER_SECONDS} s: later pods may then start one by one",
            f"{per_stage_remedy(plan.gang.scheduler)}, or set scheduleTimeoutSeconds to more than the first steps take",
        )


def _application(plan: Plan, gang: str) -> str:
    """YuniKorn identifies applications by this alone, so jobs of one name in two namespaces must differ."""
    name = f"{plan.namespace}-{gang}"
    if len(name) <= LABEL_LENGTH:
        return name
    digest = sha256(f"{plan.namespace}/{gang}".encode()).hexdigest()[:8]
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
    gangs = [{pods.name for pods in gang.steps} for gang in plan.gangs]
    for job in jobset.jobs:
        own = next((names for names in gangs if job.name in names), {job.name})
        groups = _task_groups(plan, [(each.name, each.pods, each.pod_spec) for each in jobset.jobs if each.name in own])
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
