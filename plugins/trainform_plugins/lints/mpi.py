"""Lints about an MPI job's launcher and workers."""

from __future__ import annotations

import re

from trainform.plugin import NODE_CONTAINER, NUM_NODES, ReplicatedJob, Tree, per_stage_remedy, starts_in_order
from trainform_plugins.lints.finished import Finished, values, words

LAUNCHER = "launcher"
NODE = "node"

FIFTH = r"open-?mpi[-_:/a-z]*v?5(?![0-9])"
"""What an image with Open MPI 5 is called: `openmpi:5.0.8`, `cuda-openmpi5`."""

FIFTHS_FLAGS = ("--prtemca", "--pmixmca")
FIFTHS_HOSTFILE = "PRTE_MCA_prte_default_hostfile"


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
            hint="use a runtime of your own with the same image in job node, or patch the JobSet in the Environment",
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
            hint=_how_to_wait(job),
            **job.source(*pods.path, "name"),
        )


def _how_to_wait(job: Finished) -> str:
    """JobSet takes `dependsOn` or InOrder, not both. In one gang of all pods, a launcher that waits would hold up its
    nodes."""
    depend = "" if starts_in_order(job.jobset.spec) else "write dependsOn: [{name: node, status: Ready}] in launcher, "
    how = f"{depend}list node before launcher, and add a readiness probe for sshd's port"
    gang = job.plan.gang
    if not gang.scheduler or gang.per_stage:
        return how
    return f"{how}; for the {gang.scheduler} gang, also {per_stage_remedy(gang.scheduler)}"


def variables_of_open_mpi_4(job: Finished) -> None:
    """Open MPI 5 reads PRTE_MCA_ variables, and the controller sets those of Open MPI 4.

    Why: version 5 starts its processes by PRRTE, which knows no OMPI_MCA_orte_ names. Bites: whoever updates the image:
    mpirun finds no hostfile, all ranks run in the launcher, and the job exits 0 (kubeflow/trainer 4028, mpi-operator
    842).
    """
    containers = _containers(job)
    if containers is None:
        return
    (pods, launcher), _ = containers
    line = words(launcher)
    if FIFTHS_HOSTFILE in values(launcher) or any("--hostfile" in word for word in line):
        return
    evidence = str(launcher.get("image")) if re.search(FIFTH, str(launcher.get("image")).partition("@")[0]) else ""
    evidence = evidence or next((word for word in line if word.startswith(FIFTHS_FLAGS)), "")
    if evidence:
        job.plan.warn(
            "TF636",
            f"{evidence} is of Open MPI 5, which does not read the hostfile's variable OMPI_MCA_orte_default_hostfile",
            hint=f"set {FIFTHS_HOSTFILE}: /etc/mpi/hostfile and PRTE_MCA_plm_ssh_args: -o ConnectionAttempts=10 in the "
            "launcher's env",
            **job.trainers(pods, launcher, "image"),
        )


def node_of_two_pods(job: Finished) -> None:
    """A launcher that is a node itself still needs a pod of job `node`, so one node becomes two.

    Why: the controller runs at least one pod of job `node`. Bites: anyone who asks for one node of eight GPUs and gets
    16, with half of the processes on each.
    """
    policy = job.plan.runtime.spec.ml_policy
    if _containers(job) is None or not (policy and policy.mpi and policy.mpi.run_launcher_as_node):
        return
    pods = sum(each.pods for each, _ in job.nodes)
    if (job.plan.num_nodes or policy.num_nodes or 1) == 1 and pods > 1:
        source = NUM_NODES if job.plan.num_nodes else ("runtime", ("spec", "mlPolicy", "numNodes"))
        job.plan.warn(
            "TF633",
            f"1 node is {pods} pods here: the launcher computes too, and needs at least one other",
            hint="write numNodes: 2, or use a runtime without runLauncherAsNode",
            source=source,
        )


def _starts_in_order(job: Finished) -> bool:
    names = [pods.name for pods in job.jobset.jobs]
    return starts_in_order(job.jobset.spec) and names.index(NODE) < names.index(LAUNCHER)


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
