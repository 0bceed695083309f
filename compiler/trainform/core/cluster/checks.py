"""Checks of a finished job against its cluster: classes that do not exist, limits that its pods break, objects that are
missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.core.beside.placing import kind_of, provided
from trainform.core.secrets import key_secrets
from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean, listed
from trainform.k8s.cluster.references import EVERYWHERE, references
from trainform.k8s.tree import name_of, table, tables, text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trainform.core.cluster.contents import Wanted
    from trainform.core.jobset_view import JobSetView
    from trainform.core.plan import Plan


def check_cluster(plan: Plan) -> None:
    """Report what the cluster would refuse or drop of the JobSet, or could not start, whenever that was rendered."""
    jobset = plan.jobset
    if jobset is None:
        return
    wanted = [(job, found) for job in jobset.jobs if (found := [*references(job.pod_spec)])]
    if wanted:
        _references_exist(plan, jobset, wanted)
        if not plan.frozen:
            from trainform.core.cluster.contents import check_contents  # many pods refer to no object

            check_contents(plan, jobset, wanted)
    if plan.destination.given is not None:
        _is_old_enough(plan, jobset)
    if plan.facts.objects:
        from trainform.core.cluster.declared import check_declared  # most runs declare nothing

        check_declared(plan, jobset)


def _is_old_enough(plan: Plan, jobset: JobSetView) -> None:
    """Whatever is rendered must be known to the versions of the cluster, as far as they are known."""
    versions = plan.facts.versions
    if versions.jobset is None and versions.kubernetes is None:
        return
    from trainform.k8s.cluster import releases  # most runs do not know the versions

    found = [(("spec", *path), message) for path, message in releases.of_jobset(jobset.spec, versions)]
    for job in jobset.jobs:
        pod: Path = (*job.pod_path, "spec")
        found += [((*pod, *path), message) for path, message in releases.of_pod(job.pod_spec, versions)]
    for path, message in found:
        plan.report_object(jobset.tree, path, "TF569", message, hint="an older one drops or refuses it")


class _Missing(NamedTuple):
    """A reference of the finished JobSet that nothing here provides."""

    kind: str
    name: str
    path: Path


_UNLISTED = ("ConfigMap", "Secret", "PersistentVolumeClaim")
"""Kinds that are told even if nobody listed what exists. A ServiceAccount is part of how a namespace is set up, and a
pod with a public image starts without its pull secret."""


def _references_exist(plan: Plan, jobset: JobSetView, wanted: Sequence[Wanted]) -> None:
    """What the pods need to start. An error where the objects of its kind in the namespace are listed, else a note; no
    note for objects that were rendered earlier, as the TrainJob has the same."""
    missing = [
        _Missing(each.kind, each.name, (*job.pod_path, "spec", *each.path))
        for job, found in wanted
        for each in found
        if each.is_needed
    ]
    if not missing:
        return
    own, near = _made_by_the_job(plan, jobset), _nearby(plan)
    cluster = None if plan.destination.is_default else plan.environment.spec.cluster
    kinds = dict.fromkeys(each.kind for each in missing)
    names = {kind: cluster.names_of(kind, plan.namespace) if cluster else None for kind in kinds}
    known = {(kind, name) for kind, found in names.items() for name in found or ()}
    unlisted, lacking = [], []
    for each in missing:
        if (each.kind, each.name) in own:
            continue
        if (found := names[each.kind]) is not None:
            lacking += [] if (each.kind, each.name) in known else [(each, found)]
        elif (
            not plan.frozen
            and each.kind in _UNLISTED
            and (each.kind, each.name) not in near
            and "imagePullSecrets" not in each.path
        ):
            unlisted.append(each)
    _not_listed(plan, jobset, lacking)
    _not_here(plan, jobset, unlisted, near)


_COMPARED = 20
"""Most missing objects of a job for which a name is looked for that is nearly theirs: there may be thousands."""


def _not_listed(plan: Plan, jobset: JobSetView, missing: Sequence[tuple[_Missing, Sequence[str]]]) -> None:
    for place, (each, names) in enumerate(missing):
        hint = did_you_mean(each.name, names) if place < _COMPARED else ""
        plan.report_object(
            jobset.tree,
            each.path,
            "TF568",
            f"namespace {plan.namespace} has no {each.kind} {each.name!r}: the pods would not start",
            hint=hint or f"spec.cluster.objects lists {listed(names) or 'none'}",
        )


def _not_here(plan: Plan, jobset: JobSetView, missing: Sequence[_Missing], near: Collection[tuple[str, str]]) -> None:
    """One note for all that others may provide; a warning for each name that is nearly that of an object here."""
    others = []
    for place, each in enumerate(missing):
        known = [name for kind, name in near if kind == each.kind] if place < _COMPARED else []
        if hint := did_you_mean(each.name, known):
            message = f"nothing here provides {each.kind} {each.name!r}"
            plan.report_object(jobset.tree, each.path, "TF650", message, severity="warning", hint=hint)
        else:
            others.append(each)
    if others:
        names = listed([*dict.fromkeys(f"{each.kind} {each.name}" for each in others)])
        message = f"nothing here provides {names}: the pods wait until it exists in namespace {plan.namespace}"
        hint = "put it beside the TrainJob, or list what exists in the Environment's spec.cluster.objects"
        plan.report_object(jobset.tree, others[0].path, "TF650", message, severity="info", hint=hint)


def _nearby(plan: Plan) -> set[tuple[str, str]]:
    """What objects in the repository provide, rendered or not: kind and name."""
    found = ((kind, each.tree) for each in plan.job_document.beside if (kind := kind_of(each.tree)))
    return {*plan.unowned, *((kind.provides, provided(tree)) for kind, tree in found)}


def _made_by_the_job(plan: Plan, jobset: JobSetView) -> set[tuple[str, str]]:
    """Objects that come with the job, or that Kubernetes or JobSet create."""
    templates = [each for policy in tables(jobset.spec, "volumeClaimPolicies") for each in tables(policy, "templates")]
    names = [text(table(each, "metadata"), "name") for each in templates]
    return {
        *EVERYWHERE,
        *((tree["kind"], name_of(tree)) for tree in plan.objects),
        *((kind.provides, provided(tree)) for tree in plan.objects if (kind := kind_of(tree))),
        *(("Secret", name) for name in (*key_secrets(plan.stable_name), *(need.name for need in plan.secrets))),
        *(("PersistentVolumeClaim", f"{name}-{plan.name}") for name in names),
    }
