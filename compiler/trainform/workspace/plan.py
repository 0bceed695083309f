"""What a run changes of some jobs, worked out before any of it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from trainform.diagnostics import Diagnostic
from trainform.io.paths import JobId, lock_file
from trainform.io.repository import Repository
from trainform.io.writer import JobChange
from trainform.output.kustomization import FILE
from trainform.workspace.lockfile import Lock, LockFile, dump
from trainform.workspace.state import Held, State


@dataclass(slots=True)
class Plan:
    """Changes by job, and the lock that each job will have.

    `wrote` and `removed` hold paths that are worth a line: what was written of a job, and what was removed.
    """

    state: State
    jobs: dict[JobId, JobChange] = field(default_factory=dict)
    locks: dict[JobId, Lock] = field(default_factory=dict)
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

    def named(self) -> Counter[str]:
        """The digests of the snapshots that the locks name, and how many do."""
        return Counter(digest for lock in self.locks.values() for digest in digests_of(lock))


def digests_of(lock: Lock) -> tuple[str, str]:
    """Of the snapshots that a lock names."""
    return lock.pins.runtime.digest, lock.pins.environment
