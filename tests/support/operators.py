"""The pods that the Training Operator and the MPI Operator make of a job, and those that a JobSet makes, one by one.

Written from the operators' own sources (kubeflow/training-operator release 1.9, kubeflow/mpi-operator), apart from what
`trainform migrate` does: tests compare both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Tree = dict[str, Any]

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
GLOBAL = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"

REPLICAS = {
    "PyTorchJob": ("pytorchReplicaSpecs", "pytorch", "OnFailure", ("Master", "Worker")),
    "TFJob": ("tfReplicaSpecs", "tensorflow", "Never", ("Chief", "Master", "Worker", "PS", "Evaluator")),
    "XGBoostJob": ("xgbReplicaSpecs", "xgboost", "Never", ("Master", "Worker")),
    "JAXJob": ("jaxReplicaSpecs", "jax", "Never", ("Worker",)),
    "PaddleJob": ("paddleReplicaSpecs", "paddle", "OnFailure", ("Master", "Worker")),
    "MPIJob": ("mpiReplicaSpecs", "", "Never", ("Worker", "Launcher")),
}
PORTS = {
    "PyTorchJob": ("pytorchjob-port", 23456),
    "TFJob": ("tfjob-port", 2222),
    "XGBoostJob": ("xgboostjob-port", 9999),
    "JAXJob": ("jaxjob-port", 6666),
    "PaddleJob": ("master", 36543),
}


@dataclass
class Pod:
    """A pod: `host` by which the others reach it, its template, and the main container with its variables, references
    to fields resolved."""

    host: str
    restart: str
    spec: Tree
    metadata: Tree
    main: Tree
    env: dict[str, Any] = field(default_factory=dict)
    role: str = ""
    index: int = 0


def operators_pods(job: Tree) -> list[Pod]:
    """The pods of an old job, in the order of its roles."""
    kind = job["kind"]
    key, container, default, order = REPLICAS[kind]
    given = {name.lower(): replica for name, replica in job["spec"][key].items()}
    pods = []
    for role in (role for role in order if role.lower() in given):
        replica = given[role.lower()]
        wanted = job["spec"].get("mainContainer", container)
        containers = replica["template"]["spec"]["containers"]
        main = next((each for each in containers if each["name"] == wanted), containers[0])
        is_job = role == "Launcher" and job["apiVersion"] == "kubeflow.org/v2beta1"
        for index in range(replica.get("replicas", 0 if (kind, role) == ("MPIJob", "Worker") else 1)):
            pods.append(
                Pod(
                    host=f"{job['metadata']['name']}-{role.lower()}-{index}",
                    restart=replica.get("restartPolicy", "OnFailure" if is_job else default),
                    spec=replica["template"]["spec"],
                    metadata=replica["template"].get("metadata") or {},
                    main=main,
                    env=_written(main),
                    role=role,
                    index=index,
                )
            )
    for rank, pod in enumerate(pods):
        pod.env |= {name: str(value) for name, value in _set_by_operator(job, pods, pod, rank)}
    return pods


def _written(container: Tree) -> dict[str, Any]:
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in container.get("env") or ()}


def _port(kind: str, pod: Pod) -> int:
    name, default = PORTS[kind]
    return next((port["containerPort"] for port in pod.main.get("ports", ()) if port.get("name") == name), default)


Told = Iterator[tuple[str, object]]
"""Names and values of variables."""


def _set_by_operator(job: Tree, pods: list[Pod], pod: Pod, rank: int) -> Told:
    if job["kind"] not in ("MPIJob", "TFJob"):
        yield "PYTHONUNBUFFERED", 1
    yield from _VARIABLES[job["kind"]](job, pods, pod, rank)


def _mpi(job: Tree, pods: list[Pod], pod: Pod, rank: int) -> Told:
    if job["apiVersion"].endswith("v2beta1"):
        yield "K_MPI_JOB_ROLE", pod.role.lower()
    if pod.role == "Launcher" and not job["spec"].get("runLauncherAsWorker"):
        yield from (("NVIDIA_VISIBLE_DEVICES", ""), ("NVIDIA_DRIVER_CAPABILITIES", ""))


def _tensorflow(job: Tree, pods: list[Pod], pod: Pod, rank: int) -> Told:
    yield from _tf_config(pods, pod) if len(pods) > 1 else ()


def _torch(job: Tree, pods: list[Pod], pod: Pod, rank: int) -> Told:
    spec, first, total = job["spec"], pods[0], len(pods)
    elastic = spec.get("elasticPolicy") or {}
    each = spec.get("nprocPerNode") or elastic.get("nProcPerNode") or "auto"
    if first.role == "Master":
        yield from (("MASTER_ADDR", first.host), ("MASTER_PORT", _port("PyTorchJob", first)), ("RANK", rank))
        yield from (("WORLD_SIZE", total * (1 if each == "auto" else int(each))), ("PET_NODE_RANK", rank))
        yield "PET_NPROC_PER_NODE", each
    yield "PET_NNODES", total
    if "maxRestarts" in elastic:
        yield "PET_MAX_RESTARTS", elastic["maxRestarts"]
    if elastic:
        meeting = next(each for each in pods if each.role == "Worker")
        port = elastic.get("rdzvPort", _port("PyTorchJob", meeting))
        yield "PET_RDZV_ENDPOINT", f"{elastic.get('rdzvHost', meeting.host)}:{port}"
        yield "PET_RDZV_BACKEND", elastic.get("rdzvBackend", "c10d")
    if "rdzvId" in elastic:
        yield "PET_RDZV_ID", elastic["rdzvId"]
    if "rdzvConf" in elastic:
        yield "PET_RDZV_CONF", ",".join(f"{each['key']}={each['value']}" for each in elastic["rdzvConf"])


def _xgboost(job: Tree, pods: list[Pod], pod: Pod, rank: int) -> Told:
    port = _port("XGBoostJob", pods[0])
    yield from (("MASTER_ADDR", pods[0].host), ("MASTER_PORT", port), ("WORLD_SIZE", len(pods)), ("RANK", rank))
    workers = [each for each in pods if each.role == "Worker"]
    if workers:
        yield "WORKER_PORT", _port("XGBoostJob", workers[0])
        yield "WORKER_ADDRS", ",".join(each.host for each in workers)


def _jax(job: Tree, pods: list[Pod], pod: Pod, rank: int) -> Told:
    yield from (("COORDINATOR_ADDRESS", pods[0].host), ("COORDINATOR_PORT", _port("JAXJob", pods[0])))
    yield from (("NUM_PROCESSES", len(pods)), ("PROCESS_ID", rank))


def _paddle(job: Tree, pods: list[Pod], pod: Pod, rank: int) -> Told:
    port = _port("PaddleJob", pods[0])
    yield from (("PADDLE_JOB_ID", job["metadata"]["name"]), ("PADDLE_NNODES", len(pods)))
    yield "PADDLE_MASTER", f"<its address>:{port}" if rank == 0 else f"{pods[0].host}:{port}"
    if pods[0].role == "Master":
        yield "PADDLE_SERVER_NUM" if pod.role == "Master" else "PADDLE_TRAINER_NUM", 1


_VARIABLES: dict[str, Callable[[Tree, list[Pod], Pod, int], Told]] = {
    "MPIJob": _mpi,
    "TFJob": _tensorflow,
    "PyTorchJob": _torch,
    "XGBoostJob": _xgboost,
    "JAXJob": _jax,
    "PaddleJob": _paddle,
}


def _tf_config(pods: list[Pod], pod: Pod) -> Told:
    cluster: dict[str, list[str]] = {}
    for each in pods:
        if each.role != "Evaluator":
            cluster.setdefault(each.role.lower(), []).append(f"{each.host}:{_port('TFJob', each)}")
    task = {"type": pod.role.lower(), "index": pod.index}
    yield "TF_CONFIG", json.dumps({"cluster": cluster, "task": task, "environment": "cloud"}, sort_keys=True)


def jobsets_pods(jobset: Tree) -> list[Pod]:
    """The pods of a JobSet, in its order, with their variables as a container sees them."""
    name, pods, number = jobset["metadata"]["name"], [], 0
    for group in jobset["spec"]["replicatedJobs"]:
        job = group["template"]["spec"]
        pod = job["template"]
        main = next(each for each in pod["spec"]["containers"] if each["name"] == "node")
        for replica in range(group["replicas"]):
            for index in range(job["parallelism"]):
                pods.append(
                    Pod(
                        host=f"{name}-{group['name']}-{replica}-{index}.{name}",
                        restart=pod["spec"]["restartPolicy"],
                        spec=pod["spec"],
                        metadata=pod.get("metadata") or {},
                        main=main,
                        env=_seen(main, {INDEX: str(index), GLOBAL: str(number), "status.podIP": "<its address>"}),
                        role=group["name"],
                        index=index,
                    )
                )
            number += 1
    return pods


def _seen(container: Tree, fields: dict[str, str]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for each in container.get("env") or ():
        value = each.get("value", each.get("valueFrom", ""))
        if isinstance(value, dict) and (path := value.get("fieldRef", {}).get("fieldPath")) in fields:
            value = fields[path]
        elif isinstance(value, str):
            value = re.sub(r"\$\((\w+)\)", lambda match: str(seen.get(match[1], match[0])), value)
        seen[each["name"]] = value
    if "TF_CONFIG" in seen:
        seen["TF_CONFIG"] = json.dumps(json.loads(seen["TF_CONFIG"]), sort_keys=True)
    return seen


def renamed(value: Any, old: list[Pod], new: list[Pod]) -> Any:
    """A tree with the old pods' host names replaced by the new ones'. The MPI Operator's hosts have a domain."""
    if isinstance(value, dict):
        return {key: renamed(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [renamed(each, old, new) for each in value]
    if isinstance(value, str):
        for before, after in zip(old, new, strict=True):
            job = after.host.rpartition(".")[2]
            value = re.sub(rf"\b{before.host}(\.{job}\b)?(?![\w-])", after.host, value)
    return value
