"""Compare jobs with a commit. Together with compiling them again, this proves that every manifest comes from inputs
that somebody could review: a commit that brings its own snapshots, or edits a manifest with its lockfile, shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainform.io.baseline import Commit
from trainform.io.git import files_at
from trainform.io.paths import LOCKS, JobId, lockfile_path
from trainform.output.layout import job_folder
from trainform.workspace.behind import current_inputs
from trainform.workspace.compilation import compile_environments
from trainform.workspace.diff.scope import jobs_of
from trainform.workspace.inputs import digest_of_file
from trainform.workspace.lockfile import Lock, line_of, lock_in
from trainform.workspace.verify.verdict import Mispin, Verdict
from trainform.workspace.verify.verification import Verification

if TYPE_CHECKING:
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.fingerprint import Cause, CurrentInputs
    from trainform.workspace.state import LockStore


def compare_with(commit: str, verified: Verification, workspace: Workspace) -> list[Verdict]:
    """The verdicts, after comparing the good jobs that changed since `commit`. With the same TrainJob and pins as then,
    a job must have the same bytes. Any other job, new ones included, must be proven by this installation, and pinned
    to the current runtime and Environment or to those that this very job had then. Raises GitError."""
    repository, locks = workspace.repository, workspace.locks
    changed = Commit(repository.root, commit).changed([repository.settings.rendered, LOCKS])
    comparison = _Comparison.of(commit, verified, jobs_of(changed, repository.settings), locks)
    judged = comparison.edited() | comparison.mispinned(_Today(workspace, verified.in_one_piece))
    return [judged.get(each.job, each) for each in verified.verdicts]


class _Today:
    """The current inputs of each environment, read when first needed."""

    def __init__(self, workspace: Workspace, in_job_files: bool) -> None:
        self._workspace = workspace
        self._in_job_files = in_job_files
        self._inputs: Mapping[str, CurrentInputs] | None = None

    def of(self, environment: str) -> CurrentInputs:
        if self._inputs is None:
            environments = self._workspace.read(None if self._in_job_files else [])
            for each in environments:
                each.leave_out(each.train_jobs())
            self._inputs = current_inputs(environments, compile_environments(environments, wants_job=False))
        return self._inputs[environment]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The good jobs that changed since a commit, with their locks then and now."""

    commit: str
    jobs: Mapping[JobId, Verdict]
    then: Mapping[JobId, Lock]
    now: Mapping[JobId, Lock]
    locks: LockStore

    @classmethod
    def of(cls, commit: str, verified: Verification, changed: Collection[JobId], locks: LockStore) -> _Comparison:
        jobs = {each.job: each for each in verified.verdicts if each.job in changed and each.is_good}
        files = files_at(locks.repository.root, commit, map(lockfile_path, jobs))
        then = {job: lock for job in jobs if (lock := lock_in(files.get(lockfile_path(job))))}
        now = {job: file.lock for job in jobs if (file := locks.lockfile(job))}
        return cls(commit, jobs, then, now, locks)

    def edited(self) -> dict[JobId, Verdict]:
        """Frozen jobs whose files differ from the commit, by git's contents or else by the old lock."""
        root, rendered = self.locks.repository.root, self.locks.repository.settings.rendered
        frozen = [job for job in self.jobs if self._is_frozen(job)]
        folders = {job: job_folder(rendered, *job) for job in frozen}
        names = {job: sorted({*self.then[job].files, *self.now[job].files}) for job in frozen}
        files = [f"{folders[job]}/{name}" for job in frozen for name in names[job]]
        digests = {path: digest_of_file(data) for path, data in files_at(root, self.commit, files).items()}
        found = {}
        for job in frozen:
            owned, before, folder = self.now[job].files, self.then[job].files, folders[job]
            wrong = [n for n in names[job] if digests.get(f"{folder}/{n}", before.get(n)) != owned.get(n)]
            if wrong:
                found[job] = Verdict(job, "edited", [f"{folder}/{name}" for name in wrong])
        return found

    def mispinned(self, today: _Today) -> dict[JobId, Verdict]:
        """Other jobs, if anything they are pinned to is neither current nor what they were pinned to then."""
        found = {}
        for job, verdict in self.jobs.items():
            if self._is_frozen(job):
                continue
            pins = self._mispins(job, today.of(job[0]))
            if pins or verdict.state == "unproven":
                found[job] = Verdict(job, "mispinned", [lockfile_path(job)], pins)
        return found

    def _is_frozen(self, job: JobId) -> bool:
        then, now = self.then.get(job), self.now[job]
        return then is not None and (then.train_job, then.pins) == (now.train_job, now.pins)

    def _mispins(self, job: JobId, current: CurrentInputs) -> list[Mispin]:
        file, then, pins = lockfile_path(job), self.then.get(job), self.now[job].pins
        data = self.locks.repository.read(file)
        text = data if isinstance(data, bytes) else b""
        had = {
            "runtime": then is not None and then.pins.runtime == pins.runtime,
            "environment": then is not None and then.pins.environment == pins.environment,
        }
        causes = (cause for cause in current.causes(pins, job[1]) if not had.get(cause.kind))
        return [Mispin(each.kind, file, line_of(text, _KEYS[each.kind]), _message(each, then)) for each in causes]


_KEYS = {"runtime": "runtime", "environment": "environment", "key": "keys", "compiler": "compiler"}
"""Where a lockfile holds each kind of pin."""


def _message(cause: Cause, then: Lock | None) -> str:
    """Why a pin is not accepted: `runtime torch is neither the current one nor the one at the base`."""
    if cause.kind == "compiler":
        return f"{cause.message}: check with what rendered the job, or upgrade it"
    if cause.kind == "key":
        return f"{cause.message}, so the copy in the rendered job cannot be proven"
    what = f"{'runtime' if cause.kind == 'runtime' else 'Environment'} {cause.what}"
    if then is None:
        return f"{what} is not the current one, and the job is new"
    return f"{what} is neither the current one nor the one that the job had at the base"
