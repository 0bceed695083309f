"""Whether an answer of ours equals the controller's, deviations aside."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

Tree = dict[str, Any]

ALIASES = {
    "spec.RuntimeRef": "spec.runtimeRef",
}
"""Fields that upstream misspells."""

NO_FIELD = ("", "<nil>")
"""What upstream says where a rule belongs to the whole object: any error answers it."""

TORCH = tuple(f"PET_{name}" for name in ("NNODES", "NPROC_PER_NODE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT"))
OMPI = "OMPI_MCA_orte_set_default_slots"
VARIABLES = {
    "D03": {"PET_NPROC_PER_NODE", OMPI, "DMLC_NUM_WORKER"},
    "D08": {
        *TORCH,
        *(f"JAX_{name}" for name in ("NUM_PROCESSES", "PROCESS_ID", "COORDINATOR_ADDRESS")),
        *(f"DMLC_{name}" for name in ("TRACKER_URI", "TRACKER_PORT", "TASK_ID", "NUM_WORKER")),
    },
    "D09": {"PET_NPROC_PER_NODE", OMPI, "DMLC_NUM_WORKER"},
    "D17": {"PET_MASTER_ADDR", "JAX_COORDINATOR_ADDRESS", "DMLC_TRACKER_URI"},
}

HIDDEN_BY = {"D03": {"D09"}, "D09": {"D03"}, "D18": {"D07", "D19"}, "D19": {"D07"}}
"""Deviations that change the same number: with the others masked, the one cannot be seen any more."""

QUEUE_KEYS = (
    "kueue.x-k8s.io/queue-name",
    "kueue.x-k8s.io/priority-class",
    "kueue.x-k8s.io/max-exec-time-seconds",
    "kai.scheduler/queue",
    "scheduling.volcano.sh/queue-name",
)


def normalised(objects: list[Tree]) -> dict[str, Tree]:
    """Objects by kind, in the form in which two answers are compared."""
    kept = [o for o in objects if o["kind"] != "Secret"]
    return {o["kind"]: _normal(deepcopy(o)) for o in kept}


def _normal(tree: Tree) -> Tree:
    tree["metadata"].pop("ownerReferences", None)
    if tree.get("spec", {}).get("suspend") is False:
        del tree["spec"]["suspend"]
    if tree["metadata"]["name"].endswith("-flux-entrypoint"):  # the scripts are our own
        tree["data"] = dict.fromkeys(tree["data"], "<script>")
    normal: Tree = _without_empty(tree)
    return normal


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        pairs = ((k, _without_empty(v)) for k, v in value.items() if k != "status")
        return {k: v for k, v in pairs if v not in ({}, [], None)}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value


def masked(objects: dict[str, Tree], deviations: list[str]) -> dict[str, Tree]:
    """The objects without what the given deviations change."""
    objects = deepcopy(objects)
    for deviation in deviations:
        _mask(objects, deviation)
    return {kind: _without_empty(tree) for kind, tree in objects.items()}


def all_but(deviations: list[str], deviation: str) -> list[str]:
    """The other deviations, without those that would hide this one."""
    hiding = {deviation, *HIDDEN_BY.get(deviation, ())}
    return [other for other in deviations if other not in hiding]


def _mask(objects: dict[str, Tree], deviation: str) -> None:
    jobset = objects.get("JobSet", {"metadata": {}, "spec": {}})
    pod_group = objects.get("PodGroup", {"spec": {}})
    names = VARIABLES.get(deviation, set())
    for job in jobset["spec"].get("replicatedJobs", []):
        for container in _containers(job):
            container["env"] = [e for e in container.get("env", []) if e["name"] not in names]
            if deviation in ("D01", "D08"):
                container.pop("ports", None)
            if deviation in ("D03", "D09") and container.get("command", [])[:2] == ["tune", "run"]:
                container["command"] = [word for word in container["command"] if word[:2] != "--" and "=" in word]
            if deviation == "D17":
                command = container.get("command", [])
                container["command"] = [word for word in command if not word.startswith("--rdzv_endpoint=")]
            if deviation == "D21":
                container.get("resources", {}).pop("claims", None)
        if deviation == "D05":
            _pod_spec(job).pop("volumes", None)
        if deviation == "D07" and job["name"] in ("launcher", "node"):
            for field in ("parallelism", "completions"):
                job["template"]["spec"].pop(field, None)
        if deviation == "D13":
            job["template"]["spec"].pop("activeDeadlineSeconds", None)
    if deviation == "D13":
        jobset["spec"].pop("failurePolicy", None)
    if deviation == "D12":
        for key in QUEUE_KEYS:
            jobset["metadata"].get("labels", {}).pop(key, None)
            jobset["metadata"].get("annotations", {}).pop(key, None)
        pod_group["spec"].pop("queue", None)
    if deviation == "D14":
        jobset["spec"].pop("managedBy", None)
    if deviation in ("D07", "D15", "D18", "D19"):
        pod_group["spec"].pop("minResources", None)
    if deviation in ("D07", "D19"):
        pod_group["spec"].pop("minMember", None)
    data = objects.get("ConfigMap", {}).get("data", {})
    if "hostfile" in data:
        data["hostfile"] = _mask_hostfile(data["hostfile"], deviation)
    elif deviation in ("D03", "D09", "D17"):
        objects.pop("ConfigMap", None)


def _mask_hostfile(text: str, deviation: str) -> str:
    """Without the slots of each host, or (one launcher instead of several) without the hosts."""
    lines = [line.split(" slots=") for line in text.splitlines()]
    if deviation in ("D03", "D09"):
        return "\n".join(host for host, *_ in lines)
    if deviation == "D07":
        return "\n".join(sorted({slots for _, *rest in lines for slots in rest}))
    return text


def _pod_spec(job: Tree) -> Tree:
    spec: Tree = job["template"]["spec"]["template"]["spec"]
    return spec


def _containers(job: Tree) -> list[Tree]:
    spec = _pod_spec(job)
    return [*spec.get("initContainers", []), *spec.get("containers", [])]


def same_field(ours: str, theirs: str) -> bool:
    """Whether an error of ours speaks of the element that upstream names."""
    theirs = ALIASES.get(theirs, theirs)
    if theirs in NO_FIELD:
        return True
    if theirs == "spec.runtimePatches.manager":  # upstream leaves out the index
        return re.fullmatch(r"spec\.runtimePatches\[\d+\]\.manager", ours) is not None
    if theirs == "spec.runtimeRef":  # a missing runtime is told at the name
        return ours in ("spec.runtimeRef", "spec.runtimeRef.name", "spec.runtimeRef.kind")
    return ours == theirs
