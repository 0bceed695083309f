"""Jobs as earlier runs left them: their locks, and what became of their files since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from trainform.diagnostics import Diagnostic
from trainform.io import paths as state
from trainform.io.paths import JobId
from trainform.io.place import file_error, os_error
from trainform.io.repository import Repository
from trainform.output.layout import is_part, job_folder
from trainform.workspace.fingerprint import digest_of_file
from trainform.workspace.lockfile import Lock, LockError, LockFile, parse

RESTORE = "restore it: `git checkout -- {0}`; or delete it and run `trainform render` again"


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """One job on disk: the digests of the files in its folder (empty for what is no plain file), and the lock
    that holds for them. `lock_file` is what the lock's file says, perhaps of a run that was stopped."""

    id: JobId
    folder: str
    lock_file: LockFile | None = None
    lock: Lock | None = None
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """Files of ours that are not there."""
        return [name for name in self.lock.files if name not in self.digests] if self.lock else []

    def edited(self, wanted: Mapping[str, str]) -> list[str]:
        """Files of ours that are neither as we wrote them nor as they are `wanted`."""
        owned = self.lock.files if self.lock else {}
        return [name for name in self._unknown(wanted) if name in owned]

    def foreign(self, wanted: Mapping[str, str]) -> list[str]:
        """What is in the folder, is not ours, and is not by chance as it is `wanted`."""
        owned = self.lock.files if self.lock else {}
        return [name for name in self._unknown(wanted) if name not in owned]

    def _unknown(self, wanted: Mapping[str, str]) -> list[str]:
        owned = self.lock.files if self.lock else {}
        return [n for n, digest in self.digests.items() if digest not in (owned.get(n), wanted.get(n))]

    def hindrances(self, wanted: Mapping[str, str]) -> list[Diagnostic]:
        """Why the folder cannot be made to hold the files `wanted` (digests by name) and nothing else."""
        edited = [edited_by_hand(f"{self.folder}/{name}") for name in self.edited(wanted)]
        return edited + [_foreign(f"{self.folder}/{name}") for name in self.foreign(wanted)]


@dataclass(slots=True)
class State:
    """The jobs of a repository that have a lock. Locks and folders are read when they are asked for, each once."""

    repository: Repository
    _jobs: Mapping[JobId, None] = field(default_factory=dict)
    _locks: dict[JobId, LockFile | Diagnostic] = field(default_factory=dict)
    _held: dict[JobId, Held | Diagnostic] = field(default_factory=dict)
    _leading_out: dict[str, bool] = field(default_factory=dict)
    _there: dict[str, set[str]] = field(default_factory=dict)

    def ids(self) -> list[JobId]:
        """All jobs that have a lock, be it a broken one, in order."""
        return [*self._jobs]

    def fresh(self) -> State:
        """The same jobs, nothing of them read as yet."""
        return State(self.repository, self._jobs)

    @property
    def locks(self) -> dict[JobId, LockFile]:
        """Every lock that is sound."""
        read = ((job, self._lock(job)) for job in self._jobs)
        return {job: lock for job, lock in read if isinstance(lock, LockFile)}

    @property
    def broken(self) -> list[Diagnostic]:
        """What is wrong with the others."""
        return [problem for problem in map(self.problem, self._jobs) if problem]

    def problem(self, job: JobId) -> Diagnostic | None:
        """What is wrong with the lock of a job."""
        lock = self._lock(job)
        return lock if isinstance(lock, Diagnostic) else None

    def passing(self, jobs: Iterable[JobId]) -> Iterator[LockFile | Diagnostic | None]:
        """What is to be said of the lock of each of some jobs, of which there may be many: it is not kept in memory."""
        return (self._locks[job] if job in self._locks else _parsed(job, self.repository) for job in jobs)

    def is_broken(self, job: JobId) -> bool:
        return self.problem(job) is not None

    def lock_file(self, job: JobId) -> LockFile | None:
        """What the lock's file says; None where there is none, or none that is sound."""
        lock = self._lock(job)
        return lock if isinstance(lock, LockFile) else None

    def lock(self, job: JobId) -> Lock | None:
        """The lock that holds for a job; the folder is looked at only after a run that was stopped."""
        found = self.lock_file(job)
        if found is None or not found.underway:
            return found.lock if found else None
        held = self.held(job)
        return None if isinstance(held, Diagnostic) else held.lock

    def held(self, job: JobId) -> Held | Diagnostic:
        """A job as it is on disk; without a lock, and perhaps without files, where it is new."""
        if job not in self._held:
            lock = self._lock(job)
            self._held[job] = lock if isinstance(lock, Diagnostic) else self._read(job, lock)
        return self._held[job]

    def _read(self, job: JobId, lock_file: LockFile | None) -> Held | Diagnostic:
        root = self.repository.root
        folder = job_folder(self.repository.settings.rendered, *job)
        if lock_file is None and self._is_nowhere(job, folder):
            return Held(job, folder)
        if self._leads_out(folder):
            hint = "remove the link, or set another folder in trainform.yaml"
            return file_error("TF702", folder, "leads out of the repository", hint)
        if self._leads_out(state.lock_file(job)):
            return file_error("TF702", state.lock_file(job), "leads out of the repository", "remove the link")
        try:
            found = state.folder_bytes(root, folder)
        except OSError as error:
            return os_error("TF707", folder, error, "cannot be written")
        digests = {name: "" if data is None else digest_of_file(data) for name, data in found.items()}
        return Held(job, folder, lock_file, lock_file.settled(digests) if lock_file else None, digests)

    def _lock(self, job: JobId) -> LockFile | Diagnostic | None:
        if job in self._jobs and job not in self._locks:
            self._locks[job] = _parsed(job, self.repository)
        return self._locks.get(job)

    def _leads_out(self, path: str) -> bool:
        """Through a link, which is looked for once in all that is above the folders, or locks, of a namespace."""
        root = self.repository.root
        return self._is_out(_above(path)) or (state.is_link(root, path) and state.leads_out(root, path))

    def _is_out(self, above: str) -> bool:
        if above not in self._leading_out:
            self._leading_out[above] = state.leads_out(self.repository.root, above)
        return self._leading_out[above]

    def _is_nowhere(self, job: JobId, folder: str) -> bool:
        """Whether there is surely nothing of a job without a lock, as of most new ones: each namespace is listed once.

        Some file systems do not tell capitals from small letters.
        """
        above = _above(folder)
        if self._is_out(above) or self._is_out(_above(state.lock_file(job))):
            return False
        if above not in self._there:
            try:
                names = state.folder_names(self.repository.root, above)
            except OSError:
                return False  # what is wrong is told of the job's own folder
            self._there[above] = {name.casefold() for name in names}
        return job[2].casefold() not in self._there[above]


def read_state(repository: Repository) -> State:
    """Which jobs of a repository have a lock."""
    return State(repository, dict.fromkeys(filter(_is_sound, state.locked_jobs(repository.root))))


def _parsed(job: JobId, repository: Repository) -> LockFile | Diagnostic:
    path = state.lock_file(job)
    data = repository.read(path)
    if isinstance(data, Diagnostic):
        return data
    try:
        return parse(data)
    except LockError as error:
        hint = RESTORE.format(path).replace("delete it", f"delete it with {'/'.join(job)} in rendered/")
        return file_error("TF711", path, str(error), hint)


def _above(path: str) -> str:
    return path.rpartition("/")[0]


def _is_sound(job: JobId) -> bool:
    environment, namespace, name = job
    return is_part(name) and _is_part(namespace) and _is_part(environment)


_is_part = lru_cache(is_part)
"""For parts that many jobs have in common."""


def edited_by_hand(file: str) -> Diagnostic:
    message = "was edited by hand: it differs from what trainform wrote"
    return file_error("TF710", file, message, RESTORE.format(file))


def _foreign(file: str) -> Diagnostic:
    message = "is in the way: trainform did not write this file"
    return file_error("TF706", file, message, "move it elsewhere, or remove it if you do not need it")
