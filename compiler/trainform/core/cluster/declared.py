"""Checks of a finished job against the objects that its Environment declares: classes that do not exist, limits, quotas
and pod security that its pods break."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.core.schedulers import SCHEDULER_NAMES
from trainform.diagnostics import Path
from trainform.k8s.admission import admitted_pod_spec
from trainform.k8s.cluster import classes, limit, pod_security, quota
from trainform.k8s.tree import text, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainform.core.jobset_view import JobSetView, ReplicatedJob
    from trainform.core.plan import Plan
    from trainform.k8s.schema.messages import SchemaProblem
    from trainform.k8s.tree import Tree

PRIORITY = "priorityClassName"
"""The field of a pod or PodGroup, and the label that KAI reads."""


def check_declared(plan: Plan, jobset: JobSetView) -> None:
    """Report what the declared objects refuse of the finished job."""
    for job in jobset.jobs:
        admitted = admitted_pod_spec(job.pod_spec, plan.namespace, plan.facts)
        _report(plan, jobset, job, classes.check(job.pod_spec, plan.facts))
        _report(plan, jobset, job, limit.check(admitted, plan.namespace, plan.facts))
        _report(plan, jobset, job, pod_security.check(job.pod_spec, plan.namespace, plan.facts))
    _within_quota(plan, jobset)
    _gangs_priorities_exist(plan, jobset)


def _gangs_priorities_exist(plan: Plan, jobset: JobSetView) -> None:
    """Those of PodGroups, and of a JobSet for KAI, unless the pods have the same, where it is told."""
    of_pods = {text(job.pod_spec, PRIORITY) for job in jobset.jobs}
    places: list[tuple[Tree, Path]] = [
        (tree, ("spec", PRIORITY)) for tree in plan.objects if tree["kind"] == "PodGroup"
    ]
    if any(text(job.pod_spec, "schedulerName") == SCHEDULER_NAMES["kai"] for job in jobset.jobs):
        places.append((jobset.tree, ("metadata", "labels", PRIORITY)))
    for tree, path in places:
        name = value_at(tree, path)
        if isinstance(name, str) and name not in of_pods and (problem := classes.priority_problem(name, plan.facts)):
            plan.report_object(tree, path, "TF330", problem[0], hint=problem[1])


def _report(plan: Plan, jobset: JobSetView, job: ReplicatedJob, problems: Iterable[SchemaProblem]) -> None:
    for problem in problems:
        path = (*job.pod_path, "spec", *problem.path)
        plan.report_object(jobset.tree, path, problem.code, problem.message, hint=problem.hint)


def _within_quota(plan: Plan, jobset: JobSetView) -> None:
    steps = [
        quota.Pods(job.name, job.pods, admitted_pod_spec(job.pod_spec, plan.namespace, plan.facts))
        for job in jobset.jobs
    ]
    jobs = sum(job.replicas for job in jobset.jobs)
    by_name = {job.name: job for job in jobset.jobs}
    for problem in quota.check(steps, jobs, plan.namespace, plan.facts):
        path = (*by_name[problem.step].pod_path, "spec") if problem.step else ("spec", "replicatedJobs")
        hint = "ask for less, or for a larger quota"
        plan.report_object(jobset.tree, path, "TF566", problem.message, hint=hint)
