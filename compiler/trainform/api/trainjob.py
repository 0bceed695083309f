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
    api_group: Annotated[str, absent("trainer.kubeflow.org")] = Field("trainer.kubeflow.org", max_length=253)
    kind: Annotated[str, absent("ClusterTrainingRuntime")] = Field("ClusterTrainingRuntime", max_length=253)


class SecretRef(Model):
    """A Secret in the job's namespace."""

    name: str | None = None


class StepInitializer(Model):
    """What `initializer.dataset` and `initializer.model` have in common."""

    storage_uri: str | None = Field(None, max_length=2048)
    env: EnvVars | None = Field(None, max_length=128)
    secret_ref: SecretRef | None = None


class Initializer(Model):
    """The steps that fetch a dataset and a model before training starts."""

    dataset: StepInitializer | None = None
    model: StepInitializer | None = None


class TrainerSpec(Model):
    """The training step: what a job sets of the runtime's `node` container."""

    image: str | None = Field(None, max_length=500)
    command: list[Argument] | None = Field(None, max_length=128)
    args: list[Argument] | None = Field(None, max_length=128)
    env: EnvVars | None = Field(None, max_length=128)
    num_nodes: Int32 | None = None
    resources_per_node: Annotated[Tree, Kube("ResourceRequirements")] | None = None
    num_proc_per_node: Int32 | None = None


class RuntimePatch(Model):
    """What one manager changes in the runtime's JobSet template; `time` is for observers only."""

    manager: str = Field(min_length=1, max_length=253)
    time: str | None = None
    training_runtime_spec: Annotated[Tree, Kube("TrainingRuntimeSpecPatch")] | None = None


class TrainJobSpec(Model):
    """What to train, on which runtime."""

    runtime_ref: RuntimeRef
    initializer: Initializer | None = None
    trainer: TrainerSpec | None = None
    runtime_patches: list[RuntimePatch] | None = Field(None, max_length=16)
    suspend: Annotated[bool, absent(False)] = False
    active_deadline_seconds: Int64 | None = None
    managed_by: Annotated[str, absent(CONTROLLER)] = Field(CONTROLLER, max_length=253)


class TrainJob(Resource):
    """A training job."""

    spec: TrainJobSpec
