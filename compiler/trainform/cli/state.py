"""Jobs as earlier runs left them: their locks, and what became of their files since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainform.diagnostics import Diagnostic
from trainform.io import state
from trainform.io.place import file_error, os_error
from trainform.io.repository import Repository
from trainform.io.state import JobId
from trainform.output.freezing import digest_of_file
from trainform.output.layout import is_part, job_folder
from trainform.output.locks import Lock, LockError, LockFile, parse

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
    """The locks of a repository. Folders are read when they are asked for, each once."""

    repository: Repository
    locks: dict[JobId, LockFile] = field(default_factory=dict)
    broken: dict[JobId, Diagnostic] = field(default_factory=dict)
    _held: dict[JobId, Held | Diagnostic] = field(default_factory=dict)
    _leading_out: dict[str, bool] = field(default_factory=dict)

    def ids(self) -> list[JobId]:
        """All jobs that have a lock, be it a broken one."""
        return sorted([*self.locks, *self.broken])

    def lock(self, job: JobId) -> Lock | None:
        """The lock that holds for a job; the folder is looked at only after a run that was stopped."""
        found = self.locks.get(job)
        if found is None or not found.underway:
            return found.lock if found else None
        held = self.held(job)
        return None if isinstance(held, Diagnostic) else held.lock

    def held(self, job: JobId) -> Held | Diagnostic:
        """A job as it is on disk; without a lock, and perhaps without files, where it is new."""
        if job not in self._held:
            self._held[job] = self.broken.get(job) or self._read(job)
        return self._held[job]

    def _read(self, job: JobId) -> Held | Diagnostic:
        root = self.repository.root
        folder = job_folder(self.repository.settings.rendered, *job)
        if self._leads_out(folder):
            hint = "remove the link, or name another folder in trainform.yaml"
            return file_error("TF702", folder, "leads out of the repository", hint)
        try:
            found = state.folder_bytes(root, folder)
        except OSError as error:
            return os_error("TF707", folder, error, "cannot be written")
        digests = {name: "" if data is None else digest_of_file(data) for name, data in found.items()}
        lock_file = self.locks.get(job)
        return Held(job, folder, lock_file, lock_file.settled(digests) if lock_file else None, digests)

    def _leads_out(self, folder: str) -> bool:
        """Through a link, which is looked for once in all that is above the folders of a namespace."""
        root, above = self.repository.root, folder.rpartition("/")[0]
        if above not in self._leading_out:
            self._leading_out[above] = state.leads_out(root, above)
        return self._leading_out[above] or (state.is_link(root, folder) and state.leads_out(root, folder))


def read_state(repository: Repository) -> State:
    """Every lock of a repository."""
    found = State(repository)
    for job in filter(_is_sound, state.locked_jobs(repository.root)):
        path = state.lock_file(job)
        data = repository.read(path)
        if isinstance(data, Diagnostic):
            found.broken[job] = data
            continue
        try:
            found.locks[job] = parse(data)
        except LockError as error:
            hint = RESTORE.format(path).replace("delete it", f"delete it with {'/'.join(job)} in rendered/")
            found.broken[job] = file_error("TF711", path, str(error), hint)
    return found


def _is_sound(job: JobId) -> bool:
    return all(map(is_part, job))


def edited_by_hand(file: str) -> Diagnostic:
    message = "was edited by hand: it is not what trainform wrote"
    return file_error("TF710", file, message, RESTORE.format(file))


def _foreign(file: str) -> Diagnostic:
    message = "is in the way: trainform did not write this file"
    return file_error("TF706", file, message, "move it away, or remove it if it is not needed")
