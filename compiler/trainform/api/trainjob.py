"""TrainJob, as in upstream's pkg/apis/trainer/v1alpha1/trainjob_types.go: fields, limits and defaults."""

from typing import Annotated

from pydantic import Field

from trainform.api.base import EnvVars, Int32, Int64, Kube, Model, Resource, absent
from trainform.k8s.tree import Tree

CONTROLLER = "trainer.kubeflow.org/trainjob-controller"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"

Argument = Annotated[str, Field(max_length=65536)]


class RuntimeRef(Model):
    """The runtime of a job; a TrainingRuntime stands in the job's namespace."""

    name: str = Field(max_length=253)
    """The name of the runtime; `trainform runtimes` lists them. Example: `torch-distributed`."""
    api_group: Annotated[str, absent("trainer.kubeflow.org")] = Field("trainer.kubeflow.org", max_length=253)
    """The API group of the runtime; there is only one. Default: `trainer.kubeflow.org`."""
    kind: Annotated[str, absent("ClusterTrainingRuntime")] = Field("ClusterTrainingRuntime", max_length=253)
    """`TrainingRuntime` for one in the namespace of the job. Default: `ClusterTrainingRuntime`."""


class SecretRef(Model):
    """A Secret in the job's namespace."""

    name: str | None = None
    """The name of the Secret. Default: none. Example: `hf-token`."""


class StepInitializer(Model):
    """What `initializer.dataset` and `initializer.model` have in common."""

    storage_uri: str | None = Field(None, max_length=2048)
    """Where it comes from, as `scheme://…`. Default: what the runtime says. Example: `hf://tatsu-lab/alpaca`."""
    env: EnvVars | None = Field(None, max_length=128)
    """Variables of the step. Default: none. Example: `[{name: HF_HOME, value: /workspace/hf}]`."""
    secret_ref: SecretRef | None = None
    """A Secret whose entries become variables, for access to the source. Default: none.
    Example: `{name: hf-token}`."""


class Initializer(Model):
    """The steps that fetch a dataset and a model before training starts."""

    dataset: StepInitializer | None = None
    """Where the dataset comes from. Default: what the runtime says.
    Example: `{storageUri: "hf://tatsu-lab/alpaca"}`."""
    model: StepInitializer | None = None
    """Where the model comes from. Default: what the runtime says.
    Example: `{storageUri: "hf://Qwen/Qwen2.5-1.5B"}`."""


class TrainerSpec(Model):
    """The training step: what a job sets of the runtime's `node` container."""

    image: str | None = Field(None, max_length=500)
    """The image of the training container. Default: the runtime's. Example: `example/llm:1.4.0`."""
    command: list[Argument] | None = Field(None, max_length=128)
    """The command of the training container. Default: the runtime's. Example: `[torchrun, train.py]`."""
    args: list[Argument] | None = Field(None, max_length=128)
    """The arguments of the command. Default: the runtime's. Example: `[--epochs, "3"]`."""
    env: EnvVars | None = Field(None, max_length=128)
    """Variables of the training container; they win over those of the runtime and the framework. Default: the
    runtime's. Example: `[{name: NCCL_DEBUG, value: INFO}]`."""
    num_nodes: Int32 | None = None
    """The number of training nodes, at least 1; each is a pod. Default: the runtime's `mlPolicy.numNodes`.
    Example: `4`."""
    resources_per_node: Annotated[Tree, Kube("ResourceRequirements")] | None = None
    """What each node requests, merged with what the runtime requests, resource by resource. Default: the runtime's.
    Example: `{limits: {nvidia.com/gpu: 8}}`."""
    num_proc_per_node: Int32 | None = None
    """The number of processes on each node, at least 1. Default: the number of its GPUs, where the framework counts
    them. Example: `8`."""


class RuntimePatch(Model):
    """What one manager changes in the runtime's JobSet template; `time` is for observers only."""

    manager: str = Field(min_length=1, max_length=253)
    """Who makes the patch: a path that starts with a domain, unique in the list.
    Example: `example.com/platform`."""
    time: str | None = None
    """Set by the API server: leave it out. Default: none."""
    training_runtime_spec: Annotated[Tree, Kube("TrainingRuntimeSpecPatch")] | None = None
    """What changes in the runtime's `spec`, as a strategic merge patch. Default: nothing.
    Example: `{template: {metadata: {labels: {team: vision}}}}`."""


class TrainJobSpec(Model):
    """What to train, on which runtime."""

    runtime_ref: RuntimeRef
    """The runtime: the pods that the job runs in, without the training code.
    Example: `{name: torch-distributed}`."""
    initializer: Initializer | None = None
    """What to fetch before training starts; the runtime needs a replicated job for it. Default: what the runtime
    fetches. Example: `{dataset: {storageUri: "hf://tatsu-lab/alpaca"}}`."""
    trainer: TrainerSpec | None = None
    """The training step: image, command, nodes and resources. Default: as the runtime has it.
    Example: `{numNodes: 4, image: "example/llm:1.4.0"}`."""
    runtime_patches: list[RuntimePatch] | None = Field(None, max_length=16)
    """Changes of the runtime for this job alone, one entry for each manager. Default: none."""
    suspend: Annotated[bool, absent(False)] = False
    """Whether the job waits until somebody resumes it. Queues do this by themselves. Default: `false`."""
    active_deadline_seconds: Int64 | None = None
    """After how many seconds the job fails, at least 1. Default: never. Example: `86400`."""
    managed_by: Annotated[str, absent(CONTROLLER)] = Field(CONTROLLER, max_length=253)
    """Who runs the job; `kueue.x-k8s.io/multikueue` hands it to another cluster.
    Default: `trainer.kubeflow.org/trainjob-controller`."""


class TrainJob(Resource):
    """A training job."""

    spec: TrainJobSpec
    """What to train, on which runtime."""
