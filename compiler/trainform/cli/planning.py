"""What a run changes on disk, worked out before any of it is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trainform.cli.frozen import NOTHING
from trainform.cli.state import Held, State
from trainform.diagnostics import Diagnostic
from trainform.io import state
from trainform.io.repository import Repository
from trainform.io.state import JobId, lock_file, snapshot_file
from trainform.io.writer import JobChange
from trainform.output.freezing import Snapshot
from trainform.output.kustomization import FILE
from trainform.output.locks import Lock, LockFile, dump


@dataclass(slots=True)
class Plan:
    """Changes by job, the lock that each job will have, and the files that no single job owns (None: remove).

    `told` holds paths that are worth a line: what was written of a job, and what was removed.
    """

    state: State
    jobs: dict[JobId, JobChange] = field(default_factory=dict)
    locks: dict[JobId, Lock] = field(default_factory=dict)
    files: dict[str, bytes | None] = field(default_factory=dict)
    wrote: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: list[JobId] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def repository(self) -> Repository:
        return self.state.repository

    def put(self, job: JobId, lock: Lock, files: Mapping[str, bytes] | None = None) -> None:
        """The job is to have this lock, and these files; None: those that it has."""
        held = self.state.held(job)
        hindrances = [held] if isinstance(held, Diagnostic) else held.hindrances(lock.files)
        self.diagnostics += hindrances
        if hindrances or isinstance(held, Diagnostic):
            return
        self.locks[job] = lock
        if held.digests == lock.files:
            if held.lock_file == LockFile(lock):
                self.unchanged.append(job)
            else:
                self.jobs[job] = JobChange(held.folder, lock_file(job), None, dump(LockFile(lock)))
            return
        assert files is not None  # a job without new files has what its lock says, or there is a hindrance
        underway = dump(LockFile(lock, True, held.lock)) if held.digests else b""
        self.jobs[job] = JobChange(held.folder, lock_file(job), files, dump(LockFile(lock)), underway)
        self._tell(held, lock)

    def _tell(self, held: Held, lock: Lock) -> None:
        changed = [name for name, digest in lock.files.items() if held.digests.get(name) != digest]
        self.wrote += [f"{held.folder}/{name}" for name in changed if name != FILE]
        self.removed += [f"{held.folder}/{name}" for name in held.digests if name not in lock.files]

    def drop(self, job: JobId) -> None:
        """The job is gone: its files, its folder and its lock go, too."""
        held = self.state.held(job)
        hindrances = [held] if isinstance(held, Diagnostic) else held.hindrances({})
        self.diagnostics += hindrances
        if not hindrances and not isinstance(held, Diagnostic):
            self.jobs[job] = JobChange(held.folder, lock_file(job), {}, b"")
            self.removed += [f"{held.folder}/{name}" for name in held.digests if name != FILE]

    def remaining(self) -> set[JobId]:
        """The jobs that have a lock after this run."""
        dropped = {job for job, change in self.jobs.items() if not change.lock}
        return ({*self.state.ids()} | self.locks.keys()) - dropped

    def keep_snapshots(self, known: Iterable[Snapshot]) -> None:
        """Writes those of the `known` snapshots that a lock names; removes those that none does."""
        remaining = self.remaining()
        named = _digests(self.locks.values())
        for job, file in self.state.locks.items():
            if job in remaining and job not in self.locks:
                named |= _digests([file.lock, *filter(None, [file.previous])])
        there = set(state.snapshots(self.repository.root))
        for snapshot in known:
            if snapshot.digest in named - there - {NOTHING}:
                self.files[snapshot_file(snapshot.digest)] = snapshot.text
        if not self.state.broken:
            self.files |= {snapshot_file(digest): None for digest in sorted(there - named)}


def _digests(locks: Iterable[Lock]) -> set[str]:
    return {digest for lock in locks for digest in (lock.pins.runtime.digest, lock.pins.environment)}
