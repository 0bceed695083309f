"""Jobs as earlier runs left them: their lockfiles, and what became of their manifests since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from trainform.diagnostics import Diagnostic
from trainform.io import paths
from trainform.io.paths import JobId
from trainform.io.place import file_error, os_error
from trainform.io.repository import Repository
from trainform.output.layout import is_part, job_folder
from trainform.workspace.fingerprint import digest_of_file
from trainform.workspace.lockfile import Lock, LockError, LockFile, parse

RESTORE = "restore it: `git checkout -- {0}`; or delete it and run `trainform render` again"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JobOnDisk:
    """One job as it stands on disk.

    `digests` are those of the files in its folder by name, empty for what is not a regular file. `lock` is the one
    that holds for them; `lockfile` what the lockfile says, perhaps of a run that was interrupted. Both are None
    for a job that was never rendered.
    """

    id: JobId
    folder: str
    lockfile: LockFile | None = None
    lock: Lock | None = None
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def owned(self) -> Mapping[str, str]:
        """The digests of the files that the lock lists, by name."""
        return self.lock.files if self.lock else {}

    @property
    def missing(self) -> list[str]:
        """Files of the job that are gone."""
        return [name for name in self.owned if name not in self.digests]

    def edited(self, wanted: Mapping[str, str]) -> list[str]:
        """Files of the job that are neither as they were written nor as they are `wanted`."""
        return [name for name in self._unexpected(wanted) if name in self.owned]

    def foreign(self, wanted: Mapping[str, str]) -> list[str]:
        """What is in the folder, is in no lock, and is not by chance as it is `wanted`."""
        return [name for name in self._unexpected(wanted) if name not in self.owned]

    def _unexpected(self, wanted: Mapping[str, str]) -> list[str]:
        owned = self.owned
        return [n for n, digest in self.digests.items() if digest not in (owned.get(n), wanted.get(n))]

    def conflicts(self, wanted: Mapping[str, str]) -> list[Diagnostic]:
        """Why the folder cannot be made to hold the files `wanted` (digests by name) and nothing else."""
        edited = [edited_by_hand(f"{self.folder}/{name}") for name in self.edited(wanted)]
        return edited + [_foreign(f"{self.folder}/{name}") for name in self.foreign(wanted)]


@dataclass(slots=True)
class LockStore:
    """The lockfiles of a repository. Lockfiles and folders are read when they are asked for, each once."""

    repository: Repository
    _ids: dict[JobId, None] | None = None
    _locks: dict[JobId, LockFile | Diagnostic] = field(default_factory=dict)
    _on_disk: dict[JobId, JobOnDisk | Diagnostic] = field(default_factory=dict)
    _leading_out: dict[str, bool] = field(default_factory=dict)
    _names_in: dict[str, set[str]] = field(default_factory=dict)

    def ids(self) -> list[JobId]:
        """All jobs that have a lockfile, be it a broken one, in order."""
        return [*self._known()]

    def _known(self) -> dict[JobId, None]:
        if self._ids is None:
            self._ids = dict.fromkeys(filter(_is_sound, paths.locked_jobs(self.repository.root)))
        return self._ids

    def fresh(self) -> LockStore:
        """The same jobs, nothing of them read as yet."""
        return LockStore(self.repository, self._known())

    def broken(self, job: JobId) -> Diagnostic | None:
        """What is wrong with the lockfile of a job."""
        lock = self._lock(job)
        return lock if isinstance(lock, Diagnostic) else None

    def passing(self, jobs: Iterable[JobId]) -> Iterator[LockFile | Diagnostic | None]:
        """The lockfile of each of some jobs, of which there may be many: none is kept in memory."""
        return (self._locks[job] if job in self._locks else _parsed(job, self.repository) for job in jobs)

    def lockfile(self, job: JobId) -> LockFile | None:
        """What the lockfile says; None where there is none, or a broken one."""
        lock = self._lock(job)
        return lock if isinstance(lock, LockFile) else None

    def lock(self, job: JobId) -> Lock | None:
        """The lock that holds for a job; its folder is read only after a run that was interrupted."""
        found = self.lockfile(job)
        if found is None or not found.underway:
            return found.lock if found else None
        on_disk = self.on_disk(job)
        return None if isinstance(on_disk, Diagnostic) else on_disk.lock

    def on_disk(self, job: JobId) -> JobOnDisk | Diagnostic:
        """A job as it stands on disk; without a lock, and perhaps without files, where it is new."""
        if job not in self._on_disk:
            lock = self._lock(job)
            self._on_disk[job] = lock if isinstance(lock, Diagnostic) else self._read(job, lock)
        return self._on_disk[job]

    def _read(self, job: JobId, lockfile: LockFile | None) -> JobOnDisk | Diagnostic:
        folder = job_folder(self.repository.settings.rendered, *job)
        if lockfile is None and self._is_new(job, folder):
            return JobOnDisk(id=job, folder=folder)
        if self._leads_out(folder):
            hint = "remove the link, or set another folder in trainform.yaml"
            return file_error("TF702", folder, "leads out of the repository", hint)
        if self._leads_out(paths.lockfile_path(job)):
            return file_error("TF702", paths.lockfile_path(job), "leads out of the repository", "remove the link")
        try:
            found = paths.folder_bytes(self.repository.root, folder)
        except OSError as error:
            return os_error("TF707", folder, error, "cannot be written")
        digests = {name: "" if data is None else digest_of_file(data) for name, data in found.items()}
        lock = lockfile.settled(digests) if lockfile else None
        return JobOnDisk(id=job, folder=folder, lockfile=lockfile, lock=lock, digests=digests)

    def _lock(self, job: JobId) -> LockFile | Diagnostic | None:
        if job in self._known() and job not in self._locks:
            self._locks[job] = _parsed(job, self.repository)
        return self._locks.get(job)

    def _leads_out(self, path: str) -> bool:
        """Through a link, which is looked for once in all that is above the folders, or locks, of a namespace."""
        root = self.repository.root
        return self.parent_leads_out(path) or (paths.is_link(root, path) and paths.leads_out(root, path))

    def parent_leads_out(self, path: str) -> bool:
        above = path.rpartition("/")[0]
        if above not in self._leading_out:
            self._leading_out[above] = paths.leads_out(self.repository.root, above)
        return self._leading_out[above]

    def _is_new(self, job: JobId, folder: str) -> bool:
        """Whether there is certainly nothing of a job without a lockfile: each namespace is listed once.

        Some file systems do not tell upper case from lower case.
        """
        if self.parent_leads_out(folder) or self.parent_leads_out(paths.lockfile_path(job)):
            return False
        above = folder.rpartition("/")[0]
        if above not in self._names_in:
            try:
                names = paths.folder_names(self.repository.root, above)
            except OSError:
                return False  # reported for the job's own folder
            self._names_in[above] = {name.casefold() for name in names}
        return job[2].casefold() not in self._names_in[above]


def _parsed(job: JobId, repository: Repository) -> LockFile | Diagnostic:
    path = paths.lockfile_path(job)
    data = repository.read(path)
    if isinstance(data, Diagnostic):
        return data
    try:
        return parse(data)
    except LockError as error:
        hint = RESTORE.format(path).replace("delete it", f"delete it with {'/'.join(job)} in rendered/")
        return file_error("TF711", path, str(error), hint)


def _is_sound(job: JobId) -> bool:
    environment, namespace, name = job
    return is_part(name) and _is_part(namespace) and _is_part(environment)


_is_part = lru_cache(is_part)
"""For the parts that many jobs have in common."""


def edited_by_hand(file: str) -> Diagnostic:
    message = "was edited by hand: it differs from what trainform wrote"
    return file_error("TF710", file, message, RESTORE.format(file))


def _foreign(file: str) -> Diagnostic:
    message = "is in the way: trainform did not write this file"
    return file_error("TF706", file, message, "move it elsewhere, or remove it if you do not need it")
