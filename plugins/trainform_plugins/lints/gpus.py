"""Lints about images that disagree with the requested devices."""

from __future__ import annotations

import re
from functools import lru_cache

from trainform.plugin import ReplicatedJob, Tree, gpu_count
from trainform_plugins.lints.devices import processes_of
from trainform_plugins.lints.finished import Finished, values

GPU_WORD = re.compile(r"(?:^|[^a-z])(?:cuda|gpu|rocm|nvcr)")
CPU_WORD = re.compile(r"(?:^|[^a-z])cpu(?:[^a-z]|$)")


def gpu_image_without_gpus(job: Finished) -> None:
    """A GPU job that requests no GPUs gets none, and one process per node.

    Why: the number of processes follows the requested GPUs; older runtimes let torchrun detect them. Bites: anyone who
    moves such a runtime to a newer Trainer, or forgets `resourcesPerNode`: training is slow, and nothing fails
    (NVIDIA/aicr 2280). A GPU image alone is only an info, since people do run it on CPUs. A GPU runtime name, or pods
    sent to GPU nodes, are a warning.
    """
    if not job.nodes or _asks_for_devices(job.jobset.jobs):
        return
    pods, node = job.nodes[0]
    image, runtime = node.get("image") or "", job.plan.runtime.name
    if _device(runtime) == "gpu":
        evidence = f"runtime {runtime} is for GPUs"
    elif _is_sent_to_gpus(pods):
        evidence = "the pods are scheduled to GPU nodes"
    elif _device_of_image(image) == "gpu":
        evidence = f"image {image} is for GPUs"
    else:
        return
    job.plan.report(
        "TF601",
        f"{evidence}, but no GPU is requested{_consequence(values(node))}",
        severity="info" if evidence.startswith("image") else "warning",
        hint="request GPUs, such as resourcesPerNode: {limits: {nvidia.com/gpu: 1}}, unless you want CPUs",
        path=("spec", "trainer", "resourcesPerNode"),
    )


def cpu_image_with_gpus(job: Finished) -> None:
    """An image built for CPUs leaves its GPUs idle.

    Why: PyTorch or JAX without CUDA sees no device, and at best logs that. Bites: anyone who adds GPUs to a job first
    tried on CPUs (the other half of NVIDIA/aicr 2280).
    """
    for pods, node in job.nodes:
        image = node.get("image") or ""
        if _device_of_image(image) == "cpu" and gpu_count(node.get("resources")):
            job.plan.warn(
                "TF602",
                f"image {image} is for CPUs, but GPUs are requested",
                hint="use the GPU build of the image, or request no GPUs",
                **job.trainers(pods, node, "image"),
            )
            return


def _device_of_image(image: str) -> str:
    """From its name and tag; the digest says nothing, and differs for every job."""
    return _device(image.partition("@")[0])


@lru_cache
def _device(name: str) -> str:
    """`gpu` or `cpu`, if the name of an image or runtime contains one."""
    gpu, cpu = GPU_WORD.search(name) is not None, CPU_WORD.search(name) is not None
    return "" if gpu == cpu else "gpu" if gpu else "cpu"


def _asks_for_devices(pods: list[ReplicatedJob]) -> bool:
    for each in pods:
        for container in each.containers:
            if _has_device(container):
                return True
    return False


def _has_device(container: Tree) -> bool:
    """Whether the container requests any device: a GPU, a slice, a TPU, or a resource claim."""
    resources = container.get("resources")
    if not resources:
        return False
    for field in ("limits", "requests"):
        for name in resources.get(field) or ():
            if "/" in name:
                return True
    return bool(resources.get("claims"))


def _is_sent_to_gpus(pods: ReplicatedJob) -> bool:
    spec = pods.pod_spec
    keys = [*(spec.get("nodeSelector") or ()), *(t.get("key", "") for t in spec.get("tolerations") or ())]
    return spec.get("runtimeClassName") == "nvidia" or any("gpu" in key for key in keys)


def _consequence(variables: dict[str, str]) -> str:
    counted = processes_of(variables)
    return f": {counted[0]} is {counted[1]}" if counted else ""
