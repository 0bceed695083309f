"""Plan the jobs of one chunk: resolve, compile, admit and stage them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import has_errors
from trainform.diagnostics.suggest import did_you_mean
from trainform.io import paths
from trainform.io.paths import JobId
from trainform.io.place import file_error, os_error
from trainform.io.staging import Staging
from trainform.io.writer import JobChange, stage
from trainform.output.layout import job_files
from trainform.workspace.behind import behind, current_inputs
from trainform.workspace.cache.index import JobFacts, Proof
from trainform.workspace.compilation import Outcome, compile_environments
from trainform.workspace.fingerprint import NOTHING, CurrentInputs, digests_of_files, lock_of
from trainform.workspace.frozen import FrozenJob, keep_frozen_only, layout_of, rebuild, take_frozen
from trainform.workspace.lockfile import Lock
from trainform.workspace.parallel import Chunk, ChunkStats
from trainform.workspace.plan import BuildOptions, ChangeSet, Details
from trainform.workspace.selection import select, unselected_jobs
from trainform.workspace.shards import JobElsewhere, frozen_lock, pinned_snapshots, take_other_shards
from trainform.workspace.state import JobOnDisk, LockStore
from trainform.workspace.verify.namesakes import objects_of

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs

_UPGRADE = "its manifests cannot be verified: run `trainform upgrade` for it, or restore the snapshot with git"


def plan_chunk(
    workspace: Workspace, options: BuildOptions, staging: Staging, environments: list[EnvironmentInputs], chunk: Chunk
) -> ChangeSet:
    """Plan the jobs of a chunk: resolve, compile, admit and stage them."""
    locks = workspace.locks.fresh()
    plan = ChangeSet(stats=ChunkStats.of(environments, chunk))
    apart = _leave_out(workspace, options, environments, locks, chunk, plan)
    wants_job = not has_errors(apart.problems) and not options.allow_empty
    outcome = compile_environments(environments, apart.problems, wants_job=wants_job)
    plan.stats.add_outcome(
        environments, outcome, [*(job.id for job in apart.frozen), *(job.id for job in apart.elsewhere)]
    )
    plan.diagnostics, plan.failures = chunk.found(outcome), outcome.failures
    work = _ChunkPlanner(
        workspace, options, staging, environments, locks, outcome, current_inputs(environments, outcome), plan
    )
    compiled = ((job.environment, job.namespace, job.name) for job in outcome.jobs)
    plan.present = {*(job.id for job in apart.frozen), *compiled}
    if chunk.is_whole:
        plan.details = Details(outcome, apart.frozen, work.current, locks, work.changes)
    try:
        work.keep(apart.frozen)
        work.put_compiled()
        work.add_elsewhere(apart.elsewhere)
        plan.behind = behind([(job.id, job.lock.pins) for job in apart.frozen], work.current)
        work.add_snapshots(apart.frozen)
    except OSError as error:
        plan.jobs.clear()
        plan.wrote.clear()
        plan.removed.clear()
        plan.conflicts.append(os_error("TF701", error.filename or "", error, "cannot be read"))
        return plan
    if options.covers_everything and not chunk.is_whole:
        work.remember(apart.frozen, chunk)
    return plan


class _NotCompiled(NamedTuple):
    """The jobs of a chunk that are not compiled, and the problems of the repository itself."""

    frozen: list[FrozenJob]
    elsewhere: list[JobElsewhere]
    problems: list[Diagnostic]

    def ids(self) -> list[JobId]:
        return [*(job.id for job in self.frozen), *(job.id for job in self.elsewhere)]


def _leave_out(
    workspace: Workspace,
    options: BuildOptions,
    environments: Sequence[EnvironmentInputs],
    locks: LockStore,
    chunk: Chunk,
    plan: ChangeSet,
) -> _NotCompiled:
    """Leave out jobs that were not asked for, those of other shards, and frozen ones. An upgrade leaves out changed
    jobs unless named, and frozen jobs that it does not thaw."""
    problems = [*workspace.problems] if chunk.first else []
    if options.jobs:
        problems += select(workspace, environments, options.jobs)
    else:
        problems += unselected_jobs(workspace, environments, chunk.files)
    elsewhere = [job for each in environments for job in take_other_shards(each, options.shard)]
    frozen = [job for each in environments for job in take_frozen(each, locks, options.thaws)]
    if not options.upgrade:
        return _NotCompiled(frozen, elsewhere, problems)
    if not options.jobs:
        plan.conflicts += [problem for each in environments for problem in keep_frozen_only(each, locks)]
    if chunk.is_whole:
        problems += _unknown_runtime(options, environments, locks)
    elsewhere = [job for job in elsewhere if (lock := frozen_lock(job, locks)) and options.thaws(lock)]
    return _NotCompiled([], elsewhere, problems)


def _unknown_runtime(
    options: BuildOptions, environments: Sequence[EnvironmentInputs], locks: LockStore
) -> list[Diagnostic]:
    """TF705 if `--runtime` matches no rendered job."""
    if not options.runtime or any(each.train_jobs() for each in environments):
        return []
    known = {lock.lock.pins.runtime.name for job in locks.ids() if (lock := locks.lockfile(job))}
    hint = did_you_mean(options.runtime, known) or f"rendered jobs use: {', '.join(sorted(known)) or 'none'}"
    return [Diagnostic("TF705", "error", f'no rendered job uses runtime "{options.runtime}"', hint)]


@dataclass(slots=True)
class _ChunkPlanner:
    """Fills a plan from one compiled chunk. `changes` is filled for previews only."""

    workspace: Workspace
    options: BuildOptions
    staging: Staging
    environments: Sequence[EnvironmentInputs]
    locks: LockStore
    outcome: Outcome
    current: Mapping[str, CurrentInputs]
    plan: ChangeSet
    changes: dict[JobId, JobChange] = field(default_factory=dict)

    def keep(self, frozen: Iterable[FrozenJob]) -> None:
        """Keep frozen jobs as they are; rebuild their missing files, byte for byte."""
        lacking = []
        for job in frozen:
            on_disk, lock = self.locks.on_disk(job.id), self._lock(job)
            if not isinstance(on_disk, JobOnDisk) or on_disk.conflicts(job.lock.files):
                self._put(job.id, lock)  # which reports the conflict
            elif on_disk.digests.keys() >= lock.files.keys():
                self._put(job.id, lock, self._present(on_disk, lock))
            else:
                lacking.append(job)
        if not lacking:
            return
        repository = self.workspace.repository
        rebuilt, problems = rebuild(repository, self.environments, lacking, self.outcome.catalogue)
        self.plan.conflicts += problems
        for job in lacking:
            again = rebuilt.get(job.id)
            lock = self._lock(job)
            if again is not None and digests_of_files(again.files) == lock.files:
                self._put(job.id, lock, again.files)
            elif not problems:
                self.plan.conflicts.append(_not_rebuilt(job, self.locks))

    def _lock(self, job: FrozenJob) -> Lock:
        """The job's lock, without the list of an earlier version, and updated if its TrainJob moved to another file."""
        file, lock = job.document.file, job.lock.of_this_layout()
        if lock.source == file:
            return lock
        inputs = next(each for each in self.environments if each.name == job.id[0])
        return lock._replace(source=file, source_digest=inputs.sources.digests.get(file, ""))

    def _present(self, on_disk: JobOnDisk, lock: Lock) -> dict[str, bytes] | None:
        """The job's files as they are, if its folder is to lose the list of an earlier version; None if nothing is to
        change."""
        if on_disk.digests == lock.files:
            return None
        found = paths.folder_bytes(self.workspace.repository.root, on_disk.folder)
        return {name: data for name, data in found.items() if name in lock.files and data is not None}

    def put_compiled(self) -> None:
        """Plan the compiled jobs that have no error."""
        for each, compilation in zip(self.environments, self.outcome.compilations, strict=True):
            layout = layout_of(compilation.inputs.environment)
            for job in compilation.jobs:
                if job.objects:
                    files, key = job_files(job.objects, layout), (each.name, job.namespace, job.name)
                    self.plan.compiled[key] = job.document.file, objects_of(job.name, job.objects)
                    self._put(key, self._new_lock(each, job, files), files)

    def _new_lock(self, inputs: EnvironmentInputs, job: CompiledJob, files: Mapping[str, bytes]) -> Lock:
        """The lock of a compiled job. Keeps the one on disk if only the bytes of the source differ, as after an edit of
        a comment: an upgrade does not count that as a change."""
        lock = lock_of(job, self.current[inputs.name], files)
        held = self.locks.lock((inputs.name, job.namespace, job.name))
        if held is not None and held._replace(source_digest="") == lock:
            return held
        return lock._replace(source_digest=inputs.sources.digests.get(job.document.file, ""))

    def _put(self, job: JobId, lock: Lock, files: Mapping[str, bytes] | None = None) -> None:
        change = self.plan.put(self.locks.on_disk(job), lock, files)
        if change is None or self.plan.unwritable:
            return
        if self.options.dry_run:
            self.changes[job] = change
            return
        try:
            self.plan.jobs[job] = stage(self.staging, change)
        except OSError as error:
            self.plan.unwritable = True
            self.plan.jobs.clear()
            self.plan.conflicts.append(os_error("TF707", change.folder, error, "cannot be written"))

    def add_elsewhere(self, jobs: Iterable[JobElsewhere]) -> None:
        """The first shard writes the snapshots that jobs of other shards are pinned to."""
        for job in jobs:
            self.plan.elsewhere.add(job.id)
            if self.options.shard.is_first:
                lock = None if self.options.upgrade else frozen_lock(job, self.locks)
                self.plan.pinned.update(pinned_snapshots(job, lock, self.current[job.id[0]]))

    def add_snapshots(self, frozen: Sequence[FrozenJob]) -> None:
        """Plan the snapshots to write; warn about each frozen job whose snapshots are missing and cannot be recreated.
        This happens after a merge: one branch upgrades the last job on a snapshot, which removes it, while the other
        adds a job that uses it."""
        stored = {*paths.snapshots(self.workspace.repository.root), NOTHING}
        at_hand = {each.digest: each for current in self.current.values() for each in current.snapshots()}
        self.plan.snapshots = {
            digest: each for digest, each in at_hand.items() if digest in self.plan.pinned and digest not in stored
        }
        message, known = "a snapshot that this job is pinned to is missing", stored.union(at_hand)
        self.plan.conflicts += [
            Diagnostic("TF712", "warning", message, _UPGRADE, place=job.document)
            for job in frozen
            if not known.issuperset(job.lock.pins.snapshots)
        ]

    def remember(self, frozen: Sequence[FrozenJob], chunk: Chunk) -> None:
        """For the cache: frozen jobs in files with only frozen jobs and no findings."""
        plan = self.plan
        noted = {each.file for each in (*plan.diagnostics, *plan.conflicts)}
        noted |= {job.document.file for job in self.outcome.jobs}
        noted |= {job.document.file for job in frozen if job.id in plan.jobs or job.id not in plan.locked}
        noted |= {file for each in self.environments for file in each.sources.unsettled}
        plan.clean_files = [file for file in chunk.files or () if file not in noted]
        clean = set(plan.clean_files)
        for job in frozen:
            if job.lock.source in clean:
                causes = tuple(self.current[job.id[0]].causes(job.lock.pins, job.id[1]))
                plan.facts.add(job.id, JobFacts.of(job.lock, Proof.UNCHANGED, causes=causes))


def _not_rebuilt(job: FrozenJob, locks: LockStore) -> Diagnostic:
    on_disk = locks.on_disk(job.id)
    assert isinstance(on_disk, JobOnDisk)
    file = f"{on_disk.folder}/{on_disk.missing[0]}"
    message = "is missing, and trainform and its plugins, as installed, do not render it as it was"
    hint = f"restore it: `git checkout -- {file}`; or run `trainform upgrade {'/'.join(job.id[1:])}`"
    return file_error("TF713", file, message, hint)
