"""Both kinds of runtime, as in upstream's pkg/apis/trainer/v1alpha1/trainingruntime_types.go."""

from typing import Annotated, Literal

from pydantic import Field

from trainform.api.base import EmbeddedMetadata, Int32, Kube, Model, Resource, absent
from trainform.k8s.tree import Tree


class EnvInjectionTarget(Model):
    """Containers of one replicated job that get torch's variables beside the main container."""

    job_name: str = Field(min_length=1)
    """The replicated job. Example: `node`."""
    container_names: list[str] = Field(min_length=1)
    """Its containers, at least one. Example: `[logger]`."""


class EnvInjection(Model):
    """Who else needs the rendezvous variables: sidecars and init containers."""

    targets: list[EnvInjectionTarget] | None = None
    """The containers, by replicated job. Default: none. Example: `[{jobName: node, containerNames: [logger]}]`."""


class TorchPolicy(Model):
    """torchrun; the number of processes stands in the TrainJob."""

    env_injection: EnvInjection | None = None
    """Sidecars and init containers that also get torch's variables. Default: none."""


class MpiPolicy(Model):
    """mpirun over SSH."""

    num_proc_per_node: Annotated[Int32, absent(1)] = 1
    """The number of processes (slots) on each node; with 1, that of its GPUs if there are more. Default: `1`.
    Example: `8`."""
    mpi_implementation: Annotated[Literal["OpenMPI", ""], absent("OpenMPI")] = "OpenMPI"
    """The implementation of MPI; there is only one. Default: `OpenMPI`."""
    ssh_auth_mount_path: Annotated[str, absent("/root/.ssh")] = Field("/root/.ssh", max_length=4096)
    """The folder where the SSH keys are mounted. Default: `/root/.ssh`. Example: `/home/mpiuser/.ssh`."""
    run_launcher_as_node: Annotated[bool, absent(False)] = False
    """Whether the launcher is one of the nodes that train. Default: `false`."""


class FluxPolicy(Model):
    """A Flux cluster inside the job."""

    num_proc_per_node: Annotated[Int32, absent(1)] = 1
    """The number of processes on each node. Default: `1`. Example: `8`."""


class EmptyPolicy(Model):
    """A framework without settings: its presence is the setting."""


class MlPolicy(Model):
    """At most one framework, and how many nodes it gets unless the job says otherwise."""

    num_nodes: Int32 | None = None
    """The number of nodes of jobs that do not say theirs, at least 1. Default: as many as the template has.
    Example: `2`."""
    torch: TorchPolicy | None = None
    """PyTorch, started by torchrun. Default: none. Example: `{}`."""
    mpi: MpiPolicy | None = None
    """MPI over SSH. Default: none. Example: `{runLauncherAsNode: true}`."""
    jax: EmptyPolicy | None = None
    """JAX; its presence is the setting. Default: none. Example: `{}`."""
    xgboost: EmptyPolicy | None = None
    """XGBoost; its presence is the setting. Default: none. Example: `{}`."""
    flux: FluxPolicy | None = None
    """MPI under Flux. Default: none. Example: `{}`."""


FRAMEWORKS = ("torch", "mpi", "jax", "xgboost", "flux")
"""The members of `mlPolicy` of which at most one may stand."""


class CoschedulingPolicy(Model):
    """A PodGroup of the scheduler-plugins project."""

    schedule_timeout_seconds: Annotated[Int32, absent(60)] = 60
    """How long a gang may wait for its last pod, in seconds. Default: `60`. Example: `120`."""


class VolcanoPolicy(Model):
    """A PodGroup of Volcano."""

    network_topology: Annotated[Tree, Kube("NetworkTopologySpec")] | None = None
    """How far apart the pods of a gang may stand. Default: anywhere.
    Example: `{mode: hard, highestTierAllowed: 2}`."""


class PodGroupPolicy(Model):
    """Gang scheduling."""

    coscheduling: CoschedulingPolicy | None = None
    """A PodGroup of the scheduler-plugins project. Default: none. Example: `{scheduleTimeoutSeconds: 120}`."""
    volcano: VolcanoPolicy | None = None
    """A PodGroup of Volcano. Default: none. Example: `{}`."""


class JobSetTemplate(Model):
    """The JobSet that a job becomes: labels and annotations, and a plain `JobSetSpec`."""

    metadata: EmbeddedMetadata | None = None
    """Labels and annotations of the JobSet. Default: none. Example: `{labels: {team: vision}}`."""
    spec: Annotated[Tree, Kube("JobSetSpec")] | None = None
    """The JobSet: replicated jobs with their pods. Default: none, which no job can run on."""


class RuntimeSpec(Model):
    """How jobs of this runtime train."""

    ml_policy: MlPolicy | None = None
    """The framework, at most one, and its number of nodes. Default: none, for plain pods.
    Example: `{numNodes: 1, torch: {}}`."""
    pod_group_policy: PodGroupPolicy | None = None
    """Gang scheduling, by at most one scheduler: pods start together or not at all. Default: none.
    Example: `{coscheduling: {}}`."""
    template: JobSetTemplate | None = None
    """The JobSet that a job becomes. Default: none, which no job can run on."""


class Runtime(Resource):
    """A TrainingRuntime or ClusterTrainingRuntime; `kind` says which."""

    spec: RuntimeSpec
    """How jobs of this runtime train."""
