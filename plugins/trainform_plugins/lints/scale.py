"""Lints about large jobs and gangs."""

from __future__ import annotations

from trainform.plugin import TRAINER_STEP, Where
from trainform_plugins.lints.finished import Finished

CROWD = 2000
"""Pods of one Job from which on the job controller falls behind (trainer 2318)."""


def gang_without_timeout(job: Finished) -> None:
    """A gang that waits for its last pod holds the places of all others.

    Why: the scheduler counts placed pods as running until the group's timeout gives them up; 0 means that the group has
    none of its own, and the scheduler's configuration decides. Bites: everyone else on a full cluster
    (scheduler-plugins 713).
    """
    policy = job.plan.runtime.spec.pod_group_policy
    if policy is None or policy.coscheduling is None or policy.coscheduling.schedule_timeout_seconds > 0:
        return
    job.plan.warn(
        "TF615",
        "0 means no timeout: a partly placed gang holds its nodes as long as the scheduler's configuration says",
        hint="set how many seconds to wait for the whole gang, such as 120",
        source=("runtime", ("spec", "podGroupPolicy", "coscheduling", "scheduleTimeoutSeconds")),
    )


def crowded_job(job: Finished) -> None:
    """A Job of thousands of pods is slow to start and slow to fail.

    Why: steps run in one replica, so all nodes are pods of one Job, which the job controller creates and watches one by
    one. Bites: the largest training runs (trainer 2318, PR 3284).
    """
    for pods in job.jobset.jobs:
        if pods.parallelism >= CROWD:
            job.plan.warn(
                "TF616",
                f"a Job with {pods.parallelism} pods: the Job controller gets slow above about {CROWD} pods",
                hint="use fewer, larger nodes",
                **_where(job, pods.step, (*pods.path, "template", "spec")),
            )


def _where(job: Finished, step: str, job_spec: tuple[str | int, ...]) -> Where:
    policy = job.plan.runtime.spec.ml_policy
    if step == TRAINER_STEP and job.plan.num_nodes is not None:
        return {"path": ("spec", "trainer", "numNodes")}
    if step == TRAINER_STEP and policy is not None and policy.num_nodes is not None:
        return {"place": job.plan.runtime_document, "path": ("spec", "mlPolicy", "numNodes")}
    return job.source(*job_spec, "parallelism")
