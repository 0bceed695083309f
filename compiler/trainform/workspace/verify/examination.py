"""Compare the jobs of some environments with the disk, and with what rendering them again gives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform import __version__
from trainform.diagnostics import Diagnostic
from trainform.io.paths import JobId, lockfile_path, snapshot_file
from trainform.output.kustomization import FILE
from trainform.output.layout import job_folder
from trainform.workspace.compilation import shipped_catalogue
from trainform.workspace.fingerprint import changed_plugins, digest_of, digests_of_files
from trainform.workspace.frozen import (
    FrozenJob,
    Rebuilt,
    frozen_jobs,
    missing_snapshots,
    read_snapshot,
    rebuild,
)
from trainform.workspace.selection import is_selected, job_id
from trainform.workspace.verify.verdict import Verdict

if TYPE_CHECKING:
    from trainform.installed import PluginSet
    from trainform.workspace.inputs import EnvironmentInputs
    from trainform.workspace.lockfile import Pins
    from trainform.workspace.state import JobOnDisk, LockStore


@dataclass(slots=True, kw_only=True)
class Examination:
    """Compares the jobs of some environments with the disk. `files` has the file of each job with a TrainJob, `faults`
    are errors of plugins that keep a job from being compiled again. `compiled`: jobs as today's inputs give them, which
    need not be compiled again where they are pinned to these."""

    environments: Sequence[EnvironmentInputs]
    locks: LockStore
    plugins: PluginSet
    faults: list[Diagnostic] = field(default_factory=list)
    frozen: Mapping[JobId, FrozenJob] = field(default_factory=dict)
    files: Mapping[JobId, str] = field(default_factory=dict)
    compiled: Mapping[JobId, Rebuilt] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        environments: Sequence[EnvironmentInputs],
        locks: LockStore,
        plugins: PluginSet,
        compiled: Mapping[JobId, Rebuilt],
    ) -> Examination:
        frozen = {job.id: job for each in environments for job in frozen_jobs(each, locks)}
        files = {
            job_id(each, document): document.file
            for each in environments
            for document in each.train_jobs()
            if is_selected(each, document)
        }
        return cls(
            environments=environments, locks=locks, plugins=plugins, frozen=frozen, files=files, compiled=compiled
        )

    @property
    def present(self) -> Collection[JobId]:
        return self.files.keys()

    def verdicts(self) -> list[Verdict]:
        """One for each job with a TrainJob here. Jobs pinned by this version are compiled again."""
        found = [self.by_digests(job) for job in sorted(self.present)]
        intact = [self.frozen[each.job] for each in found if each.state == "unproven"]
        provable = [job for job in intact if self._is_provable(job)]
        known = {job.id: self.compiled[job.id] for job in provable if self._is_compiled(job)}
        others = [job for job in provable if job.id not in known]
        rebuilt, problems = rebuild(self.locks.repository, self.environments, others, shipped_catalogue())
        rebuilt |= known
        damaged = {problem.file for problem in problems}
        faults = {id(job.document): job for job in provable}
        self.faults += [each for each in problems if id(each.place) in faults]
        unable = {faults[id(each.place)].id for each in self.faults}
        judged = {job.id: self._compared(job, rebuilt.get(job.id)) for job in provable if job.id not in unable}
        self.faults += filter(None, (self._unsteady(job, rebuilt, judged) for job in provable if job.id not in unable))
        damaged |= self._damaged_snapshots(job for job in intact if job.id in known or job.id not in judged)
        missing = missing_snapshots(self.locks.repository.root, intact)
        judged |= {job.id: lost for job in intact if (lost := _without_snapshot(job, missing, damaged))}
        return [judged.get(each.job, each) for each in found]

    def _unsteady(
        self, job: FrozenJob, rebuilt: Mapping[JobId, Rebuilt], judged: dict[JobId, Verdict]
    ) -> Diagnostic | None:
        """An error if a job that seems edited comes out differently when compiled once more: then its manifests prove
        nothing, and a plugin is to blame. Trainform's own never do that."""
        if judged[job.id].is_good or not self.plugins.versions or job.id not in rebuilt:
            return None
        again, _ = rebuild(self.locks.repository, self.environments, [job], shipped_catalogue())
        if again.get(job.id) == rebuilt[job.id]:
            return None
        judged[job.id] = Verdict(job.id, "unproven")
        names = [each.name for each in self.plugins.third_party]
        message = (
            "compiled again from the same inputs, this job is different: only a plugin of another package can do that"
        )
        hint = f"report this bug to the authors of the plugin; used here: {', '.join(names)}"
        return Diagnostic("TF906", "error", message, hint, place=job.document)

    def by_digests(self, job: JobId) -> Verdict:
        """Judge by digests alone; a job is unproven if they all match."""
        if self.locks.broken(job):
            return Verdict(job, "edited", [lockfile_path(job)])
        on_disk = self.locks.on_disk(job) if self.locks.lockfile(job) else None
        if on_disk is None or isinstance(on_disk, Diagnostic) or on_disk.lockfile is None:
            return Verdict(job, "missing")
        if wrong := sorted({*on_disk.edited({}), *on_disk.foreign({})}):
            return Verdict(job, "edited", _within(on_disk, wrong))
        if job not in self.present:
            return Verdict(job, "orphan", _within(on_disk, on_disk.digests))
        if on_disk.missing:
            return Verdict(job, "missing", _within(on_disk, on_disk.missing))
        frozen = self.frozen.get(job)
        if frozen is None or on_disk.lockfile.underway:
            return Verdict(job, "stale", _within(on_disk, on_disk.digests))
        if on_disk.has_earlier_list or frozen.lock.source != frozen.document.file:
            files = _within(on_disk, [FILE]) if on_disk.has_earlier_list else [lockfile_path(job)]
            return Verdict(job, "stale", files)
        return Verdict(job, "unproven")

    def _is_compiled(self, job: FrozenJob) -> bool:
        found = self.compiled.get(job.id)
        return found is not None and found.pins == job.lock.pins

    def _is_provable(self, job: FrozenJob) -> bool:
        pins = job.lock.pins
        return pins.compiler == __version__ and not self._changed(pins) and self._has_keys(job.id, pins)

    def changed_plugins(self) -> set[str]:
        """How plugin packages changed since frozen jobs were rendered."""
        return {change for job in self.frozen.values() for change in self._changed(job.lock.pins)}

    def _changed(self, pins: Pins) -> list[str]:
        return changed_plugins(pins, self.plugins.versions, self.plugins.code)

    def _has_keys(self, job: JobId, pins: Pins) -> bool:
        """Whether the key files are the ones copied in; replaced ones exist only as rendered copies."""
        from trainform.core.secrets import key_files

        inputs = next(each for each in self.environments if each.name == job[0])
        keys = key_files(document.tree for document in inputs.sources.documents) if pins.keys else {}
        digests = {name: digest_of([tree]) for (namespace, name), tree in keys.items() if namespace == job[1]}
        return all(digests.get(name) == digest for name, digest in pins.keys.items())

    def _damaged_snapshots(self, jobs: Iterable[FrozenJob]) -> set[str]:
        """The files of the jobs' snapshots that cannot be read, or do not hold what their name says."""
        digests = dict.fromkeys(digest for job in jobs for digest in job.lock.pins.snapshots)
        read = (read_snapshot(self.locks.repository, digest) for digest in digests)
        return {found.file for found in read if isinstance(found, Diagnostic)}

    def _compared(self, job: FrozenJob, rebuilt: Rebuilt | None) -> Verdict:
        """Compare with what rendering again gives, the lock included: it may name another runtime than its snapshot
        holds, or leave out a key."""
        lock = job.lock
        digests = digests_of_files(rebuilt.files if rebuilt else {})
        wrong = {name for name, digest in lock.files.items() if digests.get(name) != digest}
        wrong |= digests.keys() - lock.files.keys()
        folder = job_folder(self.locks.repository.settings.rendered, *job.id)
        files = [f"{folder}/{name}" for name in sorted(wrong)]
        if rebuilt and (rebuilt.pins.runtime, rebuilt.pins.keys) != (lock.pins.runtime, lock.pins.keys):
            files.append(lockfile_path(job.id))
        return Verdict(job.id, "edited", files) if files else Verdict(job.id, "current")


def _without_snapshot(job: FrozenJob, missing: set[str], damaged: set[str]) -> Verdict | None:
    """The verdict for a job that has lost what it was rendered from, whichever version rendered it."""
    own = {*map(snapshot_file, job.lock.pins.snapshots)}
    if lacking := own & missing:
        return Verdict(job.id, "missing", sorted(lacking))
    return Verdict(job.id, "edited", sorted(own & damaged)) if own & damaged else None


def _within(on_disk: JobOnDisk, names: Collection[str]) -> list[str]:
    return [f"{on_disk.folder}/{name}" for name in names]
