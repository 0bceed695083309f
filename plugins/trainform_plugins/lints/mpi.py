"""Lints about an MPI job's launcher and workers."""

from __future__ import annotations

from trainform.plugin import NODE_CONTAINER, ReplicatedJob, Tree
from trainform_plugins.lints.finished import Finished

LAUNCHER = "launcher"
NODE = "node"


def images_differ(job: Finished) -> None:
    """mpirun starts the launcher's command on the workers, so both need the same programs.

    Why: `trainer.image` applies to the trainer step only, which is the launcher in the usual runtimes; the workers keep
    the runtime's image. Bites: anyone who sets `trainer.image` as for other frameworks: "orted: command not found", or
    two versions of the same code (the image's side of trainer 3427).
    """
    containers = _containers(job)
    if containers is None:
        return
    (pods, launcher), (_, worker) = containers
    if launcher.get("image") != worker.get("image"):
        job.plan.warn(
            "TF610",
            f"the launcher runs {launcher.get('image')}, but its nodes run {worker.get('image')}",
            hint="use the same image for both: patch the image of job node with runtimePatches",
            **job.trainers(pods, launcher, "image"),
        )


def launcher_does_not_wait(job: Finished) -> None:
    """A launcher that starts before its workers' sshd is refused, and mpirun gives up.

    Why: a JobSet's pods start together unless a `dependsOn` or the startup policy says otherwise. Bites: authors of MPI
    runtimes, at random, and more often the longer pulling the workers' image takes (trainer PR 3748). Waiting for
    `Complete` does not help: an sshd never completes.
    """
    containers = _containers(job)
    if containers is None or _starts_in_order(job):
        return
    (pods, _), _ = containers
    if {"name": NODE, "status": "Ready"} not in (pods.tree.get("dependsOn") or ()):
        job.plan.warn(
            "TF611",
            "the launcher does not wait until its nodes are Ready, so mpirun may start before their sshd",
            hint="write dependsOn: [{name: node, status: Ready}], and add a readiness probe for sshd's port",
            **job.source(*pods.path, "name"),
        )


def _starts_in_order(job: Finished) -> bool:
    policy = job.jobset.spec.get("startupPolicy") or {}
    names = [pods.name for pods in job.jobset.jobs]
    return policy.get("startupPolicyOrder") == "InOrder" and names.index(NODE) < names.index(LAUNCHER)


def _containers(job: Finished) -> tuple[tuple[ReplicatedJob, Tree], tuple[ReplicatedJob, Tree]] | None:
    """Pods and main container of launcher and node, in an MPI job that has both."""
    if job.plan.framework != "mpi":
        return None
    found = {
        pods.name: (pods, container)
        for pods in job.jobset.jobs
        for container in pods.containers
        if container.get("name") == NODE_CONTAINER
    }
    return (found[LAUNCHER], found[NODE]) if LAUNCHER in found and NODE in found else None
