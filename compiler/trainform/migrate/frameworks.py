"""Each old kind as a `Target`: its pods, their ranks, and the variables that its operator sets.

Source: kubeflow/training-operator `pkg/controller.v1`, release 1.9, and kubeflow/mpi-operator `pkg/controller`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from trainform.core.jobset_view import NODE_CONTAINER
from trainform.k8s.tree import Tree, number, sequence, table, tables, text, texts
from trainform.migrate.old import OldJob, Replica, is_count
from trainform.migrate.target import (
    ELASTIC_BACKEND,
    GLOBAL_INDEX,
    RolePods,
    Target,
    field_variable,
    index_variable,
    variable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNBUFFERED = variable("PYTHONUNBUFFERED", 1)
TORCHRUN = re.compile(r"\btorchrun\b|\btorch\.distributed\.(?:run|launch)\b")
RENDEZVOUS = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")
ELASTIC_FLAG = re.compile(r"--rdzv[-_]|\bPET_RDZV_")
"""How a program refers to the rendezvous of an elastic job: by flags of torchrun, or by variables."""


def target_of(job: OldJob) -> Target:
    """What the job becomes. Tells what its framework cannot have any more."""
    return _TARGETS[job.kind.name](job)


def _alike(job: OldJob) -> bool:
    """Whether all pods come from one template, so that they can be the pods of one Job."""
    first, *others = job.replicas.values()
    same = all(_without_ports(each) == _without_ports(first) and each.restart == first.restart for each in others)
    if not same:
        names = " and ".join(job.replicas)
        message = f"the pods of {names} differ, so each role is a replicated job of a plain runtime"
        hint = "to use the framework's own runtime and change numNodes at will, make their templates alike"
        job.tell("TF851", others[0].path, message, hint, "info")
    return same


def _without_ports(replica: Replica) -> Tree:
    """The template without ports, which only tell: a port need not be listed to be reached."""
    containers = [
        {key: value for key, value in each.items() if key != "ports"} for each in tables(replica.pod_spec, "containers")
    ]
    return {**replica.template, "spec": {**replica.pod_spec, "containers": containers}}


def _torch(job: OldJob) -> Target:
    processes = _processes(job)
    has_master = "Master" in job.replicas
    first = next(iter(job.replicas.values()))
    world = job.total * (processes or 1)
    port = job.port(first.role)
    own = [UNBUFFERED, *_max_restarts(job)]
    if _alike(job):
        node = RolePods(NODE_CONTAINER, first, job.total, own)
        own += _elastic(job, node.host(job.name))
        if has_master and _reads_rendezvous(first):
            ranks = _rendezvous(node.host(job.name), port, world, index_variable("RANK"))
            node = node._replace(variables=[*own, *ranks])
        return Target(groups=[node], nodes=job.total, framework="torch", processes=processes)
    host = RolePods(NODE_CONTAINER, first, 1, []).host(job.name)
    shared = [
        *own,
        *_elastic(job, host),
        variable("PET_NNODES", job.total),
        variable("PET_NPROC_PER_NODE", processes or "auto"),
        variable("PET_MASTER_ADDR", host),
        variable("PET_MASTER_PORT", port),
    ]

    def ranked(rank: Tree) -> list[Tree]:
        return [*shared, {**rank, "name": "PET_NODE_RANK"}, *_rendezvous(host, port, world, rank)]

    return _first_and_others(job, ranked)


def _first_and_others(job: OldJob, variables: Callable[[Tree], list[Tree]]) -> Target:
    """A replicated job for each of two roles; pods are ranked through both. The job is done when the first one is."""
    first, *others = job.replicas.values()
    told = variables(field_variable("RANK", GLOBAL_INDEX))
    groups = [RolePods(NODE_CONTAINER, first, first.pods, told)]
    groups += [RolePods(other.role.lower(), other, other.pods, told, apart=True) for other in others]
    return Target(groups=groups, nodes=first.pods, jobset=_done_with(NODE_CONTAINER))


def _done_with(group: str) -> Tree:
    return {"successPolicy": {"operator": "All", "targetReplicatedJobs": [group]}}


def _rendezvous(host: str, port: int, world: int, rank: Tree) -> list[Tree]:
    return [
        variable("MASTER_ADDR", host),
        variable("MASTER_PORT", port),
        variable("WORLD_SIZE", world),
        rank,
    ]


def _reads_rendezvous(replica: Replica) -> bool:
    """Whether the program may read the rendezvous itself: torchrun sets its own for the processes that it starts."""
    for line in _command_lines(replica):
        if TORCHRUN.search(line) and not any(re.search(rf"\$[{{(]?{name}\b", line) for name in RENDEZVOUS):
            return False
    return True


def _command_lines(replica: Replica) -> Iterator[str]:
    """What each container runs, with the values of its variables, which may hold flags."""
    for container in tables(replica.pod_spec, "containers"):
        words = [*texts(container, "command"), *texts(container, "args")]
        yield " ".join([*words, *(text(each, "value") for each in tables(container, "env"))])


def _elastic(job: OldJob, first_host: str) -> list[Tree]:
    """The variables of an elastic job's rendezvous, for a program that refers to it: torchrun takes from them what its
    flags leave out, such as the endpoint. Any other program meets as the Trainer's do."""
    policy = job.spec.get("elasticPolicy")
    lines = (line for replica in job.replicas.values() for line in _command_lines(replica))
    if not isinstance(policy, dict) or not any(ELASTIC_FLAG.search(line) for line in lines):
        return []
    named = text(policy, "rdzvHost")
    host = named if named and not named.startswith(f"{job.name}-") else first_host
    port = number(policy, "rdzvPort") or job.port("Worker" if "Worker" in job.replicas else "Master")
    settings = ",".join(f"{text(each, 'key')}={text(each, 'value')}" for each in tables(policy, "rdzvConf"))
    values = {
        "PET_RDZV_ENDPOINT": f"{host}:{port}",
        ELASTIC_BACKEND: text(policy, "rdzvBackend") or "c10d",
        "PET_RDZV_ID": text(policy, "rdzvId"),
        "PET_RDZV_CONF": settings,
    }
    return [variable(name, value) for name, value in values.items() if value]


def _processes(job: OldJob) -> int | None:
    """Processes per node; None leaves it to the number of GPUs, which the operator called `auto`."""
    elastic = table(job.spec, "elasticPolicy")
    value = job.spec.get("nprocPerNode") or elastic.get("nProcPerNode")
    path = ("spec", "nprocPerNode") if job.spec.get("nprocPerNode") else ("spec", "elasticPolicy", "nProcPerNode")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and is_count(value):
        return int(value)
    if value not in (None, "auto", "gpu"):
        message = f"{value} is no number of processes: with GPUs there is one for each, else one for each CPU requested"
        job.tell("TF853", path, message, "write spec.trainer.numProcPerNode in the TrainJob")
    return None


def _max_restarts(job: OldJob) -> list[Tree]:
    most = number(table(job.spec, "elasticPolicy"), "maxRestarts")
    return [] if most is None else [variable("PET_MAX_RESTARTS", most)]


def _jax(job: OldJob) -> Target:
    worker = job.replicas["Worker"]
    node = RolePods(NODE_CONTAINER, worker, worker.pods, [])
    variables = [
        UNBUFFERED,
        variable("COORDINATOR_ADDRESS", node.host(job.name)),
        variable("COORDINATOR_PORT", job.port("Worker")),
        variable("NUM_PROCESSES", worker.pods),
        index_variable("PROCESS_ID"),
    ]
    return Target(groups=[node._replace(variables=variables)], nodes=worker.pods, framework="jax")


def _xgboost(job: OldJob) -> Target:
    first = next(iter(job.replicas.values()))
    alike = _alike(job)
    node = RolePods(NODE_CONTAINER, first, job.total, [])
    workers = job.replicas.get("Worker")
    hosts = [node.host(job.name, index) for index in range(first.pods, job.total)]
    if workers and not alike:
        apart = RolePods("worker", workers, workers.pods, [], apart=True)
        hosts = [apart.host(job.name, index) for index in range(workers.pods)]
    port = job.port(first.role)

    def variables(rank: Tree) -> list[Tree]:
        told = [UNBUFFERED, *_rendezvous(node.host(job.name), port, job.total, rank)]
        if workers:  # for LightGBM
            told += [variable("WORKER_PORT", job.port("Worker")), variable("WORKER_ADDRS", ",".join(hosts))]
        return told

    if alike:
        groups = [node._replace(variables=variables(index_variable("RANK")))]
        return Target(groups=groups, nodes=job.total, framework="xgboost")
    return _first_and_others(job, variables)


def _paddle(job: OldJob) -> Target:
    """The first pod must know itself by its address: paddle's launcher compares it with that of the machine."""
    first, *others = job.replicas.values()
    has_servers = first.role == "Master" and bool(others)
    port = job.port(first.role)
    rest = others[0] if others else first
    waiting = rest.pods if others else first.pods - 1
    host = RolePods(NODE_CONTAINER, first, 1, []).host(job.name)
    shared = [UNBUFFERED, variable("PADDLE_JOB_ID", job.name), variable("PADDLE_NNODES", job.total)]
    first_ones = [
        *shared,
        field_variable("POD_IP_DUMMY", "status.podIP"),
        variable("PADDLE_MASTER", f"$(POD_IP_DUMMY):{port}"),
        *([variable("PADDLE_SERVER_NUM", 1)] if first.role == "Master" else ()),
    ]
    theirs = [
        *shared,
        variable("PADDLE_MASTER", f"{host}:{port}"),
        *([variable("PADDLE_TRAINER_NUM", 1)] if has_servers else ()),
    ]
    leading = first.pods if others else 1
    groups = [RolePods(NODE_CONTAINER, first, leading, first_ones)]
    if waiting:
        groups.append(RolePods("worker", rest, waiting, theirs))
    return Target(groups=groups, nodes=leading, jobset=_done_with(NODE_CONTAINER) if has_servers else {})


def _tensorflow(job: OldJob) -> Target:
    chief = next((role for role in ("Chief", "Master", "Worker", "PS") if role in job.replicas), "Evaluator")
    roles = [chief, *(role for role in job.replicas if role != chief)]
    groups = []
    for role in roles:
        replica = job.replicas[role]
        groups.append(RolePods(NODE_CONTAINER if role == chief else role.lower(), replica, replica.pods, []))
    cluster = {
        group.replica.role.lower(): [
            f"{group.host(job.name, index)}:{job.port(group.replica.role)}" for index in range(group.pods)
        ]
        for group in groups
        if group.replica.role != "Evaluator"
    }
    if job.total > 1:
        groups = [group._replace(variables=_tf_config(cluster, group.replica.role.lower())) for group in groups]
    if job.spec.get("enableDynamicWorker"):
        message = "workers cannot come and go: TF_CONFIG names those that the TrainJob starts with"
        job.tell("TF852", ("spec", "enableDynamicWorker"), message, "choose the number of workers in the TrainJob")
    if chief == "Worker" and groups[0].pods > 1 and text(job.spec, "successPolicy") != "AllWorkers":
        groups[0] = groups[0]._replace(first_decides=True)
    jobset = _done_with(NODE_CONTAINER) if len(groups) > 1 else {}
    return Target(groups=groups, nodes=groups[0].pods, jobset=jobset)


def _tf_config(cluster: dict[str, list[str]], task: str) -> list[Tree]:
    """Kubernetes fills in the number of the pod."""
    marker = "$(TF_TASK_INDEX)"
    told = {"cluster": cluster, "task": {"type": task, "index": marker}, "environment": "cloud"}
    value = json.dumps(told, separators=(",", ":")).replace(f'"{marker}"', marker)
    return [index_variable("TF_TASK_INDEX"), variable("TF_CONFIG", value)]


SSHD = ["/usr/sbin/sshd", "-De"]
NO_GPU = [variable("NVIDIA_VISIBLE_DEVICES", ""), variable("NVIDIA_DRIVER_CAPABILITIES", "")]


def _mpi(job: OldJob) -> Target:
    launcher, worker = job.replicas.get("Launcher"), job.replicas.get("Worker")
    if launcher is None:
        job.refuse(("spec", job.kind.replicas), "the job has no Launcher", "write one: it runs mpirun")
        launcher = next(iter(job.replicas.values()))
    _tell_of_mpi(job)
    as_node = job.spec.get("runLauncherAsWorker") is True
    theirs, ours = [variable("K_MPI_JOB_ROLE", "worker")], [variable("K_MPI_JOB_ROLE", "launcher")]
    if not job.is_over_ssh:
        theirs, ours = [], []
    if not as_node and (job.is_over_ssh or not _asks_for_gpus(launcher)):
        ours = [*ours, *NO_GPU]
    if worker is None:
        return Target(groups=[RolePods(NODE_CONTAINER, launcher, 1, ours)], nodes=1)
    settings: Tree = {"runLauncherAsNode": True} if as_node else {}
    if folder := text(job.spec, "sshAuthMountPath"):
        settings["sshAuthMountPath"] = folder
    waits = {"dependsOn": [{"name": NODE_CONTAINER, "status": "Ready"}]}
    return Target(
        groups=[
            RolePods(NODE_CONTAINER, _with_sshd(job, worker), worker.pods, [], fixed=theirs),
            RolePods("launcher", launcher, 1, [], fixed=ours, settings=waits),
        ],
        trainer="launcher",
        nodes=worker.pods + as_node,
        framework="mpi",
        settings=settings,
        processes=number(job.spec, "slotsPerWorker") or 1,
        jobset={"network": {"publishNotReadyAddresses": True}, **_done_with("launcher")},
    )


def _with_sshd(job: OldJob, worker: Replica) -> Replica:
    """The workers with what the operator starts in them."""
    containers = tables(worker.pod_spec, "containers")
    main = containers[job.main(worker)] if containers else {}
    if job.is_over_ssh and (main.get("command") or main.get("args")):
        return worker
    if not job.is_over_ssh:
        message = "mpirun reached these pods with `kubectl exec`; now it does by SSH, and they run /usr/sbin/sshd -De"
        hint = "the image needs OpenSSH's server and client, and `StrictHostKeyChecking no` for the client"
        job.tell("TF857", worker.path, message, hint)
    changed = [{**each, "command": SSHD} if each is main else each for each in containers]
    spec = {**worker.pod_spec, "containers": changed}
    return worker._replace(template={**worker.template, "spec": spec})


def _tell_of_mpi(job: OldJob) -> None:
    implementation = text(job.spec, "mpiImplementation")
    if implementation not in ("", "OpenMPI"):
        message = (
            f"the Trainer knows OpenMPI only: it writes the hosts and variables of OpenMPI, not of {implementation}"
        )
        hint = "use an image with OpenMPI, or translate /etc/mpi/hostfile in the launcher's command"
        job.tell("TF856", ("spec", "mpiImplementation"), message, hint)
    for role, replica in job.replicas.items():
        for index, container in enumerate(tables(replica.pod_spec, "containers")):
            words = [*sequence(container.get("command")), *sequence(container.get("args"))]
            if any("discover_hosts.sh" in str(word) for word in words):
                path = (*job.replicas[role].path, "template", "spec", "containers", index)
                message = "there is no discover_hosts.sh: the hosts are fixed, in /etc/mpi/hostfile"
                job.tell("TF852", path, message, "pass a number of processes instead of the script")


def _asks_for_gpus(replica: Replica) -> bool:
    limits = [table(table(each, "resources"), "limits") for each in tables(replica.pod_spec, "containers")]
    return any("gpu" in name for each in limits for name in each)


_TARGETS: dict[str, Callable[[OldJob], Target]] = {
    "torch": _torch,
    "tensorflow": _tensorflow,
    "xgboost": _xgboost,
    "jax": _jax,
    "paddle": _paddle,
    "mpi": _mpi,
}
