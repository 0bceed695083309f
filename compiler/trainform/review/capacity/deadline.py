"""How long the pods of a step may run in one run of a job: from its start, or from when a suspended job is resumed,
until it ends for good."""

from __future__ import annotations

from trainform.core.jobset_view import JobSetView, ReplicatedJob
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import number, table, tables, text

MAX_EXEC_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"


def longest_runs(jobset: JobSetView, *, is_queued: bool) -> list[int | None]:
    """For each step, the seconds that a deadline allows, restarts included; None if nothing bounds them. `is_queued`:
    Kueue has the job, and counts its time from admission to admission until its limit; restarts do not reset that. Job
    deadlines begin again with each restart."""
    limit = _kueue_limit(jobset) if is_queued else None
    attempts = _attempts(jobset)
    return [_least(limit, _of_job(step, attempts)) for step in jobset.jobs]


def _kueue_limit(jobset: JobSetView) -> int | None:
    label = text(labels_of(jobset.tree), MAX_EXEC_LABEL)
    return int(label) if label.isascii() and label.isdecimal() and int(label) else None


def _of_job(step: ReplicatedJob, attempts: int | None) -> int | None:
    deadline = number(step.job_spec, "activeDeadlineSeconds")
    return None if deadline is None or attempts is None else max(deadline, 0) * attempts


def _attempts(jobset: JobSetView) -> int | None:
    """How often the Jobs may start; None if without limit."""
    policy = table(jobset.spec, "failurePolicy")
    if any(text(rule, "action").endswith("IgnoreMaxRestarts") for rule in tables(policy, "rules")):
        return None
    return 1 + max(number(policy, "maxRestarts") or 0, 0)


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
