"""The policies of an old job: when it ends, how it is cleaned up and scheduled. Each is carried to where the Trainer or
JobSet has it, or told."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.api.trainjob import MULTIKUEUE
from trainform.k8s.tree import Tree, number, table, text

if TYPE_CHECKING:
    from trainform.diagnostics import Path
    from trainform.migrate.old import Fields, OldJob, Replica
    from trainform.migrate.target import Target

RUN: Path = ("spec", "runPolicy")
SCHEDULING: Path = (*RUN, "schedulingPolicy")
ELASTIC: Path = ("spec", "elasticPolicy")

RUN_FIELDS: Fields = {
    "activeDeadlineSeconds": (int,),
    "backoffLimit": (int,),
    "cleanPodPolicy": (str,),
    "managedBy": (str,),
    "schedulingPolicy": (dict,),
    "suspend": (bool,),
    "ttlSecondsAfterFinished": (int,),
}
SCHEDULING_FIELDS: Fields = {
    "minAvailable": (int,),
    "minResources": (dict,),
    "priorityClass": (str,),
    "queue": (str,),
    "scheduleTimeoutSeconds": (int,),
}
RENDEZVOUS_FIELDS: Fields = {
    "rdzvBackend": (str,),
    "rdzvConf": (list,),
    "rdzvHost": (str,),
    "rdzvId": (str,),
    "rdzvPort": (int,),
    "standalone": (bool,),
}
ELASTIC_FIELDS: Fields = {
    "maxReplicas": (int,),
    "maxRestarts": (int,),
    "metrics": (list,),
    "minReplicas": (int,),
    "nProcPerNode": (int,),
    **RENDEZVOUS_FIELDS,
}
SPEC_FIELDS: dict[str, Fields] = {
    "torch": {"elasticPolicy": (dict,), "nprocPerNode": (str, int)},
    "tensorflow": {"enableDynamicWorker": (bool,), "successPolicy": (str,)},
    "paddle": {"elasticPolicy": (dict,)},
    "mpi": {
        "launcherCreationPolicy": (str,),
        "mainContainer": (str,),
        "mpiImplementation": (str,),
        "runLauncherAsWorker": (bool,),
        "slotsPerWorker": (int,),
        "sshAuthMountPath": (str,),
    },
}
"""By the kind's name: fields of `spec` besides the replicas and the run policy."""


def check_fields(job: OldJob) -> None:
    """Report fields that the operator does not have, and values that it would refuse."""
    spec, policy = job.spec, table(job.spec, "runPolicy")
    own: Fields = {"runPolicy": (dict,), job.kind.replicas: (dict,), **SPEC_FIELDS.get(job.kind.name, {})}
    job.check(("spec",), spec, own | RUN_FIELDS)
    job.check(RUN, policy, RUN_FIELDS)
    job.check(path_of(job, "schedulingPolicy"), table(run_policy(job), "schedulingPolicy"), SCHEDULING_FIELDS)
    job.check(ELASTIC, table(spec, "elasticPolicy"), ELASTIC_FIELDS)


V1_OPERATORS = ("kubeflow.org/training-operator", "kubeflow.org/mpi-operator")

QUEUE = "scheduling.volcano.sh/queue-name"
VOLCANO = "volcano"
COSCHEDULING = "scheduler-plugins-scheduler"


class GangPolicy(NamedTuple):
    """A `podGroupPolicy`, Volcano's queue, the priority class of pods without one, and their scheduler; each may be
    empty."""

    policy: Tree
    queue: str = ""
    priority_class: str = ""

    @property
    def scheduler(self) -> str:
        """What the operator wrote into pods that name no scheduler. Any scheduler may run coscheduling."""
        return VOLCANO if VOLCANO in self.policy else ""


def run_policy(job: OldJob) -> Tree:
    """The job's run policy. Some early versions have its fields directly in `spec`."""
    early = {key: value for key, value in job.spec.items() if key in RUN_FIELDS}
    return {**early, **table(job.spec, "runPolicy")}


def path_of(job: OldJob, field: str) -> Path:
    """Where the job has a field of its run policy."""
    return (*RUN, field) if field in table(job.spec, "runPolicy") else ("spec", field)


def fields_of_job(job: OldJob) -> Tree:
    """The fields of a TrainJob's `spec` that follow from the run policy."""
    policy, fields = run_policy(job), Tree()
    if policy.get("suspend") is True:
        fields["suspend"] = True
    if (seconds := number(policy, "activeDeadlineSeconds")) is not None:
        fields["activeDeadlineSeconds"] = seconds
    manager = text(policy, "managedBy")
    if manager == MULTIKUEUE:
        fields["managedBy"] = manager
    elif manager and manager not in V1_OPERATORS:
        job.tell("TF862", path_of(job, "managedBy"), f"a TrainJob cannot be managed by {manager}", "remove it")
    return fields


def fields_of_jobset(job: OldJob) -> Tree:
    """The fields of the JobSet that follow from how the job is cleaned up."""
    policy = run_policy(job)
    kept = text(policy, "cleanPodPolicy")
    path = path_of(job, "cleanPodPolicy")
    if kept == "None":
        message = "pods that still run when the job ends are stopped; those that ended stay, with their logs"
        job.tell("TF855", path, message, "nothing to do, unless a pod must outlive its job", "info")
    elif kept == "All":
        message = "pods that still run when the job ends are stopped, but those that ended stay, with their logs"
        job.tell("TF855", path, message, "to remove them, remove the job: `trainform retire`")
    seconds = number(policy, "ttlSecondsAfterFinished")
    if seconds is None:
        return {}
    message = "a JobSet that deletes itself is created again by Argo CD and Flux, which see that it is missing"
    hint = "under an engine, remove ttlSecondsAfterFinished from the runtime, and jobs with `trainform retire`"
    job.tell("TF855", path_of(job, "ttlSecondsAfterFinished"), message, hint, "info")
    return {"ttlSecondsAfterFinished": seconds}


def gang_of(job: OldJob) -> GangPolicy:
    """How all pods of the job are scheduled together. Which scheduler does so, the old API left to the operator's own
    settings; only Volcano has queues, only coscheduling has timeouts."""
    policy = table(run_policy(job), "schedulingPolicy")
    queue, timeout = text(policy, "queue"), number(policy, "scheduleTimeoutSeconds")
    schedulers = {text(replica.pod_spec, "schedulerName") for replica in job.replicas.values()}
    chosen: Tree = {}
    if queue or VOLCANO in schedulers:
        chosen = {VOLCANO: {}}
        if timeout is not None:
            job.tell("TF858", (*SCHEDULING, "scheduleTimeoutSeconds"), "Volcano has no such timeout", "remove it")
    elif timeout is not None or COSCHEDULING in schedulers:
        chosen = {"coscheduling": {} if timeout is None else {"scheduleTimeoutSeconds": timeout}}
    _tell_of_gang(job, policy, chosen)
    if chosen and text(job.spec, "launcherCreationPolicy") == "WaitForWorkersReady":
        message = "the launcher does not wait for its workers: all pods of a gang start as one"
        hint = "write dependsOn: [{name: node, status: Ready}] in the runtime's launcher, and scheduling.gang with "
        hint += "perStage: true in the Environment"
        job.tell("TF858", ("spec", "launcherCreationPolicy"), message, hint)
    if chosen and text(run_policy(job), "managedBy") == MULTIKUEUE:
        message = "MultiKueue copies the JobSet alone to the cluster where it runs, not the PodGroup of a gang"
        job.tell("TF858", SCHEDULING, message, "Kueue admits the job as a whole: nothing else holds its pods")
        chosen, queue = {}, ""
    return GangPolicy(chosen, queue, text(policy, "priorityClass"))


def _tell_of_gang(job: OldJob, policy: Tree, chosen: Tree) -> None:
    least, path = number(policy, "minAvailable"), (*SCHEDULING, "minAvailable")
    if least is not None and least < job.total:
        message = f"a gang is all {job.total} pods of the job, not {least} of them"
        job.tell("TF858", path, message, "choose as many nodes as the job can always get")
    elif least is not None and not chosen:
        message = "the job does not say which scheduler holds its pods until all have a place"
        job.tell("TF858", path, message, "write scheduling.gang.scheduler in the Environment")
    if policy.get("minResources"):
        message = "the resources of a gang are the sum of what its pods request"
        job.tell("TF858", (*SCHEDULING, "minResources"), message, "remove it", "info")


PERMANENT = [*range(1, 128)]
"""Exit codes that `restartPolicy: ExitCode` takes for an error of the program, which another try would meet again; from
128 on, the container was ended by a signal: out of memory, evicted, drained. Source: kubeflow/training-operator
`pkg/util/train/train_util.go`, IsRetryableExitCode."""


def restarts(job: OldJob, replica: Replica, container: str) -> tuple[Tree, Tree]:
    """The fields of the Job and of its pods that follow from a role's restart policy; `container` is the main one's
    name. A Job's own default is to restart containers, six times."""
    policy = run_policy(job)
    limit = number(policy, "backoffLimit")
    limited: Tree = {} if limit is None else {"backoffLimit": limit}
    path = (*replica.path, "restartPolicy")
    inner = text(replica.pod_spec, "restartPolicy")
    if inner and inner != replica.restart:
        where = (*replica.path, "template", "spec", "restartPolicy")
        message = f"the operator overrides it with the role's restartPolicy, {replica.restart}"
        job.tell("TF854", where, message, "remove it", "info")
    if replica.restart == "Never":
        if job.is_over_ssh and replica.role == "Launcher":  # the MPI Operator makes a Job of it, which retries
            return limited, {"restartPolicy": "Never"}
        if limit:
            message = "without effect on pods that are never restarted: the first that fails ends the job"
            job.tell("TF854", path_of(job, "backoffLimit"), message, "write restartPolicy: OnFailure to retry", "info")
        return {"backoffLimit": 0}, {"restartPolicy": "Never"}
    if replica.restart == "ExitCode":
        rule = {"containerName": container, "operator": "In", "values": PERMANENT}
        rules = {"rules": [{"action": "FailJob", "onExitCodes": rule}]}
        return {**limited, "podFailurePolicy": rules}, {"restartPolicy": "Never"}
    if replica.restart != "OnFailure":
        message = f"a pod of a Job cannot have {replica.restart}: it is restarted when it fails, not when it succeeds"
        job.tell("TF854", path, message, "write OnFailure or Never")
    return limited, {}


def tell_of_elasticity(job: OldJob, target: Target) -> None:
    """Report what the elastic policy has beyond a fixed number of pods."""
    policy = table(job.spec, "elasticPolicy")
    for limit in ("minReplicas", "maxReplicas"):
        if (count := number(policy, limit)) not in (None, job.total):
            message = f"the number of nodes is fixed, at {job.total}; it was {_bound(limit)} {count}"
            job.tell("TF852", (*ELASTIC, limit), message, "choose it with spec.trainer.numNodes of the TrainJob")
    if policy.get("metrics"):
        message = "no autoscaler changes the number of nodes while the job runs"
        job.tell("TF852", (*ELASTIC, "metrics"), message, "choose it with spec.trainer.numNodes of the TrainJob")
    for key in ("standalone",) if target.keeps_rendezvous else RENDEZVOUS_FIELDS:
        if key in policy:
            message = "the rendezvous of torchrun is that of a fixed number of nodes, at the first pod's address"
            job.tell("TF864", (*ELASTIC, key), message, "torchrun needs no rendezvous settings here: remove it", "info")


def _bound(limit: str) -> str:
    return "at least" if limit == "minReplicas" else "at most"
