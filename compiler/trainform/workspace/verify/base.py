"""Compare frozen jobs with a commit, which reveals edits of a manifest and its lockfile together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trainform.io.baseline import Commit
from trainform.io.git import files_at
from trainform.io.paths import LOCKS, JobId, lockfile_path
from trainform.output.layout import job_folder
from trainform.workspace.diff.scope import jobs_of
from trainform.workspace.fingerprint import digest_of_file
from trainform.workspace.lockfile import Lock, lock_in
from trainform.workspace.state import LockStore
from trainform.workspace.verify.verification import Verdict


class Compared(NamedTuple):
    """Verdicts, and jobs pinned by another compiler since the commit, which cannot be proven."""

    verdicts: list[Verdict]
    unproven: list[JobId]


def compare_with(commit: str, found: Sequence[Verdict], locks: LockStore) -> Compared:
    """Compare with `commit`: a job with the same TrainJob and pins as then must have the same bytes. Raises
    GitError."""
    root, settings = locks.repository.root, locks.repository.settings
    touched = jobs_of(Commit(root, commit).changed([settings.rendered, LOCKS]), settings)
    intact = [each.job for each in found if each.job in touched and each.is_good]
    files = files_at(root, commit, [lockfile_path(job) for job in intact])
    then = {job: lock for job in intact if (lock := lock_in(files.get(lockfile_path(job))))}
    now = {job: file.lock for job in then if (file := locks.lockfile(job))}
    frozen = [job for job in then if (then[job].train_job, then[job].pins) == (now[job].train_job, now[job].pins)]
    differing = _differing(frozen, then, now, commit, locks)
    verdicts = [Verdict(v.job, "edited", differing[v.job]) if v.job in differing else v for v in found]
    open_jobs = touched.difference(frozen)
    return Compared(verdicts, [v.job for v in verdicts if v.state == "unproven" and v.job in open_jobs])


def _differing(
    jobs: Sequence[JobId], then: dict[JobId, Lock], now: dict[JobId, Lock], commit: str, locks: LockStore
) -> dict[JobId, list[str]]:
    """Each job's files that differ from the commit, by git's contents or else by the old lock."""
    root, rendered = locks.repository.root, locks.repository.settings.rendered
    folders = {job: job_folder(rendered, *job) for job in jobs}
    names = {job: sorted({*then[job].files, *now[job].files}) for job in jobs}
    files = [f"{folders[job]}/{name}" for job in jobs for name in names[job]]
    digests = {path: digest_of_file(data) for path, data in files_at(root, commit, files).items()}
    found = {}
    for job in jobs:
        owned, folder = now[job].files, folders[job]
        wrong = [n for n in names[job] if digests.get(f"{folder}/{n}", then[job].files.get(n)) != owned.get(n)]
        if wrong:
            found[job] = [f"{folder}/{name}" for name in wrong]
    return found
