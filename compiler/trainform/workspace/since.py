"""Frozen jobs held against a commit: an edit of output and lock together shows there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.io.baseline import Commit
from trainform.io.git import files_at
from trainform.io.paths import LOCKS, JobId, lock_file
from trainform.output.layout import job_folder
from trainform.workspace.fingerprint import digest_of_file
from trainform.workspace.lockfile import Lock, LockError, parse
from trainform.workspace.reach import jobs_of
from trainform.workspace.verify import Verdict

if TYPE_CHECKING:
    from trainform.workspace.proven import Changes
    from trainform.workspace.state import State


class Compared(NamedTuple):
    """Verdicts, and the jobs that another compiler pinned since the commit: nothing here proves those."""

    verdicts: list[Verdict]
    unproven: list[JobId]


def since(found: Sequence[Verdict], state: State, commit: str, changed: Changes | None) -> Compared:
    """The verdicts with the bytes of `commit` in view: a job with the pins that it had then must have the bytes
    that it had then. `changed` is what is known already to have changed since some commit. Raises GitError."""
    root, settings = state.repository.root, state.repository.settings
    if changed is not None and changed.known["commit"] == commit:
        paths = changed.paths
    else:
        paths = Commit(root, commit).changed([settings.rendered, LOCKS])
    touched = jobs_of(paths, settings)
    intact = [each.job for each in found if each.job in touched and each.state in ("current", "unproven")]
    then = _locks(files_at(root, commit, [lock_file(job) for job in intact]), intact)
    frozen = [job for job in then if _is_frozen_since(then[job], _now(job, state))]
    differing = _differing(frozen, then, state, commit)
    verdicts = [Verdict(v.job, "edited", differing[v.job]) if v.job in differing else v for v in found]
    open_jobs = touched.difference(frozen)
    return Compared(verdicts, [v.job for v in verdicts if v.state == "unproven" and v.job in open_jobs])


def _locks(files: dict[str, bytes], jobs: Sequence[JobId]) -> dict[JobId, Lock]:
    found = {}
    for job in jobs:
        try:
            found[job] = parse(files[lock_file(job)]).lock
        except (KeyError, LockError):
            continue  # new since then, or as good as new
    return found


def _is_frozen_since(then: Lock, now: Lock) -> bool:
    return (then.train_job, then.pins) == (now.train_job, now.pins)


def _now(job: JobId, state: State) -> Lock:
    """The lock of a job that is intact, and so has one."""
    file = state.lock_file(job)
    assert file is not None
    return file.lock


def _differing(jobs: Sequence[JobId], then: dict[JobId, Lock], state: State, commit: str) -> dict[JobId, list[str]]:
    """The files of each job that are not as they were: as git has them, or as the lock of then says."""
    names = {job: sorted({*then[job].files, *_now(job, state).files}) for job in jobs}
    folders = {job: job_folder(state.repository.settings.rendered, *job) for job in jobs}
    paths = [f"{folders[job]}/{name}" for job in jobs for name in names[job]]
    digests = {path: digest_of_file(data) for path, data in files_at(state.repository.root, commit, paths).items()}
    found = {}
    for job in jobs:
        now, folder = _now(job, state).files, folders[job]
        wrong = [n for n in names[job] if digests.get(f"{folder}/{n}", then[job].files.get(n)) != now.get(n)]
        if wrong:
            found[job] = [f"{folder}/{name}" for name in wrong]
    return found
