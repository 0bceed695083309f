"""Checks of a finished job against its cluster: classes that do not exist, limits that its pods break, objects that are
missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.core.schedulers import SCHEDULER_NAMES
from trainform.core.secrets import key_secrets
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.admission import admitted_pod_spec
from trainform.k8s.cluster import classes, limit, pod_security, quota, releases
from trainform.k8s.cluster.references import EVERYWHERE, references
from trainform.k8s.tree import name_of, table, tables, text, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainform.core.jobset_view import JobSetView, ReplicatedJob
    from trainform.core.plan import Plan
    from trainform.diagnostics import Path
    from trainform.k8s.schema.messages import SchemaProblem
    from trainform.k8s.tree import Tree

PRIORITY = "priorityClassName"
"""The field of a pod or PodGroup, and the label that KAI reads."""


def check_cluster(plan: Plan) -> None:
    """Report what the cluster would refuse or drop of the JobSet, or could not start, whenever that was rendered."""
    jobset = plan.jobset
    if jobset is None:
        return
    if plan.destination.given is not None:
        for job in jobset.jobs:
            _references_exist(plan, jobset, job)
        _is_old_enough(plan, jobset)
    if plan.facts.objects:
        _check_facts(plan, jobset)


def _is_old_enough(plan: Plan, jobset: JobSetView) -> None:
    """Whatever is rendered must be known to the versions of the cluster, as far as they are known."""
    versions = plan.facts.versions
    if versions.jobset is None and versions.kubernetes is None:
        return
    found = [(("spec", *path), message) for path, message in releases.of_jobset(jobset.spec, versions)]
    for job in jobset.jobs:
        pod: Path = (*job.pod_path, "spec")
        found += [((*pod, *path), message) for path, message in releases.of_pod(job.pod_spec, versions)]
    for path, message in found:
        plan.report_object(jobset.tree, path, "TF569", message, hint="an older one drops or refuses it")


def _check_facts(plan: Plan, jobset: JobSetView) -> None:
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


def _references_exist(plan: Plan, jobset: JobSetView, job: ReplicatedJob) -> None:
    """What the pods refer to, of kinds whose objects in the job's namespace are listed."""
    listed = plan.environment.spec.cluster
    for kind, name, path in references(job.pod_spec):
        names = listed.names_of(kind, plan.namespace)
        if names is None or name in names or (kind, name) in _made_by_the_job(plan, jobset):
            continue
        plan.report_object(
            jobset.tree,
            (*job.pod_path, "spec", *path),
            "TF568",
            f"namespace {plan.namespace} has no {kind} {name!r}: the pods would not start",
            hint=did_you_mean(name, names) or f"spec.cluster.objects lists {', '.join(names) or 'none'}",
        )


def _made_by_the_job(plan: Plan, jobset: JobSetView) -> set[tuple[str, str]]:
    """Objects that come with the job, or that Kubernetes or JobSet create."""
    templates = [each for policy in tables(jobset.spec, "volumeClaimPolicies") for each in tables(policy, "templates")]
    names = [text(table(each, "metadata"), "name") for each in templates]
    return {
        *EVERYWHERE,
        *((tree["kind"], name_of(tree)) for tree in plan.objects),
        *(("Secret", name) for name in (*key_secrets(plan.stable_name), *(need.name for need in plan.secrets))),
        *(("PersistentVolumeClaim", f"{name}-{plan.name}") for name in names),
    }
