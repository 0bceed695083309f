"""The lint about ports within a pod."""

from __future__ import annotations

from trainform.plugin import ReplicatedJob, Tree
from trainform_plugins.lints.finished import Finished


def port_used_twice(job: Finished) -> None:
    """The containers of a pod share one network, so two of them cannot listen on the same port.

    Why: the API server only checks a port's number, and the second process to bind it dies. Bites: a sidecar (metrics,
    TensorBoard, a second torchrun) that declares 29500, the port of the frameworks' first pod. Ports of one container
    that were lost or duplicated are upstream's fault (D01). With `hostNetwork` the API server rejects it, which is
    reported elsewhere.
    """
    for pods in job.jobset.jobs:
        if len(pods.all_containers) > 1 and not pods.pod_spec.get("hostNetwork"):
            _check_pod(job, pods)


def _check_pod(job: Finished, pods: ReplicatedJob) -> None:
    first: dict[tuple[object, object], str] = {}
    for container in _living(pods):
        own = str(container.get("name"))
        for index, port in enumerate(container.get("ports") or ()):
            number, protocol = key = (port.get("containerPort"), port.get("protocol", "TCP"))
            other = first.setdefault(key, own)
            if other != own:
                job.plan.warn(
                    "TF606",
                    f"containers {other} and {own} of one pod both listen on port {number}/{protocol}",
                    hint="give one of them another port",
                    **job.source(*pods.path_of(container), "ports", index, "containerPort"),
                )


def _living(pods: ReplicatedJob) -> list[Tree]:
    """The containers that run side by side; sidecars are init containers with restartPolicy Always. The training
    container comes first, so that the other one is reported."""
    sidecars = [container for container in pods.init_containers if container.get("restartPolicy") == "Always"]
    return sorted((*sidecars, *pods.containers), key=lambda container: container.get("name") != "node")
