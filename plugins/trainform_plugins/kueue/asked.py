"""The topology that a step asks for, as an Environment's settings and as annotations of its pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainform.plugin import Path, Place, Plan, PodSet, Step, Tree, blame
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
"""All annotations about topology: who sets one decides on all, since they exclude each other."""

LEVELS = (REQUIRED, PREFERRED, SLICE)
"""Those whose value is a level: a label of nodes."""


def topology_of(plan: Plan, step: str) -> Topology | None:
    """What the Environment wants for the replicated job `step`; None where it says nothing about it, or
    where the TrainJob's own runtimePatches do.
    """
    kueue = settings_of(plan)
    if kueue is None or _job_decides(plan, step):
        return None
    if step in kueue.steps:
        return kueue.steps[step].topology
    return kueue.topology if "topology" in kueue.model_fields_set else None


def annotate(plan: Plan, pods: PodSet, topology: Topology) -> None:
    """Replace the annotations of `pods` about topology by those that `topology` means."""
    metadata = pods.pod["metadata"]
    metadata["annotations"] = {k: v for k, v in (metadata.get("annotations") or {}).items() if k not in FAMILY}
    for key, value in _annotations_of(topology).items():
        pods.annotate(key, value, ("environment", environments_path(plan, pods.name, key)))


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


def source_of(plan: Plan, jobset: Tree, step: Step, key: str) -> tuple[Path, Place | None]:
    """Who annotated the pods of `step` with `key`: path and document."""
    topology = topology_of(plan, step.name)
    if topology is not None and _annotations_of(topology).get(key) == step.annotations.get(key):
        return environments_path(plan, step.name, key), plan.destination.document
    place, path = blame(plan, jobset, (*step.pod_path, "metadata", "annotations", key))
    return path, place


def environments_path(plan: Plan, step: str, key: str) -> Path:
    """The Environment's field for an annotation of `step`."""
    kueue = settings_of(plan)
    own = ("steps", step) if kueue is not None and step in kueue.steps else ()
    return (*SETTINGS, *own, "topology", *FIELDS.get(key, ()))


def report(plan: Plan, jobset: Tree, step: Step, key: str, code: str, message: str, **words: Any) -> None:
    """Tell a problem of an annotation at its source, with the place in the JobSet where it shows."""
    path, place = source_of(plan, jobset, step, key)
    plan.report(
        code,
        message,
        path=path,
        place=place,
        object=f"JobSet/{plan.name}",
        object_path=(*step.pod_path, "metadata", "annotations", key),
        **words,
    )


def _job_decides(plan: Plan, step: str) -> bool:
    return any(
        job.get("name") == step and any(key in FAMILY for key in _annotations(job))
        for patch in plan.job.spec.runtime_patches or ()
        for job in _jobs(patch.training_runtime_spec or {})
    )


def _jobs(patch: Tree) -> list[Tree]:
    spec = (patch.get("template") or {}).get("spec") or {}
    jobs: list[Tree] = spec.get("replicatedJobs") or []
    return jobs


def _annotations(job: Tree) -> Tree:
    """Those that a patch of a replicated job puts on its pods."""
    node: Any = job
    for part in ("template", "spec", "template", "metadata", "annotations"):
        node = (node or {}).get(part)
    return node or {}
