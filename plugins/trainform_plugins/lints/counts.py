"""The lint about numbers of pods that are replaced."""

from __future__ import annotations

from trainform.plugin import TRAINER_STEP, Path, ReplicatedJob, Source, value_at
from trainform_plugins.lints.finished import Finished


def counts_replaced(job: Finished) -> None:
    """A step's `parallelism` decides its `completions`, and `numNodes` decides the trainer's; without it, it is 1.

    Why: the controller writes both from one number. Bites: authors of runtimes with a step of eight shards, two at a
    time, of which two run; or with four trainer pods and no `mlPolicy.numNodes`, of which one runs. Not reported if
    somebody wrote `numNodes`.
    """
    for pods in job.jobset.jobs:
        path: Path = ("spec", "template", *pods.path, "template", "spec")
        written = value_at(job.plan.runtime_document.tree, path)
        if isinstance(written, dict):
            _compare(job, pods, written.get("parallelism"), written.get("completions"), path)


def _compare(job: Finished, pods: ReplicatedJob, parallelism: object, completions: object, path: Path) -> None:
    policy, count = job.plan.runtime.spec.ml_policy, pods.parallelism
    has_nodes = job.plan.num_nodes is not None or (policy is not None and policy.num_nodes is not None)
    is_trained = pods.step == TRAINER_STEP or (job.plan.framework == "mpi" and bool(_is_node(job, pods)))
    if is_trained and has_nodes:
        return
    if isinstance(parallelism, int) and parallelism != count:
        _warn(
            job,
            f"{count} of these {parallelism} pods run: mlPolicy without numNodes means 1 node",
            f"write spec.mlPolicy.numNodes: {parallelism}",
            ("runtime", (*path, "parallelism")),
        )
    elif isinstance(completions, int) and completions != count:
        _warn(
            job,
            f"{count} of these {completions} completions run: the step's parallelism replaces them",
            f"write parallelism: {completions}, or have {count} pods share the work",
            ("runtime", (*path, "completions")),
        )


def _is_node(job: Finished, pods: ReplicatedJob) -> bool:
    return any(each is pods for each, _ in job.nodes)


def _warn(job: Finished, message: str, hint: str, source: Source) -> None:
    job.plan.warn("TF635", message, hint=hint, source=source)
