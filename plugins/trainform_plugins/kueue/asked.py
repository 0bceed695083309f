"""A step's requested topology, in an Environment's settings and in pod annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainform.plugin import JobSetView, Path, Plan, PodSet, ReplicatedJob, Source, value_at
from trainform_plugins.kueue.labels import SETTINGS, settings_of

if TYPE_CHECKING:
    from trainform.plugin import Topology

REQUIRED = "kueue.x-k8s.io/podset-required-topology"
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
UNCONSTRAINED = "kueue.x-k8s.io/podset-unconstrained-topology"
SLICE = "kueue.x-k8s.io/podset-slice-required-topology"
SLICE_SIZE = "kueue.x-k8s.io/podset-slice-size"
SLICES = "kueue.x-k8s.io/podset-slice-required-topology-constraints"
GROUP = "kueue.x-k8s.io/podset-group-name"
OFFSET = "kueue.x-k8s.io/pod-index-offset"

FIELDS: dict[str, Path] = {
    REQUIRED: ("required",),
    PREFERRED: ("preferred",),
    UNCONSTRAINED: ("unconstrained",),
    SLICE: ("slice", "required"),
    SLICE_SIZE: ("slice", "size"),
    GROUP: ("group",),
}
"""Each annotation with its field in the Environment's `topology`."""

FAMILY = (*FIELDS, SLICES)
"""All topology annotations. They exclude each other, so whoever sets one decides on all."""

LEVELS = (REQUIRED, PREFERRED, SLICE)
"""Annotations whose value is a level: a node label."""


def topology_of(plan: Plan, step: str) -> Topology | None:
    """The Environment's topology for the replicated job `step`; None if it sets none, or if the TrainJob's own
    runtimePatches do."""
    kueue = settings_of(plan)
    if kueue is None or _job_decides(plan, step):
        return None
    if step in kueue.steps:
        return kueue.steps[step].topology
    return kueue.topology if "topology" in kueue.model_fields_set else None


def annotate(plan: Plan, pods: PodSet, topology: Topology) -> None:
    """Replace the topology annotations of `pods` with those for `topology`."""
    metadata = pods.pod["metadata"]
    metadata["annotations"] = {k: v for k, v in (metadata.get("annotations") or {}).items() if k not in FAMILY}
    for key, value in _annotations_of(topology).items():
        pods.annotate(key, value, _environments_field(plan, pods.name, key))


def _annotations_of(topology: Topology) -> dict[str, str]:
    slices = topology.slice
    wanted: dict[str, Any] = {
        REQUIRED: topology.required,
        PREFERRED: topology.preferred,
        UNCONSTRAINED: "true" if topology.unconstrained else None,
        SLICE: slices and slices.required,
        SLICE_SIZE: slices and str(slices.size),
        GROUP: topology.group,
    }
    return {key: value for key, value in wanted.items() if value is not None}


def _environments_field(plan: Plan, job: str, key: str) -> Source:
    """The Environment's field for an annotation of the replicated job `job`."""
    kueue = settings_of(plan)
    own = ("steps", job) if kueue is not None and job in kueue.steps else ()
    return "environment", (*SETTINGS, *own, "topology", *FIELDS.get(key, ()))


def report(plan: Plan, jobset: JobSetView, job: ReplicatedJob, key: str, code: str, message: str, **words: Any) -> None:
    """Report a problem of a pod annotation of `job`, at the place that set it."""
    topology = topology_of(plan, job.name)
    chosen = topology is not None and _annotations_of(topology).get(key) == job.annotations.get(key)
    source = _environments_field(plan, job.name, key) if chosen else None
    path = (*job.pod_path, "metadata", "annotations", key)
    plan.report_object(jobset.tree, path, code, message, source=source, **words)


def _job_decides(plan: Plan, step: str) -> bool:
    annotations: Path = ("template", "spec", "template", "metadata", "annotations")
    return any(
        job.get("name") == step and any(key in FAMILY for key in value_at(job, annotations) or ())
        for patch in plan.job.spec.runtime_patches or ()
        for job in value_at(patch.training_runtime_spec, ("template", "spec", "replicatedJobs")) or ()
    )
