"""Both kinds of runtime, as in upstream's pkg/apis/trainer/v1alpha1/trainingruntime_types.go."""

from typing import Annotated, Literal

from pydantic import Field

from trainform.api.base import EmbeddedMetadata, Int32, Kube, Model, Resource, absent
from trainform.k8s.tree import Tree


class EnvInjectionTarget(Model):
    """Containers of one replicated job that get torch's variables beside the main container."""

    job_name: str = Field(min_length=1)
    container_names: list[str] = Field(min_length=1)


class EnvInjection(Model):
    """Who else needs the rendezvous variables: sidecars and init containers."""

    targets: list[EnvInjectionTarget] | None = None


class TorchPolicy(Model):
    """torchrun; the number of processes stands in the TrainJob."""

    env_injection: EnvInjection | None = None


class MpiPolicy(Model):
    """mpirun over SSH."""

    num_proc_per_node: Annotated[Int32, absent(1)] = 1
    mpi_implementation: Annotated[Literal["OpenMPI", ""], absent("OpenMPI")] = "OpenMPI"
    ssh_auth_mount_path: Annotated[str, absent("/root/.ssh")] = Field("/root/.ssh", max_length=4096)
    run_launcher_as_node: Annotated[bool, absent(False)] = False


class FluxPolicy(Model):
    """A Flux cluster inside the job."""

    num_proc_per_node: Annotated[Int32, absent(1)] = 1


class EmptyPolicy(Model):
    """A framework without settings: its presence is the setting."""


class MlPolicy(Model):
    """At most one framework, and how many nodes it gets unless the job says otherwise."""

    num_nodes: Int32 | None = None
    torch: TorchPolicy | None = None
    mpi: MpiPolicy | None = None
    jax: EmptyPolicy | None = None
    xgboost: EmptyPolicy | None = None
    flux: FluxPolicy | None = None


FRAMEWORKS = ("torch", "mpi", "jax", "xgboost", "flux")
"""The members of `mlPolicy` of which at most one may stand."""


class CoschedulingPolicy(Model):
    """A PodGroup of the scheduler-plugins project."""

    schedule_timeout_seconds: Annotated[Int32, absent(60)] = 60


class VolcanoPolicy(Model):
    """A PodGroup of Volcano."""

    network_topology: Annotated[Tree, Kube("NetworkTopologySpec")] | None = None


class PodGroupPolicy(Model):
    """Gang scheduling."""

    coscheduling: CoschedulingPolicy | None = None
    volcano: VolcanoPolicy | None = None


class JobSetTemplate(Model):
    """The JobSet that a job becomes: labels and annotations, and a plain `JobSetSpec`."""

    metadata: EmbeddedMetadata | None = None
    spec: Annotated[Tree, Kube("JobSetSpec")] | None = None


class RuntimeSpec(Model):
    """How jobs of this runtime train."""

    ml_policy: MlPolicy | None = None
    pod_group_policy: PodGroupPolicy | None = None
    template: JobSetTemplate | None = None


class Runtime(Resource):
    """A TrainingRuntime or ClusterTrainingRuntime; `kind` says which."""

    spec: RuntimeSpec
