"""What people write into a TrainJob because other kinds of job, or the pods, have it: where it belongs here."""

from __future__ import annotations

from trainform.api.dialects import Advice

_POD = "template.spec.replicatedJobs[].template.spec.template.spec"
_PATCH = f"spec.runtimePatches[].trainingRuntimeSpec.{_POD}"
_IN_RUNTIME = "set it in the runtime, at spec."
_RESOURCES = Advice("write spec.trainer.resourcesPerNode", 'resourcesPerNode: {limits: {nvidia.com/gpu: "8"}}')
_NODES = Advice("write spec.trainer.numNodes", "trainer: {numNodes: 2}")
_QUEUE = Advice("add a label to the job", "metadata: {labels: {kueue.x-k8s.io/queue-name: team-a}}")
_RESTARTS = Advice(f"{_IN_RUNTIME}template.spec.failurePolicy", "failurePolicy: {maxRestarts: 3}")

_PATCHED = (
    "affinity",
    "imagePullSecrets",
    "initContainers",
    "schedulingGates",
    "serviceAccountName",
    "terminationGracePeriodSeconds",
    "tolerations",
)
"""Fields of pods that a patch may set."""

_OTHERS = (
    "dnsPolicy",
    "hostNetwork",
    "priorityClassName",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "shareProcessNamespace",
    "topologySpreadConstraints",
)
"""Fields of pods that only a runtime may set."""

_OF_CONTAINER = ("envFrom", "imagePullPolicy", "lifecycle", "livenessProbe", "ports", "workingDir")
"""Fields of a container that only a runtime may set."""

_EITHER = ("spec", "spec.trainer")

MISPLACED: dict[str, Advice] = {
    **{f"{place}.{field}": Advice(f"write {_PATCH}.{field}") for place in _EITHER for field in _PATCHED},
    "spec.nodeSelector": Advice(f"write {_PATCH}.nodeSelector"),
    **{f"{place}.{field}": Advice(f"{_IN_RUNTIME}{_POD}.{field}") for place in _EITHER for field in _OTHERS},
    **{
        f"{place}.{field}": Advice(f"{_IN_RUNTIME}{_POD}.containers[].{field}")
        for place in _EITHER
        for field in _OF_CONTAINER
    },
    **{
        f"{place}.{field}": _RESOURCES
        for place in _EITHER
        for field in ("cpu", "gpu", "gpus", "limits", "memory", "requests")
    },
    "spec.resources": _RESOURCES,
    **{
        f"{place}.{field}": _NODES
        for place in _EITHER
        for field in ("completions", "numWorkers", "parallelism", "replicas", "workers")
    },
    **{f"spec.{field}": _QUEUE for field in ("localQueue", "queue", "queueName")},
    **{f"{place}.{field}": _RESTARTS for place in _EITHER for field in ("backoffLimit", "maxRestarts")},
    "spec.replicatedJobs": Advice(f"{_IN_RUNTIME}template.spec.replicatedJobs, or patch it with runtimePatches"),
    **{
        f"spec.{framework}": Advice(f"{_IN_RUNTIME}mlPolicy.{framework}")
        for framework in ("flux", "jax", "mpi", "torch", "xgboost")
    },
}
"""Advice for a TrainJob, beside `dialects.JOB`."""
