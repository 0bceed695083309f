"""The lint about ports within a pod."""

from __future__ import annotations

from collections.abc import Iterator

from trainform.plugin import Path, Tree
from trainform_plugins.lints.finished import Finished, Pods


def port_used_twice(job: Finished) -> None:
    """The containers of a pod share one network, so that two of them cannot listen on one port.

    Why: the API server checks a port's number only, and the second process to bind it dies.
    Bites: a sidecar (metrics, TensorBoard, a second torchrun) that declares 29500, the port that
    the frameworks' first pod listens on. Ports of one container that were lost or doubled are
    upstream's own fault (D01). With `hostNetwork` the API server refuses it, which is told elsewhere.
    """
    for pods in job.pods:
        if len(pods.containers) + len(pods.spec.get("initContainers") or ()) < 2:
            continue
        if not pods.spec.get("hostNetwork"):
            _check_pod(job, pods)


def _check_pod(job: Finished, pods: Pods) -> None:
    first: dict[tuple[object, object], str] = {}
    for path, container in _living(pods):
        own = str(container.get("name"))
        for index, port in enumerate(container.get("ports") or ()):
            number, protocol = key = (port.get("containerPort"), port.get("protocol", "TCP"))
            other = first.setdefault(key, own)
            if other != own:
                job.plan.report(
                    "TF606",
                    f"containers {other} and {own} of one pod both listen on port {number}/{protocol}",
                    severity="warning",
                    hint="give one of them another port",
                    **job.source(*path, "ports", index, "containerPort"),
                )


def _living(pods: Pods) -> Iterator[tuple[Path, Tree]]:
    """The containers that run side by side: sidecars are init containers that are always restarted.

    The container that trains comes first, so that the other one is told.
    """
    alive = [
        (path, container)
        for path, container in pods.all_containers()
        if path[-2] == "containers" or container.get("restartPolicy") == "Always"
    ]
    return iter(sorted(alive, key=lambda each: each[1].get("name") != "node"))
