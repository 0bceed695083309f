"""The lint about labels and annotations at a level where nobody reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainform.plugin import JobSetView, Path, Plan, Where, table
from trainform_plugins.lints.finished import Finished

PLACES = {
    "jobset": ("the JobSet", "metadata"),
    "job": ("the Job template", "spec.replicatedJobs[].template.metadata"),
    "pod": ("the pods", "spec.replicatedJobs[].template.spec.template.metadata"),
}
"""Each level of a JobSet in words, and its metadata's path in a runtime's template."""

OF_TRAINJOB = "spec.runtimePatches[].trainingRuntimeSpec.template"
OF_RUNTIME = "spec.template"

ON_JOBSET, ON_PODS = ("jobset",), ("pod",)

READERS: dict[str, tuple[str, tuple[str, ...]]] = {
    # Engines look at the objects that they apply.
    "argocd.argoproj.io/": ("Argo CD", ON_JOBSET),
    "kustomize.toolkit.fluxcd.io/": ("Flux", ON_JOBSET),
    "helm.sh/": ("Argo CD", ON_JOBSET),
    # Queues and schedulers.
    "kueue.x-k8s.io/podset-": ("Kueue", ON_PODS),
    "kueue.x-k8s.io/queue-name": ("Kueue", ON_JOBSET),
    "kueue.x-k8s.io/priority-class": ("Kueue", ON_JOBSET),
    "kueue.x-k8s.io/max-exec-time-seconds": ("Kueue", ON_JOBSET),
    "kai.scheduler/": ("KAI", ("jobset", "pod")),
    "alpha.jobset.sigs.k8s.io/exclusive-topology": ("JobSet", ("jobset", "job")),
    "yunikorn.apache.org/": ("YuniKorn", ON_PODS),
    "cluster-autoscaler.kubernetes.io/": ("the cluster autoscaler", ON_PODS),
    "karpenter.sh/": ("Karpenter", ON_PODS),
    # Meshes, networks and injectors change pods when they are made.
    "sidecar.istio.io/": ("Istio", ON_PODS),
    "traffic.sidecar.istio.io/": ("Istio", ON_PODS),
    "linkerd.io/": ("Linkerd", ON_PODS),
    "config.linkerd.io/": ("Linkerd", ON_PODS),
    "k8s.v1.cni.cncf.io/networks": ("Multus", ON_PODS),
    "vault.hashicorp.com/": ("Vault's injector", ON_PODS),
    "gke-gcsfuse/": ("GKE's Cloud Storage driver", ON_PODS),
    "prometheus.io/": ("Prometheus", ON_PODS),
    "azure.workload.identity/use": ("Azure's workload identity", ON_PODS),
}
"""By the beginning of a key: who reads it, and at which levels. The longest one that matches counts."""

_BEGINNINGS = tuple(READERS)

OF_VOLCANO = "scheduling.volcano.sh/queue-name"
PRIORITY = "priorityClassName"


class _Mark(NamedTuple):
    kind: str
    key: str
    reader: str
    levels: tuple[str, ...]


def marks_without_effect(job: Finished) -> None:
    """A label or annotation works only where its reader looks, and nobody looks at a TrainJob in git.

    Why: Kueue reads topology from pods, Argo CD from the objects that it applies, a mesh from pods. With the
    controller, the TrainJob is in the cluster, and some look there. Bites: `Prune=false` on the TrainJob, and a rack
    asked for on the JobSet: the job is pruned, or runs without its topology.
    """
    _on_the_trainjob(job.plan, job.jobset)
    for level, path, metadata in _levels(job.jobset):
        for mark in _marks(metadata):
            if level not in mark.levels:
                place, _ = PLACES[level]
                _tell(job.plan, mark, f"on {place}", OF_RUNTIME, job.source(*path, mark.kind, mark.key))


def _on_the_trainjob(plan: Plan, jobset: JobSetView) -> None:
    own = plan.job.metadata
    carried = {"labels": jobset.labels, "annotations": table(table(jobset.tree, "metadata"), "annotations")}
    for mark in _marks({"labels": own.labels or {}, "annotations": own.annotations or {}}):
        if mark.key not in carried[mark.kind]:
            _tell(plan, mark, "on a TrainJob", OF_TRAINJOB, {"path": ("metadata", mark.kind, mark.key)})
    for kind, key, hint in (
        ("annotations", OF_VOLCANO, "without a Volcano gang, set scheduling.gang in the Environment"),
        ("labels", PRIORITY, "set priorityClassName in the runtime's pods"),
    ):
        if key in (getattr(own, kind) or {}) and key not in carried[kind]:
            plan.warn("TF632", f"{key} has no effect on a TrainJob", hint=hint, path=("metadata", kind, key))


def _levels(jobset: JobSetView) -> Iterator[tuple[str, Path, Mapping[str, Any]]]:
    """Each level's metadata in the JobSet, with its path."""
    yield "jobset", ("metadata",), table(jobset.tree, "metadata")
    for pods in jobset.jobs:
        yield "job", (*pods.path, "template", "metadata"), table(table(pods.tree, "template"), "metadata")
        yield "pod", (*pods.pod_path, "metadata"), table(pods.pod, "metadata")


def _marks(metadata: Mapping[str, Any]) -> Iterator[_Mark]:
    for kind in ("labels", "annotations"):
        for key in metadata.get(kind) or ():
            if key.startswith(_BEGINNINGS):
                longest = max((each for each in READERS if key.startswith(each)), key=len)
                yield _Mark(kind, key, *READERS[longest])


def _tell(plan: Plan, mark: _Mark, where: str, template: str, place: Where) -> None:
    names, paths = zip(*(PLACES[level] for level in mark.levels), strict=True)
    plan.warn(
        "TF632",
        f"{mark.key} has no effect {where}: {mark.reader} reads it from {' or '.join(names)}",
        hint=f"write it at {template}.{paths[0]}.{mark.kind}",
        **place,
    )
