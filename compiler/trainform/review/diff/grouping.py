"""Jobs that change in the same way are told together: an upgrade of a fleet is one thing to read, not five hundred."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from trainform.review.diff.model import JobDiff, Reason

Group = list[JobDiff]
"""Jobs of one environment with the same change for the same reasons; at least one."""


def groups(jobs: Iterable[JobDiff]) -> list[Group]:
    """The jobs in their order, each with those that are like it; jobs that are behind are left out."""
    found: dict[Hashable, Group] = {}
    for job in jobs:
        if job.change != "behind":
            found.setdefault(_sameness(job), []).append(job)
    return list(found.values())


def _sameness(job: JobDiff) -> Hashable:
    """A job that comes or goes has no reasons, and is told by itself: what it asks for is its own."""
    if not job.reasons:
        return job.id
    return job.change, job.id[0], bool(job.new_name), tuple(_likeness(job, reason) for reason in job.reasons)


def _likeness(job: JobDiff, reason: Reason) -> Hashable:
    """A reason without the job's own name, and without values that are not shown."""
    values = (repr(reason.before), repr(reason.after))
    if not reason.named or is_new_name(job, reason):
        values = ("", "" if reason.before is None else "gone")
    return shared_object(job, reason), reason.field, *values, reason.immutable, reason.inherited


def is_new_name(job: JobDiff, reason: Reason) -> bool:
    """Whether the reason is the name of a new object, which the words on the job have already."""
    return bool(job.new_name) and reason.field == "metadata.name"


def shared_object(job: JobDiff, reason: Reason) -> str:
    """`ConfigMap/…-hostfile`: the object, with the part of its name that is the job's left out."""
    kind, _, name = reason.object.partition("/")
    own = job.new_name or job.id[2]
    return f"{kind}/…{name.removeprefix(own)}" if name.startswith(own) else reason.object


def reasons_of(group: Group) -> list[Reason]:
    """The reasons of all the jobs of a group, with what is immutable first."""
    job = group[0]
    shared = [each for each in job.reasons if len(group) == 1 or not is_new_name(job, each)]
    return sorted(shared, key=lambda reason: not reason.immutable)
