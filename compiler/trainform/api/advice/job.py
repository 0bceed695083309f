"""Advice for a TrainJob."""

from __future__ import annotations

from trainform.api.advice import Advice
from trainform.api.advice.runtime import ELASTIC, POD, TEMPLATE

_PATCH = "spec.runtimePatches[].trainingRuntimeSpec"
_JOB_PATCH = f"{_PATCH}.template.spec.replicatedJobs[]"
_POD_PATCH = f"{_JOB_PATCH}.template.spec.template"
_POD_PATCH_EXAMPLE = """\
runtimePatches:
- manager: example.com/me
  trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
    {name: node, template: {spec: {template: {spec: {
      %s}}}}}]}}}"""
_RUNTIME = "set it in the runtime"


def _pod_patch(inside: str) -> str:
    return _POD_PATCH_EXAMPLE % inside


_OVERRIDES = Advice(f"write {_JOB_PATCH}", _pod_patch("nodeSelector: {gpu: h100}"), older=True)
_MOUNTS = Advice(
    f"write {_POD_PATCH}.spec.containers[].volumeMounts",
    _pod_patch("containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]"),
)
_POD_TEMPLATE = Advice(
    f"write spec.trainer.{{image,command,args,env,resourcesPerNode}}, or {_POD_PATCH} for the rest",
    "trainer: {image: registry.example.com/train:1, command: [python, train.py]}",
)
_PATCHED_CONTAINER = {
    "image": Advice(
        "a patch cannot set it: write spec.trainer.image", "trainer: {image: registry.example.com/train:1}"
    ),
    "command": Advice("a patch cannot set it: write spec.trainer.command", "trainer: {command: [python, train.py]}"),
    "args": Advice("a patch cannot set it: write spec.trainer.args", 'trainer: {args: ["--epochs", "3"]}'),
    "resources": Advice(
        "a patch cannot set it: write spec.trainer.resourcesPerNode",
        'trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: "8"}}}',
    ),
}

_RESOURCES = Advice("write spec.trainer.resourcesPerNode", 'resourcesPerNode: {limits: {nvidia.com/gpu: "8"}}')
_NODES = Advice("write spec.trainer.numNodes", "trainer: {numNodes: 2}")
_QUEUE = Advice("add a label to the job", "metadata: {labels: {kueue.x-k8s.io/queue-name: team-a}}")
_RESTARTS = Advice(f"{_RUNTIME}, at spec.template.spec.failurePolicy", "failurePolicy: {maxRestarts: 3}")

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

JOB: dict[str, Advice] = {
    # Fields of pods and of other kinds of job.
    **{f"{place}.{field}": Advice(f"write {_POD_PATCH}.spec.{field}") for place in _EITHER for field in _PATCHED},
    "spec.nodeSelector": Advice(f"write {_POD_PATCH}.spec.nodeSelector"),
    **{f"{place}.{field}": Advice(f"{_RUNTIME}, at {POD}.{field}") for place in _EITHER for field in _OTHERS},
    **{
        f"{place}.{field}": Advice(f"{_RUNTIME}, at {POD}.containers[].{field}")
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
    "spec.replicatedJobs": Advice(f"{_RUNTIME}, at spec.template.spec.replicatedJobs, or patch it with runtimePatches"),
    **{
        f"spec.{framework}": Advice(f"{_RUNTIME}, at spec.mlPolicy.{framework}")
        for framework in ("flux", "jax", "mpi", "torch", "xgboost")
    },
    # Fields of older dialects, and what a job says elsewhere.
    "spec.podTemplateOverrides": _OVERRIDES,
    "spec.podSpecOverrides": _OVERRIDES,
    "spec.templateOverrides": _OVERRIDES,
    "spec.elasticPolicy": ELASTIC,
    "spec.trainer.elasticPolicy": ELASTIC,
    "spec.modelConfig": Advice(
        "write spec.initializer.model", "initializer: {model: {storageUri: hf://org/model}}", older=True
    ),
    "spec.datasetConfig": Advice(
        "write spec.initializer.dataset", "initializer: {dataset: {storageUri: hf://org/data}}", older=True
    ),
    "spec.trainerConfig": Advice("write spec.trainer", "trainer: {numNodes: 2}", older=True),
    "spec.trainingRuntimeRef": Advice("write spec.runtimeRef", "runtimeRef: {name: torch-distributed}", older=True),
    **{
        f"spec.{field}": Advice(
            f"write metadata.{field} for the job, or {_PATCH}.template.metadata.{field} for its JobSet"
        )
        for field in ("annotations", "labels")
    },
    "spec.volumes": Advice(
        f"write {_POD_PATCH}.spec.volumes",
        _pod_patch("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"),
    ),
    "spec.mlPolicy": Advice(
        f"{_RUNTIME}; a job sets spec.trainer.numNodes and numProcPerNode", "trainer: {numNodes: 2}"
    ),
    "spec.podGroupPolicy": Advice(_RUNTIME, "podGroupPolicy: {coscheduling: {scheduleTimeoutSeconds: 120}}"),
    "spec.failurePolicy": Advice(f"{_RUNTIME}, at {TEMPLATE}.failurePolicy", "failurePolicy: {maxRestarts: 3}"),
    "spec.successPolicy": Advice(f"{_RUNTIME}, at {TEMPLATE}.successPolicy"),
    "spec.cleanupPolicy": Advice(f"{_RUNTIME}, at {TEMPLATE}.ttlSecondsAfterFinished"),
    "spec.cleanPodPolicy": Advice(f"{_RUNTIME}, at {TEMPLATE}.ttlSecondsAfterFinished"),
    "spec.ttlSecondsAfterFinished": Advice(f"{_RUNTIME}, at {TEMPLATE}.ttlSecondsAfterFinished"),
    "spec.template": Advice(f"{_RUNTIME}, or write {_POD_PATCH}"),
    "spec.runtimeRef.apiVersion": Advice(
        "write spec.runtimeRef.apiGroup, or remove it", "apiGroup: trainer.kubeflow.org"
    ),
    "spec.runtimeRef.namespace": Advice("remove it: a TrainingRuntime is looked up in the job's own namespace"),
    "spec.trainer.volumeMounts": _MOUNTS,
    "spec.trainer.volumes": Advice(f"write {_POD_PATCH}.spec.volumes"),
    "spec.trainer.nodeSelector": Advice(
        f"write {_POD_PATCH}.spec.nodeSelector", _pod_patch("nodeSelector: {gpu: h100}")
    ),
    "spec.trainer.tolerations": Advice(f"write {_POD_PATCH}.spec.tolerations"),
    "spec.trainer.podTemplate": _POD_TEMPLATE,
    "spec.trainer.container": _POD_TEMPLATE,
    "spec.trainer.resources": _RESOURCES,
    "spec.initializer.model.accessToken": Advice(
        "put it in a Secret and refer to it in spec.initializer.model.secretRef", "secretRef: {name: hf-token}"
    ),
    "spec.initializer.dataset.accessToken": Advice(
        "put it in a Secret and refer to it in spec.initializer.dataset.secretRef", "secretRef: {name: hf-token}"
    ),
    f"{_JOB_PATCH}.template.spec.parallelism": _NODES,
    f"{_JOB_PATCH}.template.spec.completions": _NODES,
    f"{_JOB_PATCH}.replicas": Advice("remove it: a step is one Job; write spec.trainer.numNodes"),
    f"{_PATCH}.template.spec.ttlSecondsAfterFinished": Advice(
        f"{_RUNTIME}, at {TEMPLATE}.ttlSecondsAfterFinished: a patch cannot"
    ),
    **{f"{_POD_PATCH}.spec.containers[].{field}": advice for field, advice in _PATCHED_CONTAINER.items()},
    **{
        f"spec.{field}": Advice(f"write spec.trainer.{field}")
        for field in ("args", "command", "env", "image", "numNodes", "numProcPerNode", "resourcesPerNode")
    },
}

OLDER_VALUES: dict[str, Advice] = {
    "spec.trainer.numProcPerNode": Advice(
        "remove it to use the number of GPUs, or write a whole number",
        "numProcPerNode: 8",
        older=True,
    ),
}
"""Fields that used to be strings (`auto`, `cpu`, `gpu`, "8")."""

ANY_OTHER: dict[str, Advice] = {
    "spec.trainer.resourcesPerNode": Advice(
        "write spec.trainer.resourcesPerNode.limits or .requests",
        'resourcesPerNode: {limits: {nvidia.com/gpu: "8"}, requests: {cpu: "16"}}',
    ),
}
"""Objects in which any unknown field that resembles no known one has the same cause."""
