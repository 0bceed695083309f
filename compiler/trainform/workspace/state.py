"""Lockfiles and rendered folders as they are on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from trainform.diagnostics import Diagnostic
from trainform.io import paths
from trainform.io.links import LinkError, leads_out
from trainform.io.paths import JobId
from trainform.io.place import file_error, os_error
from trainform.io.repository import Repository
from trainform.output.kustomization import without_earlier_list
from trainform.output.layout import is_part, job_folder
from trainform.workspace.inputs import digest_of_file
from trainform.workspace.lockfile import Lock, LockError, LockFile, parse

RESTORE = "restore it: `git checkout -- {0}`; or delete it and run `trainform render` again"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JobOnDisk:
    """One job on disk. `digests` are those of the files in its folder, by name; empty for irregular files. `lock` is
    the one that applies to them; `lockfile` may come from an interrupted run. Both are None if never rendered."""

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
        """Owned files that are gone."""
        return [name for name in self.owned if name not in self.digests]

    @property
    def has_earlier_list(self) -> bool:
        """Whether an earlier version wrote a `kustomization.yaml` for it."""
        return self.owned != without_earlier_list(self.owned)

    def edited(self, wanted: Mapping[str, str]) -> list[str]:
        """Owned files that match neither the lock nor `wanted`."""
        return [name for name in self._unexpected(wanted) if name in self.owned]

    def foreign(self, wanted: Mapping[str, str]) -> list[str]:
        """Files in the folder that are not owned and do not match `wanted`."""
        return [name for name in self._unexpected(wanted) if name not in self.owned]

    def _unexpected(self, wanted: Mapping[str, str]) -> list[str]:
        owned = self.owned
        return [n for n, digest in self.digests.items() if digest not in (owned.get(n), wanted.get(n))]

    def conflicts(self, wanted: Mapping[str, str]) -> list[Diagnostic]:
        """What prevents replacing the folder's contents with `wanted` (digests by name)."""
        edited = [edited_by_hand(f"{self.folder}/{name}") for name in self.edited(wanted)]
        return edited + [_foreign(f"{self.folder}/{name}") for name in self.foreign(wanted)]


@dataclass(slots=True)
class LockStore:
    """A repository's lockfiles and job folders, each read once, on demand."""

    repository: Repository
    _ids: dict[JobId, None] | None = None
    _locks: dict[JobId, LockFile | Diagnostic] = field(default_factory=dict)
    _on_disk: dict[JobId, JobOnDisk | Diagnostic] = field(default_factory=dict)
    _leading_out: dict[str, bool] = field(default_factory=dict)
    _names_in: dict[str, set[str]] = field(default_factory=dict)

    def ids(self) -> list[JobId]:
        """All jobs with a lockfile, even a broken one, sorted."""
        return [*self._known()]

    def _known(self) -> dict[JobId, None]:
        if self._ids is None:
            self._ids = dict.fromkeys(filter(_is_sound, paths.locked_jobs(self.repository.root)))
        return self._ids

    def fresh(self) -> LockStore:
        """A copy with the same jobs, but nothing read yet."""
        return LockStore(self.repository, self._known())

    def broken(self, job: JobId) -> Diagnostic | None:
        """The error of a job's lockfile, if it is broken."""
        lock = self._lock(job)
        return lock if isinstance(lock, Diagnostic) else None

    def passing(self, jobs: Iterable[JobId]) -> Iterator[LockFile | Diagnostic | None]:
        """The lockfile of each job, not kept in memory, since there may be many."""
        return (self._locks[job] if job in self._locks else _parsed(job, self.repository) for job in jobs)

    def lockfile(self, job: JobId) -> LockFile | None:
        """The parsed lockfile; None if missing or broken."""
        lock = self._lock(job)
        return lock if isinstance(lock, LockFile) else None

    def lock(self, job: JobId) -> Lock | None:
        """The lock that applies to a job. Reads its folder only after an interrupted run."""
        found = self.lockfile(job)
        if found is None or not found.underway:
            return found.lock if found else None
        on_disk = self.on_disk(job)
        return None if isinstance(on_disk, Diagnostic) else on_disk.lock

    def on_disk(self, job: JobId) -> JobOnDisk | Diagnostic:
        """A job as it is on disk. A new job has no lock and may have no files."""
        if job not in self._on_disk:
            lock = self._lock(job)
            self._on_disk[job] = lock if isinstance(lock, Diagnostic) else self._read(job, lock)
        return self._on_disk[job]

    def _read(self, job: JobId, lockfile: LockFile | None) -> JobOnDisk | Diagnostic:
        folder = job_folder(self.repository.settings.rendered, *job)
        if lockfile is None and self._is_new(job, folder):
            return JobOnDisk(id=job, folder=folder)
        if self.parent_leads_out(paths.lockfile_path(job)):
            return file_error("TF702", paths.lockfile_path(job), "leads out of the repository", "remove the link")
        try:
            found = paths.folder_bytes(self.repository.root, folder)
        except LinkError as error:
            hint = "remove the link, or set another folder in trainform.yaml"
            return file_error("TF702", folder, error.strerror or "", hint)
        except OSError as error:
            return os_error("TF707", folder, error, "cannot be written")
        digests = {name: "" if data is None else digest_of_file(data) for name, data in found.items()}
        lock = lockfile.settled(digests) if lockfile else None
        return JobOnDisk(id=job, folder=folder, lockfile=lockfile, lock=lock, digests=digests)

    def _lock(self, job: JobId) -> LockFile | Diagnostic | None:
        if job in self._known() and job not in self._locks:
            self._locks[job] = _parsed(job, self.repository)
        return self._locks.get(job)

    def parent_leads_out(self, path: str) -> bool:
        """Whether the folder above `path` leads out of the repository; checked once for many jobs."""
        above = path.rpartition("/")[0]
        if above not in self._leading_out:
            self._leading_out[above] = leads_out(self.repository.root, above)
        return self._leading_out[above]

    def _is_new(self, job: JobId, folder: str) -> bool:
        """Whether a job without a lockfile surely has no files. Lists each namespace once, and ignores case, as some
        file systems do."""
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
"""Cached for parts that many jobs share."""


def edited_by_hand(file: str) -> Diagnostic:
    message = "was edited by hand: it differs from what trainform wrote"
    return file_error("TF710", file, message, RESTORE.format(file))


def _foreign(file: str) -> Diagnostic:
    message = "is in the way: trainform did not write this file"
    return file_error("TF706", file, message, "move it elsewhere, or remove it if you do not need it")
