"""The part of an Environment that says who admits and schedules its jobs: `spec.scheduling`."""

from typing import Annotated, Literal

from pydantic import Field

from trainform.api.base import Int32, Model, absent
from trainform.k8s.labels import KAI_QUEUE_LABEL

Scheduler = Literal["coscheduling", "volcano", "kai", "yunikorn"]


class KaiTopology(Model):
    """KAI's topology-aware scheduling: where the pods of a job may stand, by at least one of two levels."""

    name: str
    """The Topology, by its name in the cluster. Example: `cluster`."""
    required: str | None = None
    """The level, a label of nodes, of which one domain must hold all pods. Default: none.
    Example: `cloud.provider.com/topology-block`."""
    preferred: str | None = None
    """The level of which one domain should hold all pods; wider ones are taken where it cannot. Default: none.
    Example: `cloud.provider.com/topology-rack`."""


class NetworkTopology(Model):
    """Volcano's network topology: how far apart the pods of a gang may stand."""

    mode: Annotated[Literal["hard", "soft"], absent("hard")] = "hard"
    """`hard`: all pods of a gang stand within one HyperNode, or the gang waits. `soft`: as near as there is room.
    Default: `hard`."""
    highest_tier_allowed: Int32 | None = None
    """The highest tier of that HyperNode, at least 0; only for mode `hard`. Default: any. Example: `2`."""


class GangScheduling(Model):
    """Gang scheduling: the pods of a job start together or not at all."""

    scheduler: Literal["none", "coscheduling", "volcano", "kai", "yunikorn"] | None = None
    """The scheduler that holds the gang; `none` says that there is none here. Default: what the runtime's
    `podGroupPolicy` says; a choice of the runtime is never overridden silently. Example: `volcano`."""
    per_stage: Annotated[bool, absent(False)] = False
    """Whether steps that start together, such as the initializers, are a gang of their own. Needed by jobs with
    `dependsOn`, whose later steps do not exist until the first are done. KAI (0.15 or later) makes a gang of each step.
    Default: `false`, one gang of all pods."""
    schedule_timeout_seconds: Int32 | None = None
    """How long a gang may wait for its last pod, in seconds, at least 1; for coscheduling and yunikorn.
    Default: what the runtime says, else the scheduler's own. Example: `120`."""
    style: Literal["Soft", "Hard"] | None = None
    """What yunikorn does with a gang whose time is over (`gangSchedulingStyle`). `Soft`: its pods start one by one as
    there is room. `Hard`: it fails. Default: YuniKorn's own, `Soft`. Example: `Hard`."""
    queue: str | None = None
    """The scheduler's queue (volcano, kai, yunikorn). Default: the scheduler's own. Example: `team-a`."""
    queue_label: Annotated[str, absent(KAI_QUEUE_LABEL)] = KAI_QUEUE_LABEL
    """The label by which KAI finds the queue of a job. Default: `kai.scheduler/queue`."""
    topology: KaiTopology | None = None
    """Where the pods of a job may stand, for kai. Default: anywhere.
    Example: `{name: cluster, required: cloud.provider.com/topology-block}`."""
    network_topology: NetworkTopology | None = None
    """How far apart the pods of a gang may stand, for volcano. Default: what the runtime's `podGroupPolicy` says.
    Example: `{mode: hard, highestTierAllowed: 2}`."""


class TopologySlice(Model):
    """Kueue: pods by the slice, each slice inside one domain of a topology level."""

    required: str
    """The level, a label of nodes, that holds a whole slice. Example: `cloud.provider.com/topology-rack`."""
    size: Int32
    """How many pods make a slice: at least 1, at most the pods of the step. Example: `4`."""


class Topology(Model):
    """Kueue's topology-aware scheduling. At most one of `required`, `preferred` and `unconstrained`."""

    required: str | None = None
    """The level, a label of nodes, of which one domain must hold all pods of a step. Default: none.
    Example: `cloud.provider.com/topology-block`."""
    preferred: str | None = None
    """The level of which one domain should hold all pods; wider ones are taken where it cannot.
    Default: none. Example: `cloud.provider.com/topology-rack`."""
    unconstrained: Annotated[bool, absent(False)] = False
    """Any free place will do, but Kueue counts it node by node. Default: `false`."""
    slice: TopologySlice | None = None
    """Keeps slices of the pods together, within or instead of the above. Default: none.
    Example: `{required: cloud.provider.com/topology-rack, size: 4}`."""
    group: str | None = None
    """Two steps of the same group get the same flavor and domain; one of the two has a single pod. Needs
    `required` or `preferred`, and no `slice`. No number. Default: none. Example: `launcher-and-nodes`."""


class KueueStep(Model):
    """What is different for one replicated job."""

    topology: Annotated[Topology, absent({})] = Field(default_factory=Topology.model_construct)
    """Takes the place of `kueue.topology` for this step; empty means none. Default: `kueue.topology`.
    Example: `{unconstrained: true}`."""


class KueueScheduling(Model):
    """Kueue: quota and queues."""

    local_queue: str | None = None
    """The LocalQueue, in the namespace of each job. Default: none, which leaves jobs to a default queue of
    the cluster, if it has one. Example: `team-a`."""
    priority_class: str | None = None
    """The WorkloadPriorityClass of the jobs. Default: none. Example: `high`."""
    max_exec_time_seconds: Int32 | None = None
    """After how many seconds Kueue stops a job, at least 1. Default: never. Example: `86400`."""
    multi_kueue: Annotated[bool, absent(False)] = False
    """Whether Kueue hands the jobs on to worker clusters. Default: `false`."""
    topology: Annotated[Topology, absent({})] = Field(default_factory=Topology.model_construct)
    """Where the pods of each step may stand. Default: anywhere. Example:
    `{required: cloud.provider.com/topology-rack}`."""
    steps: Annotated[dict[str, KueueStep], absent({})] = Field(default_factory=dict)
    """Settings of single steps, by the name of the replicated job. Default: none.
    Example: `{node: {topology: {preferred: cloud.provider.com/topology-rack}}}`."""


class Scheduling(Model):
    """Who admits and schedules the jobs."""

    gang: GangScheduling | None = None
    """Gang scheduling. Default: what the runtime's `podGroupPolicy` says.
    Example: `{scheduler: kai, queue: a}`."""
    kueue: KueueScheduling | None = None
    """Kueue. Default: jobs carry no queue. Example: `{localQueue: team-a}`."""
