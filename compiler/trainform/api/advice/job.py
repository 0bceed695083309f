"""Advice for a TrainJob."""

from __future__ import annotations

from trainform.api.advice import MIGRATE, Advice, spread
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
_CONTAINER_PATCH = f"{_POD_PATCH}.spec.containers[]"
_NO_PATCH = (
    "a patch cannot set it: write spec.trainer.<field>, or for another step than the trainer, use your own runtime"
)


def _pod_patch(inside: str) -> str:
    return _POD_PATCH_EXAMPLE % inside


_TEMPLATED = Advice(
    f"write spec.trainer.{{image,command,args,env,resourcesPerNode}}, or {_POD_PATCH} for the rest",
    "trainer: {image: registry.example.com/train:1, command: [python, train.py]}",
)
_RESOURCES = Advice("write spec.trainer.resourcesPerNode", 'resourcesPerNode: {limits: {nvidia.com/gpu: "8"}}')
_NODES = Advice("write spec.trainer.numNodes", "trainer: {numNodes: 2}")
_TIME_TO_LIVE = Advice(f"{_RUNTIME}, at {TEMPLATE}.ttlSecondsAfterFinished")

_PATCHED = (
    "{affinity,imagePullSecrets,initContainers,schedulingGates,serviceAccountName,terminationGracePeriodSeconds,"
    "tolerations}"
)
"""Pod fields that a patch may set."""

_OTHERS = (
    "{dnsPolicy,hostNetwork,priorityClassName,restartPolicy,runtimeClassName,schedulerName,shareProcessNamespace,"
    "topologySpreadConstraints}"
)
"""Pod fields that only a runtime may set."""

_OF_CONTAINER = "{envFrom,imagePullPolicy,lifecycle,livenessProbe,ports,workingDir}"
"""Container fields that only a runtime may set."""

_EITHER = "spec{,.trainer}"
_REPLICAS = "{jax,mpi,paddle,pytorch,tf,xgb}ReplicaSpecs"

JOB = spread(
    {
        # Fields of pods and other job kinds.
        f"{_EITHER}.{_PATCHED}": Advice(f"write {_POD_PATCH}.spec.<field>"),
        "spec.nodeSelector": Advice(f"write {_POD_PATCH}.spec.<field>"),
        f"{_EITHER}.{_OTHERS}": Advice(f"{_RUNTIME}, at {POD}.<field>"),
        f"{_EITHER}.{_OF_CONTAINER}": Advice(f"{_RUNTIME}, at {POD}.containers[].<field>"),
        f"{_EITHER}.{{cpu,gpu,gpus,limits,memory,requests,resources}}": _RESOURCES,
        f"{_EITHER}.{{completions,numWorkers,parallelism,replicas,workers}}": _NODES,
        "spec.{localQueue,queue,queueName}": Advice(
            "add a label to the job", "metadata: {labels: {kueue.x-k8s.io/queue-name: team-a}}"
        ),
        f"{_EITHER}.{{backoffLimit,maxRestarts}}": Advice(
            f"{_RUNTIME}, at spec.template.spec.failurePolicy", "failurePolicy: {maxRestarts: 3}"
        ),
        "spec.replicatedJobs": Advice(
            f"{_RUNTIME}, at spec.template.spec.replicatedJobs, or patch it with runtimePatches"
        ),
        "spec.{flux,jax,mpi,torch,xgboost}": Advice(f"{_RUNTIME}, at spec.mlPolicy.<field>"),
        # Fields of older dialects, and fields with another place in a job.
        "spec.{podTemplateOverrides,podSpecOverrides,templateOverrides}": Advice(
            f"{MIGRATE}, or write {_JOB_PATCH}", _pod_patch("nodeSelector: {gpu: h100}"), older=True
        ),
        f"{_EITHER}.elasticPolicy": ELASTIC,
        "spec.modelConfig": Advice(
            f"{MIGRATE}, or write spec.initializer.model",
            "initializer: {model: {storageUri: hf://org/model}}",
            older=True,
        ),
        "spec.datasetConfig": Advice(
            f"{MIGRATE}, or write spec.initializer.dataset",
            "initializer: {dataset: {storageUri: hf://org/data}}",
            older=True,
        ),
        "spec.trainerConfig": Advice(f"{MIGRATE}, or write spec.trainer", "trainer: {numNodes: 2}", older=True),
        "spec.trainingRuntimeRef": Advice(
            f"{MIGRATE}, or write spec.runtimeRef", "runtimeRef: {name: torch-distributed}", older=True
        ),
        "spec.{annotations,labels}": Advice(
            f"write metadata.<field> for the job, or {_PATCH}.template.metadata.<field> for its JobSet"
        ),
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
        "spec.{cleanupPolicy,cleanPodPolicy,ttlSecondsAfterFinished}": _TIME_TO_LIVE,
        # Fields of kubeflow.org/v1 jobs.
        f"spec.{_REPLICAS}": Advice(
            "the runtime has the pods: choose one with runtimeRef; write numNodes, image and command in spec.trainer",
            "trainer: {numNodes: 2, image: registry.example.com/train:1, command: [torchrun, train.py]}",
        ),
        f"{_EITHER}.{{nprocPerNode,slotsPerWorker}}": Advice(
            "write spec.trainer.numProcPerNode", "trainer: {numProcPerNode: 8}"
        ),
        "spec.runPolicy": Advice(
            f"write spec.activeDeadlineSeconds and spec.suspend; the runtime has {TEMPLATE}.failurePolicy for "
            "backoffLimit, and ttlSecondsAfterFinished",
            "activeDeadlineSeconds: 3600",
        ),
        "spec.{launcherCreationPolicy,mpiImplementation,sshAuthMountPath}": Advice(
            f"{_RUNTIME}, at spec.mlPolicy.mpi (a launcher waits with dependsOn)"
        ),
        f"{_EITHER}.securityContext": Advice(
            f"write {_POD_PATCH}.spec.containers[].securityContext",
            _pod_patch("containers: [{name: node, securityContext: {runAsUser: 1000}}]"),
        ),
        "spec.template": Advice(f"{_RUNTIME}, or write {_POD_PATCH}"),
        "spec.runtimeRef.apiVersion": Advice(
            "write spec.runtimeRef.apiGroup, or remove it", "apiGroup: trainer.kubeflow.org"
        ),
        "spec.runtimeRef.namespace": Advice("remove it: a TrainingRuntime is looked up in the job's own namespace"),
        "spec.trainer.volumeMounts": Advice(
            f"write {_POD_PATCH}.spec.containers[].volumeMounts",
            _pod_patch("containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]"),
        ),
        "spec.trainer.volumes": Advice(f"write {_POD_PATCH}.spec.volumes"),
        "spec.trainer.nodeSelector": Advice(
            f"write {_POD_PATCH}.spec.nodeSelector", _pod_patch("nodeSelector: {gpu: h100}")
        ),
        "spec.trainer.{podTemplate,container}": _TEMPLATED,
        "spec.initializer.model.accessToken": Advice(
            "put it in a Secret and refer to it in spec.initializer.model.secretRef", "secretRef: {name: hf-token}"
        ),
        "spec.initializer.dataset.accessToken": Advice(
            "put it in a Secret and refer to it in spec.initializer.dataset.secretRef", "secretRef: {name: hf-token}"
        ),
        f"{_JOB_PATCH}.template.spec.{{parallelism,completions}}": _NODES,
        f"{_JOB_PATCH}.replicas": Advice("remove it: a step is one Job; write spec.trainer.numNodes"),
        f"{_PATCH}.template.spec.ttlSecondsAfterFinished": Advice(f"{_TIME_TO_LIVE.instead}: a patch cannot"),
        f"{_CONTAINER_PATCH}.image": Advice(_NO_PATCH, "trainer: {image: registry.example.com/train:1}"),
        f"{_CONTAINER_PATCH}.command": Advice(_NO_PATCH, "trainer: {command: [python, train.py]}"),
        f"{_CONTAINER_PATCH}.args": Advice(_NO_PATCH, 'trainer: {args: ["--epochs", "3"]}'),
        f"{_CONTAINER_PATCH}.resources": Advice(
            "a patch cannot set it: write spec.trainer.resourcesPerNode",
            'trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: "8"}}}',
        ),
        "spec.{args,command,env,image,numNodes,numProcPerNode,resourcesPerNode}": Advice("write spec.trainer.<field>"),
    }
)

OLDER_VALUES: dict[str, Advice] = {
    "spec.trainer.numProcPerNode": Advice(
        f"{MIGRATE}; or remove it to use the number of GPUs, or write a whole number",
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
"""Objects in which unknown fields without a similar known one share one cause."""
