"""Kueue: a job's queue, priority, execution limit and topology."""

from __future__ import annotations

from trainform.plugin import Plan, Plugin
from trainform_plugins.kueue.asked import annotate, topology_of
from trainform_plugins.kueue.features import needs_newer_kueue
from trainform_plugins.kueue.labels import (
    HAND_OVER,
    MULTIKUEUE,
    environments_label,
    labels_of,
    settings_of,
    wants_multikueue,
)
from trainform_plugins.kueue.multikueue import goes_alone
from trainform_plugins.kueue.queues import (
    default_queue_is_told,
    has_queue,
    labels_are_sound,
    priority_is_declared,
    queue_admits,
    waits_for_ready_pods,
)
from trainform_plugins.kueue.requests import every_step_requests_something
from trainform_plugins.kueue.topology import (
    fits_the_pods,
    groups_are_pairs,
    levels_exist,
    one_of_each,
    shares_the_pods_with_a_gang,
)
from trainform_plugins.kueue.webhook import annotations_are_sound, is_not_elastic

JOBSET_CHECKS = (
    labels_are_sound,
    is_not_elastic,
    queue_admits,
    has_queue,
    default_queue_is_told,
    waits_for_ready_pods,
    priority_is_declared,
    goes_alone,
    needs_newer_kueue,
    every_step_requests_something,
)
TOPOLOGY_CHECKS = (
    annotations_are_sound,
    one_of_each,
    fits_the_pods,
    groups_are_pairs,
    levels_exist,
    shares_the_pods_with_a_gang,
)
"""Checks of the finished JobSet, one function each, whoever wrote the fields. Pods request topology by annotations."""


class Kueue(Plugin):
    """Applies the Environment's Kueue settings to the JobSet and its pod templates, and checks the result. A TrainJob's
    label overrides the Environment's, which overrides the template's. So do topology annotations, where a step's are
    treated as one. Source: kubernetes-sigs/kueue `pkg/controller/jobframework`."""

    name = "kueue"

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        if settings_of(plan) is None:
            return
        for key, value in labels_of(plan).items():
            plan.label_jobset(key, value, environments_label(key))
        if wants_multikueue(plan):
            plan.spec["managedBy"] = MULTIKUEUE
            plan.record_source(HAND_OVER, "spec", "managedBy", value=MULTIKUEUE)
        for pods in plan.pod_sets:
            plan.destination.matched.steps.add(pods.name)
            topology = topology_of(plan, pods.name)
            if topology is not None:
                annotate(plan, pods, topology)

    def check(self, plan: Plan) -> None:
        jobset = plan.jobset
        if jobset is not None:
            for check in JOBSET_CHECKS:
                check(plan, jobset)
            if any(job.annotations for job in jobset.jobs):
                for check in TOPOLOGY_CHECKS:
                    check(plan, jobset)
