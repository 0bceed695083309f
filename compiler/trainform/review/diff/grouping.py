"""Groups jobs that change in the same way, so that an upgrade of a fleet is one entry and not five hundred."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from trainform.review.diff.model import JobDiff, Reason

Group = list[JobDiff]
"""Jobs of one environment with the same change for the same reasons; at least one."""


def groups(jobs: Iterable[JobDiff]) -> list[Group]:
    """Jobs with the same change, in the order of the first of each group; jobs that are behind are left out."""
    found: dict[Hashable, Group] = {}
    for job in jobs:
        if job.change != "behind":
            found.setdefault(_sameness(job), []).append(job)
    return list(found.values())


def _sameness(job: JobDiff) -> Hashable:
    """What jobs of a group have in common. A new or deleted job has no reasons and is a group of its own."""
    if not job.reasons:
        return job.id
    return job.change, job.id[0], bool(job.new_name), tuple(_likeness(job, reason) for reason in job.reasons)


def _likeness(job: JobDiff, reason: Reason) -> Hashable:
    """A reason without the job's own name and without values that are not shown, for comparison."""
    values = (repr(reason.before), repr(reason.after))
    if not reason.named or is_new_name(job, reason):
        values = ("", "" if reason.before is None else "gone")
    return shared_object(job, reason), reason.field, *values, reason.immutable, reason.inherited


def is_new_name(job: JobDiff, reason: Reason) -> bool:
    """Whether the reason is the new name of the JobSet, which the text about the job names already."""
    return bool(job.new_name) and reason.field == "metadata.name"


def shared_object(job: JobDiff, reason: Reason) -> str:
    """The object without the part of its name that is the job's: `ConfigMap/…-hostfile`."""
    kind, _, name = reason.object.partition("/")
    own = job.new_name or job.id[2]
    return f"{kind}/…{name.removeprefix(own)}" if name.startswith(own) else reason.object


def reasons_of(group: Group) -> list[Reason]:
    """The reasons that all jobs of a group share, immutable fields first."""
    job = group[0]
    shared = [each for each in job.reasons if len(group) == 1 or not is_new_name(job, each)]
    return sorted(shared, key=lambda reason: not reason.immutable)
