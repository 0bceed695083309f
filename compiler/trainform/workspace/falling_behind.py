"""The jobs that a change leaves behind: what they were rendered from changed, and they did not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from trainform.review.diff.model import Diff, JobDiff, Reason
from trainform.workspace.reach import COMPANION, ENVIRONMENT

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.workspace.diff import Now
    from trainform.workspace.fingerprint import Cause, Present
    from trainform.workspace.lockfile import Pins


def falling_behind(diff: Diff, jobs: Iterable[JobId], now: Now) -> None:
    """Adds to the difference those of the frozen `jobs` that are behind by this change; counts the others."""
    known: dict[tuple[str, str, int], _Lag] = {}
    for job in jobs:
        pins = now.fleet.pins_of(job)
        if pins is None or job[0] not in now.presents:
            continue
        key = (*job[:2], id(pins))  # whoever shares pins, in the same namespace, is behind of the same
        lag = known[key] = known.get(key) or _lag(job, pins, now)
        if lag.reasons:
            diff.jobs.append(JobDiff(job, "behind", lag.reasons))
        elif lag.told:
            diff.already_behind[lag.told] = diff.already_behind.get(lag.told, 0) + 1


class _Lag(NamedTuple):
    """Why a job falls behind by this change; what is `told` of one that was behind before, for certain."""

    reasons: tuple[Reason, ...]
    told: str


def _lag(job: JobId, pins: Pins, now: Now) -> _Lag:
    present = now.presents[job[0]]
    causes = present.causes(pins, job[1])
    reasons = tuple(_reason(cause, pins, present) for cause in causes if _is_new(cause, pins, job, now))
    told = [cause.message for cause in causes if _is_certain(cause, pins, present, now)]
    return _Lag(reasons, told[0] if told else "")


def _is_new(cause: Cause, pins: Pins, job: JobId, now: Now) -> bool:
    """Whether what the job is behind of changed since the state that is compared with."""
    if cause.kind == "runtime":
        name = pins.runtime.name
        return not now.reach.things.isdisjoint({(pins.runtime.kind, name), (COMPANION, name)})
    return cause.kind in ("environment", "key") and (ENVIRONMENT, job[0]) in now.reach.things


def _is_certain(cause: Cause, pins: Pins, present: Present, now: Now) -> bool:
    """Runtimes and facts may stand in files of jobs, and not all of those were read."""
    if now.reach.files is None or cause.kind == "compiler":
        return True
    return cause.kind == "runtime" and present.runtime(*pins.runtime.key) is not None


def _reason(cause: Cause, pins: Pins, present: Present) -> Reason:
    """The thing that changed, by the digests of what it was and is."""
    runtime = present.runtime(*pins.runtime.key)
    thing, before, after = {
        "runtime": (f"{pins.runtime.kind}/{cause.what}", pins.runtime.digest, runtime.digest if runtime else None),
        "environment": (f"Environment/{cause.what}", pins.environment, present.environment.digest),
    }.get(cause.kind, (f"Secret/{cause.what}", None, None))
    return Reason(thing, "", cause.message, before, after, inherited=True)
