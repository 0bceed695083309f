"""What people write where the API knows no such field: older dialects, and the common wrong places.

The API server drops these without a word. A row is keyed by the path without list indexes.
"""

from __future__ import annotations

from dataclasses import dataclass

from trainform.diagnostics import Path


@dataclass(frozen=True, slots=True)
class Advice:
    """What takes the place of a field, with an example to copy."""

    instead: str
    example: str = ""
    older: bool = False
    """Once a field of the API."""

    @property
    def hint(self) -> str:
        if "\n" in self.example:
            return f"{self.instead}; for example\n{self.example}"
        example = f"; for example {self.example}" if self.example else ""
        return self.instead + example


_PATCH = "spec.runtimePatches[].trainingRuntimeSpec"
_JOB_PATCH = f"{_PATCH}.template.spec.replicatedJobs[]"
_POD_PATCH = f"{_JOB_PATCH}.template.spec.template"
_POD_PATCH_EXAMPLE = """\
runtimePatches:
- manager: example.com/me
  trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
    {name: node, template: {spec: {template: {spec: {
      %s}}}}}]}}}"""
_TEMPLATE = "spec.template.spec"
_POD = f"{_TEMPLATE}.replicatedJobs[].template.spec.template.spec"
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
_ELASTIC = Advice(
    "elastic training was removed in Trainer 2.2: set a fixed node count and let the JobSet restart",
    "mlPolicy: {numNodes: 4, torch: {}} with template.spec.failurePolicy: {maxRestarts: 3}",
    older=True,
)
_PROCESSES = Advice("write spec.trainer.numProcPerNode of the TrainJob", "trainer: {numProcPerNode: 4}", older=True)
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

JOB: dict[str, Advice] = {
    "spec.podTemplateOverrides": _OVERRIDES,
    "spec.podSpecOverrides": _OVERRIDES,
    "spec.templateOverrides": _OVERRIDES,
    "spec.elasticPolicy": _ELASTIC,
    "spec.trainer.elasticPolicy": _ELASTIC,
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
    "spec.failurePolicy": Advice(f"{_RUNTIME}, at {_TEMPLATE}.failurePolicy", "failurePolicy: {maxRestarts: 3}"),
    "spec.successPolicy": Advice(f"{_RUNTIME}, at {_TEMPLATE}.successPolicy"),
    "spec.cleanupPolicy": Advice(f"{_RUNTIME}, at {_TEMPLATE}.ttlSecondsAfterFinished"),
    "spec.cleanPodPolicy": Advice(f"{_RUNTIME}, at {_TEMPLATE}.ttlSecondsAfterFinished"),
    "spec.ttlSecondsAfterFinished": Advice(f"{_RUNTIME}, at {_TEMPLATE}.ttlSecondsAfterFinished"),
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
    "spec.trainer.resources": Advice(
        "write spec.trainer.resourcesPerNode", 'resourcesPerNode: {limits: {nvidia.com/gpu: "8"}}'
    ),
    "spec.initializer.model.accessToken": Advice(
        "put it in a Secret and refer to it in spec.initializer.model.secretRef", "secretRef: {name: hf-token}"
    ),
    "spec.initializer.dataset.accessToken": Advice(
        "put it in a Secret and refer to it in spec.initializer.dataset.secretRef", "secretRef: {name: hf-token}"
    ),
    f"{_JOB_PATCH}.template.spec.parallelism": Advice("write spec.trainer.numNodes", "trainer: {numNodes: 2}"),
    f"{_JOB_PATCH}.template.spec.completions": Advice("write spec.trainer.numNodes", "trainer: {numNodes: 2}"),
    f"{_JOB_PATCH}.replicas": Advice("remove it: a step is one Job; write spec.trainer.numNodes"),
    f"{_PATCH}.template.spec.ttlSecondsAfterFinished": Advice(
        f"a patch cannot set it: {_RUNTIME}, at {_TEMPLATE}.ttlSecondsAfterFinished"
    ),
    **{f"{_POD_PATCH}.spec.containers[].{field}": advice for field, advice in _PATCHED_CONTAINER.items()},
    **{
        f"spec.{field}": Advice(f"write spec.trainer.{field}")
        for field in ("args", "command", "env", "image", "numNodes", "numProcPerNode", "resourcesPerNode")
    },
}
"""Advice for a TrainJob."""

_POD_FIELDS = (
    "affinity",
    "containers",
    "imagePullSecrets",
    "initContainers",
    "nodeSelector",
    "priorityClassName",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "securityContext",
    "serviceAccountName",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
)

RUNTIME: dict[str, Advice] = {
    "spec.mlPolicy.torch.numProcPerNode": _PROCESSES,
    "spec.mlPolicy.torch.elasticPolicy": _ELASTIC,
    "spec.mlPolicy.numProcPerNode": _PROCESSES,
    "spec.numNodes": Advice("write spec.mlPolicy.numNodes", "mlPolicy: {numNodes: 2}", older=True),
    "spec.podGroupPolicySource": Advice("write spec.podGroupPolicy", "podGroupPolicy: {coscheduling: {}}"),
    "spec.mlPolicySource": Advice("write spec.mlPolicy", "mlPolicy: {torch: {}}"),
    **{
        f"spec.{framework}": Advice(f"write spec.mlPolicy.{framework}")
        for framework in ("flux", "jax", "mpi", "torch", "xgboost")
    },
    **{
        f"spec.{field}": Advice(f"write {_TEMPLATE}.{field}")
        for field in ("failurePolicy", "network", "replicatedJobs", "startupPolicy", "successPolicy")
    },
    **{f"{_TEMPLATE}.{field}": Advice(f"this is a pod field: write {_POD}.{field}") for field in _POD_FIELDS},
    "spec.template.replicatedJobs": Advice(f"write {_TEMPLATE}.replicatedJobs"),
}
"""Advice for a runtime."""

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


def advice(table: dict[str, Advice], path: Path) -> Advice | None:
    """The row for `path`, or None."""
    text = "".join("[]" if isinstance(part, int) else f".{part}" for part in path)
    return table.get(text.removeprefix("."))
