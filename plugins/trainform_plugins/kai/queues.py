"""Checks of the queue in which KAI sees a job, against the queues that are declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.plugin import (
    GANG_QUEUE,
    KAI_QUEUE,
    KAI_QUEUE_LABEL,
    JobSetView,
    Path,
    Plan,
    Source,
    did_you_mean,
    labels_of,
    listed,
    table,
    tell_at_the_gang,
    tell_undeclared,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_QUEUE = "default-queue"
"""The queue of jobs that name none; KAI's chart creates it unless told not to."""

PROJECT = "project"
"""Label of a project, after which KAI names the queue of a job that names none."""


def queue_exists(plan: Plan, jobset: JobSetView) -> None:
    """Every queue that the job names is declared, and takes jobs: those with queues below them do not."""
    declared = plan.facts.names(KAI_QUEUE)
    named = dict(_named(plan, jobset))
    if not named:
        _default_exists(plan, jobset, declared)
    for queue, path in named.items():
        if not declared:
            at = jobset.tree, path
            tell_undeclared(plan, f"KAI Queue {queue}", "jobs in it cannot be checked", at, _source(plan, jobset))
        elif queue not in declared and queue != DEFAULT_QUEUE:
            hint = did_you_mean(queue, declared) or f"declared: {listed(declared)}"
            _tell(plan, jobset, path, "TF370", f"there is no KAI Queue {queue!r}: the job would stay Pending", hint)
        elif below := _below(plan, queue):
            message = f"KAI Queue {queue!r} has queues below it, so it takes no jobs"
            _tell(plan, jobset, path, "TF371", message, f"use one of those: {listed(below)}")


def _label(plan: Plan) -> str:
    return plan.gang.queue_label or KAI_QUEUE_LABEL


def _named(plan: Plan, jobset: JobSetView) -> Iterator[tuple[str, Path]]:
    """Each queue with the path of the label that KAI reads: the JobSet's, else those of the pods."""
    label = _label(plan)
    if queue := text(jobset.labels, label):
        yield queue, ("metadata", "labels", label)
        return
    for job in reversed(jobset.jobs):
        if queue := text(labels_of(job.pod), label):
            yield queue, (*job.pod_path, "metadata", "labels", label)


def _default_exists(plan: Plan, jobset: JobSetView, declared: list[str]) -> None:
    if plan.gang.chosen and declared and DEFAULT_QUEUE not in declared and PROJECT not in jobset.labels:
        lowest = next((name for name in declared if not _below(plan, name)), declared[0])
        tell_at_the_gang(
            plan,
            "TF370",
            f"the job names no queue, and KAI's {DEFAULT_QUEUE} is not declared",
            f"set scheduling.gang.queue: {lowest}, or declare {DEFAULT_QUEUE}",
        )


def _below(plan: Plan, queue: str) -> list[str]:
    """The declared queues whose parent is `queue`."""
    specs = ((name, table(plan.facts.get(KAI_QUEUE, name) or {}, "spec")) for name in plan.facts.names(KAI_QUEUE))
    return [name for name, spec in specs if text(spec, "parentQueue") == queue]


def _tell(plan: Plan, jobset: JobSetView, path: Path, code: str, message: str, hint: str) -> None:
    plan.report_object(jobset.tree, path, code, message, hint=hint, source=_source(plan, jobset))


def _source(plan: Plan, jobset: JobSetView) -> Source | None:
    """Who set the JobSet's queue, if it was the TrainJob's label or the Environment's setting."""
    label = _label(plan)
    queue = jobset.labels.get(label)
    if queue and queue == (plan.job.metadata.labels or {}).get(label):
        return _of_job(label)
    return GANG_QUEUE if queue and queue == plan.gang.queue else None


def _of_job(label: str) -> Source:
    return "trainjob", ("metadata", "labels", label)
