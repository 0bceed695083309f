"""runtimePatches: managers' changes to the runtime's template, applied before anything else. Source: kubeflow/trainer
`pkg/runtime/core/trainingruntime.go`, mergeRuntimePatches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.patch.merge_keys import JOB_TEMPLATE
from trainform.k8s.patch.strategic_merge import MergeError, merge, replaced_sources, without_unset
from trainform.k8s.tree import Tree, value_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainform.api.trainjob import RuntimePatch
    from trainform.core.plan import Plan
    from trainform.core.provenance import Origin, Source
    from trainform.diagnostics import Path

CONTAINER_KINDS = ("initContainers", "containers")


def apply_runtime_patches(
    plan: Plan, replicated_jobs: list[Tree], patches: Mapping[Origin, Sequence[RuntimePatch]]
) -> list[Tree]:
    """The replicated jobs with the patches merged in, one manager after the other. Template labels and annotations go
    to `plan.metadata`. The order of replicated jobs is kept; inputs are not modified."""
    jobs = list(replicated_jobs)
    for origin, given in patches.items():
        for index, patch in enumerate(given):
            _apply(plan, jobs, origin, index, without_unset(patch.training_runtime_spec or {}))
    return jobs


def _apply(plan: Plan, jobs: list[Tree], origin: Origin, index: int, patch: Tree) -> None:
    """Apply one patch. An Environment's may name replicated jobs that this job does not have."""
    template = patch.get("template") or {}
    path: Path = ("spec", "runtimePatches", index, "trainingRuntimeSpec", "template")
    plan.record_source((origin, path))
    for kind in ("labels", "annotations"):
        values = (template.get("metadata") or {}).get(kind)
        if values:
            plan.metadata[kind] = {**plan.metadata.get(kind, {}), **values}
    names = [job.get("name") for job in jobs]
    for number, job_patch in enumerate((template.get("spec") or {}).get("replicatedJobs") or ()):
        where = (*path, "spec", "replicatedJobs", number)
        name = job_patch.get("name")
        if name in names:
            plan.destination.matched.jobs.update([(index, name)] if origin == "environment" else ())
            _patch_job(plan, jobs, job_patch, (origin, where))
        elif origin == "trainjob":
            _unknown(plan, "replicated job", name, names, (origin, (*where, "name")))


def _patch_job(plan: Plan, jobs: list[Tree], patch: Tree, source: Source) -> None:
    if "template" not in patch:
        return
    index = [job.get("name") for job in jobs].index(patch["name"])
    job = jobs[index]
    known = _known_containers(plan, job["template"], patch["template"], source)
    _tell_replaced_sources(plan, job["template"], known, source)
    try:
        jobs[index] = {**job, "template": merge(job["template"], known, JOB_TEMPLATE)}
    except MergeError as error:
        message = f"cannot be merged into the runtime: {error}"
        plan.report("TF305", message, source=_below(source, "template", *error.path))


def _pod_spec(template: Tree) -> Tree:
    pod_spec: Tree = value_at(template, ("spec", "template", "spec")) or {}
    return pod_spec


def _below(source: Source, *path: str | int) -> Source:
    return source[0], (*source[1], *path)


def _known_containers(plan: Plan, template: Tree, patch: Tree, source: Source) -> Tree:
    """The patch without containers that the runtime does not have (D04)."""
    pod_spec = _pod_spec(patch)
    known = dict(pod_spec)
    for kind in CONTAINER_KINDS:
        names = [container.get("name") for container in _pod_spec(template).get(kind) or ()]
        for index, container in enumerate(pod_spec.get(kind) or ()):
            if container.get("name") not in names:
                where = _below(source, "template", "spec", "template", "spec", kind, index, "name")
                _unknown(plan, "container", container.get("name"), names, where)
        if kind in pod_spec:
            known[kind] = [c for c in pod_spec[kind] if c.get("name") in names]
    if known == pod_spec:
        return patch
    job_spec = patch["spec"]
    pod = {**job_spec["template"], "spec": known}
    return {**patch, "spec": {**job_spec, "template": pod}}


def _unknown(plan: Plan, what: str, name: object, names: list[Any], source: Source) -> None:
    known = ", ".join(str(n) for n in names) or "none"
    plan.deviates_each(
        "D04",
        f"the runtime has no {what} {name!r}; the controller would add one without an image",
        hint=did_you_mean(str(name), [str(n) for n in names]) or f"the runtime has: {known}",
        source=source,
    )


def _tell_replaced_sources(plan: Plan, template: Tree, patch: Tree, source: Source) -> None:
    base = _pod_spec(template).get("volumes") or ()
    for name in replaced_sources(base, _pod_spec(patch).get("volumes") or ()):
        plan.deviates(
            "D05",
            f"the controller would leave volume {name!r} with two sources, which the API server rejects",
            source=_below(source, "template", "spec", "template", "spec", "volumes"),
        )
