"""The lint about /dev/shm."""

from __future__ import annotations

from trainform.plugin import ReplicatedJob, Tree, gpu_count
from trainform_plugins.lints.finished import Finished

SHARED_MEMORY = "/dev/shm"


def little_shared_memory(job: Finished) -> None:
    """The GPUs of a node, or the processes that share one, exchange data in /dev/shm, which is 64 MiB unless mounted.

    Why: NCCL and data loader workers keep their buffers there, and die with a bus error or "unable to open shared
    memory object" once it is full. Bites: anyone who goes from one GPU per node to several (the classic of PyTorch on
    Kubernetes; the shipped TorchTune runtimes mount it). A memory-backed emptyDir, the node's own /dev/shm, or
    `hostIPC` is fine.
    """
    processes = job.plan.num_proc_per_node or 1
    for pods, node in job.nodes:
        gpus = gpu_count(node.get("resources"))
        if gpus and max(gpus, processes) > 1 and not _has_shared_memory(pods, node):
            job.plan.warn(
                "TF604",
                f"{_users(gpus, processes)} share a pod of {pods.name!r}, but /dev/shm of its container node has only "
                "the default 64 MiB",
                hint=f"mount a volume `emptyDir: {{medium: Memory}}` at /dev/shm in container node of replicated job "
                f"{pods.name!r}, in the runtime or with runtimePatches",
                **job.resources(pods, node),
            )
            return


def _users(gpus: int, processes: int) -> str:
    """Who shares the memory. A process may have one GPU, as with torchrun, or all of them, as with JAX."""
    return f"{gpus} GPUs" if gpus > 1 else f"{processes} processes with one GPU"


def _has_shared_memory(pods: ReplicatedJob, node: Tree) -> bool:
    if pods.pod_spec.get("hostIPC"):
        return True
    mounts = node.get("volumeMounts") or ()
    names = [m.get("name") for m in mounts if m.get("mountPath", "").rstrip("/") == SHARED_MEMORY]
    for volume in pods.pod_spec.get("volumes") or ():
        if volume.get("name") not in names:
            continue
        if (volume.get("emptyDir") or {}).get("medium") == "Memory" or "hostPath" in volume:
            return True
    return False
