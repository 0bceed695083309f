"""What a build changes, worked out before any of it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted, has_errors
from trainform.diagnostics.suggest import did_you_mean
from trainform.io import paths
from trainform.io.paths import JobId
from trainform.io.place import file_error, os_error
from trainform.io.writer import JobChange, Staged, stage
from trainform.output.kustomization import FILE
from trainform.output.layout import job_files
from trainform.workspace.cache.index import JobFacts, JobTable, Proof
from trainform.workspace.compilation import Outcome, compile_environments
from trainform.workspace.fingerprint import NOTHING, CurrentInputs, Snapshot, digests_of_files, lock_of
from trainform.workspace.lockfile import Lock, LockFile, dump
from trainform.workspace.parallel import Chunk, ChunkStats
from trainform.workspace.selection import select
from trainform.workspace.shards import ALL, JobElsewhere, Shard, frozen_lock, pinned_snapshots, take_other_shards
from trainform.workspace.staleness import Behind, behind, current_inputs, merge
from trainform.workspace.state import JobOnDisk, LockStore
from trainform.workspace.uptodate import FrozenJob, keep_frozen_only, layout_of, rebuild, take_frozen

if TYPE_CHECKING:
    from trainform.core.pipeline import PluginFailure
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs

_UPGRADE = "its manifests cannot be verified: run `trainform upgrade` for it, or restore the snapshot with git"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What a build was asked for.

    `jobs` and `environments` limit it; all, where they are empty. `upgrade`: frozen jobs are rendered again, those on
    `runtime` where it is given, and unless they are named no others. `detailed`: the result has objects, for JSON.
    `workers` as for `map_chunks`. Without `cached`, every file is read.
    """

    jobs: Sequence[str] = ()
    environments: Sequence[str] = ()
    upgrade: bool = False
    runtime: str = ""
    keep_going: bool = False
    allow_empty: bool = False
    dry_run: bool = False
    detailed: bool = False
    shard: Shard = ALL
    workers: int = 0
    cached: bool = True

    @property
    def prunes(self) -> bool:
        """Whether jobs that are gone are removed: not where only some jobs were asked for."""
        return not (self.upgrade or self.jobs)

    @property
    def in_one_piece(self) -> bool:
        return bool(self.jobs) or self.dry_run or self.detailed

    @property
    def covers_everything(self) -> bool:
        """Whether it is a plain render of all jobs: only of that does the cache know the result."""
        return self.prunes and not (self.in_one_piece or self.environments) and self.shard == ALL

    def thaws(self, lock: Lock) -> bool:
        """Whether a frozen job is to be rendered again."""
        pin = lock.pins.runtime
        return self.upgrade and self.runtime in ("", pin.name, f"{pin.namespace}/{pin.name}")


class Details(NamedTuple):
    """Everything that is known of jobs that were worked on in one piece: for JSON, and for previews."""

    outcome: Outcome
    frozen: list[FrozenJob]
    current: Mapping[str, CurrentInputs]
    locks: LockStore
    changes: dict[JobId, JobChange]


@dataclass(slots=True, kw_only=True)
class ChangeSet:
    """What becomes of some jobs, or of all. Nothing of it is done yet; it may come from another process.

    `jobs` are the changes by job, staged; `files` those of files that no single job owns (None: remove).
    `present` are the jobs that have a TrainJob, be it a faulty one; `locked` those that have a lock afterwards, `gone`
    those that are removed, `elsewhere` those of other shards. `wrote` and `removed` are paths to report.
    `pinned` counts the locks that name a snapshot; `snapshots` are those to write. `lists` are the folders that the
    `kustomization.yaml` of each shared folder is to name.
    `diagnostics` were found in the inputs; `conflicts` stand in the way of writing. `unwritable`: the disk does not
    take the files. `facts` are what the cache may remember of unchanged jobs, `clean_files` the files of only those.
    """

    stats: ChunkStats = field(default_factory=ChunkStats)
    jobs: dict[JobId, Staged] = field(default_factory=dict)
    files: dict[str, bytes | None] = field(default_factory=dict)
    present: set[JobId] = field(default_factory=set)
    locked: set[JobId] = field(default_factory=set)
    elsewhere: set[JobId] = field(default_factory=set)
    gone: set[JobId] = field(default_factory=set)
    unchanged: int = 0
    wrote: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    pinned: Counter[str] = field(default_factory=Counter)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    behind: Behind = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    conflicts: list[Diagnostic] = field(default_factory=list)
    failures: list[PluginFailure] = field(default_factory=list)
    lists: dict[str, Collection[str]] = field(default_factory=dict)
    unwritable: bool = False
    facts: JobTable = field(default_factory=JobTable)
    clean_files: list[str] = field(default_factory=list)
    details: Details | None = None

    @classmethod
    def merge(cls, parts: Sequence[ChangeSet]) -> ChangeSet:
        """What becomes of the jobs of all parts."""
        if len(parts) == 1:
            return parts[0]
        whole = cls()
        for part in parts:
            for name in ("jobs", "snapshots", "present", "locked", "elsewhere", "pinned", "facts"):
                getattr(whole, name).update(getattr(part, name))
            for name in ("wrote", "removed", "diagnostics", "conflicts", "failures", "clean_files"):
                getattr(whole, name).extend(getattr(part, name))
            whole.unchanged += part.unchanged
            whole.unwritable |= part.unwritable
        whole.behind = merge(part.behind for part in parts)
        return whole

    def problems(self) -> list[Diagnostic]:
        return [*self.diagnostics, *self.conflicts]

    @property
    def changes_nothing(self) -> bool:
        """Whether everything is as it should be already."""
        return not (self.jobs or self.files or has_errors(self.problems()))

    def may_write(self, options: BuildOptions) -> bool:
        """With an error anywhere nothing is written, or with `keep_going` only what is good."""
        if options.dry_run or self.unwritable:
            return False
        return options.keep_going or not has_errors(self.problems())

    def remaining(self, workspace: Workspace) -> set[JobId]:
        """The jobs that have a lock afterwards."""
        return ({*workspace.locks.ids()} | self.locked | self.elsewhere) - self.gone

    def put(
        self, on_disk: JobOnDisk | Diagnostic, lock: Lock, files: Mapping[str, bytes] | None = None
    ) -> JobChange | None:
        """A job is to have this lock, and these files; None: those that it has. What changes is returned."""
        if isinstance(on_disk, Diagnostic):
            self.conflicts.append(on_disk)
            return None
        if conflicts := on_disk.conflicts(lock.files):
            self.conflicts += conflicts
            return None
        self.locked.add(on_disk.id)
        self.pinned.update(lock.pins.snapshots)
        path, text = paths.lock_file(on_disk.id), dump(LockFile(lock))
        if on_disk.digests != lock.files:
            assert files is not None  # without new files a job has what its lock says, or there is a conflict
            self._report(on_disk, lock)
            underway = dump(LockFile(lock, True, on_disk.lock)) if on_disk.digests else b""
            return JobChange(on_disk.folder, path, files, text, underway)
        if on_disk.lock_file != LockFile(lock):
            return JobChange(on_disk.folder, path, None, text)
        self.unchanged += 1
        return None

    def _report(self, on_disk: JobOnDisk, lock: Lock) -> None:
        changed = [name for name, digest in lock.files.items() if on_disk.digests.get(name) != digest]
        self.wrote += [f"{on_disk.folder}/{name}" for name in changed if name != FILE]
        self.removed += [f"{on_disk.folder}/{name}" for name in on_disk.digests if name not in lock.files]

    def prune(self, workspace: Workspace, options: BuildOptions) -> None:
        """Removes the jobs that are gone. An error may be what hides a job: while there is any, none is removed."""
        asked = options.environments
        known = [job for job in workspace.locks.ids() if not asked or job[0] in asked]
        alive = self.present | self.elsewhere
        gone = [job for job in known if job not in alive]
        if not options.allow_empty:
            emptied = {job[0] for job in gone} - {job[0] for job in alive}
            self.conflicts += [_emptied(name, gone) for name in sorted(emptied)]
        if not has_errors(self.problems()):
            self.gone |= {job for job in gone if not options.shard.has(job) or self._drop(workspace.locks, job)}

    def _drop(self, locks: LockStore, job: JobId) -> bool:
        """A job's files, folder and lock are removed, if nothing stands in the way."""
        on_disk = locks.on_disk(job)
        conflicts = [on_disk] if isinstance(on_disk, Diagnostic) else on_disk.conflicts({})
        self.conflicts += conflicts
        if conflicts or isinstance(on_disk, Diagnostic):
            return False
        self.jobs[job] = Staged.GOES
        self.removed += [f"{on_disk.folder}/{name}" for name in on_disk.digests if name != FILE]
        return True


def _emptied(name: str, gone: Collection[JobId]) -> Diagnostic:
    jobs = counted(sum(job[0] == name for job in gone), "job")
    message = f"no TrainJob is left for environment {name!r}, which has {jobs}"
    hint = "to delete all of them, pass --allow-empty; otherwise find out where its TrainJobs went"
    return Diagnostic("TF714", "error", message, hint)


def plan_chunk(
    workspace: Workspace, options: BuildOptions, environments: list[EnvironmentInputs], chunk: Chunk
) -> ChangeSet:
    """What becomes of the jobs of a chunk: they are resolved, compiled, admitted, and staged."""
    locks = workspace.locks.fresh()
    plan = ChangeSet(stats=ChunkStats.of(environments, chunk))
    apart = _set_apart(workspace, options, environments, locks, chunk, plan)
    wants_job = not apart.problems and not options.allow_empty
    outcome = compile_environments(environments, apart.problems, wants_job=wants_job)
    plan.stats.add_outcome(
        environments, outcome, [*(job.id for job in apart.frozen), *(job.id for job in apart.elsewhere)]
    )
    plan.diagnostics, plan.failures = chunk.found(outcome), outcome.failures
    work = _Work(workspace, options, environments, locks, outcome, current_inputs(environments, outcome), plan)
    try:
        work.keep(apart.frozen)
        work.put_compiled()
        work.add_elsewhere(apart.elsewhere)
        plan.behind = behind([(job.id, job.lock.pins) for job in apart.frozen], work.current)
        work.add_snapshots(apart.frozen)
    except OSError as error:
        problem = os_error("TF701", error.filename or "", error, "cannot be read")
        return ChangeSet(stats=plan.stats, conflicts=[*plan.conflicts, problem])
    compiled = ((job.environment, job.namespace, job.name) for job in outcome.jobs)
    plan.present = {*(job.id for job in apart.frozen), *compiled}
    if options.covers_everything and not chunk.is_whole:
        work.remember(apart.frozen, chunk)
    if chunk.is_whole:
        plan.details = Details(outcome, apart.frozen, work.current, locks, work.changes)
    return plan


class _Apart(NamedTuple):
    """The jobs of a chunk that are not compiled, and the problems of the repository itself."""

    frozen: list[FrozenJob]
    elsewhere: list[JobElsewhere]
    problems: list[Diagnostic]

    def ids(self) -> list[JobId]:
        return [*(job.id for job in self.frozen), *(job.id for job in self.elsewhere)]


def _set_apart(
    workspace: Workspace,
    options: BuildOptions,
    environments: Sequence[EnvironmentInputs],
    locks: LockStore,
    chunk: Chunk,
    plan: ChangeSet,
) -> _Apart:
    """Takes out the jobs that were not asked for, those of other shards, and those that are frozen. An upgrade is only
    about frozen jobs, and leaves alone those that it does not thaw."""
    problems = [*workspace.problems] if chunk.first else []
    if options.jobs:
        problems += select(environments, options.jobs, workspace.repository.root)
    elsewhere = [job for each in environments for job in take_other_shards(each, options.shard)]
    frozen = [job for each in environments for job in take_frozen(each, locks, options.thaws)]
    if not options.upgrade:
        return _Apart(frozen, elsewhere, problems)
    if not options.jobs:
        plan.conflicts += [problem for each in environments for problem in keep_frozen_only(each, locks)]
    if chunk.is_whole:
        problems += _unknown_runtime(options, environments, locks)
    elsewhere = [job for job in elsewhere if (lock := frozen_lock(job, locks)) and options.thaws(lock)]
    return _Apart([], elsewhere, problems)


def _unknown_runtime(
    options: BuildOptions, environments: Sequence[EnvironmentInputs], locks: LockStore
) -> list[Diagnostic]:
    """An error where no job is left that runs on the runtime that was asked for."""
    if not options.runtime or any(each.train_jobs() for each in environments):
        return []
    known = {lock.lock.pins.runtime.name for job in locks.ids() if (lock := locks.lock_file(job))}
    hint = did_you_mean(options.runtime, known) or f"rendered jobs use: {', '.join(sorted(known)) or 'none'}"
    return [Diagnostic("TF705", "error", f'no rendered job uses runtime "{options.runtime}"', hint)]


@dataclass(slots=True)
class _Work:
    """One chunk on its way into a plan. `changes` is filled for previews only."""

    workspace: Workspace
    options: BuildOptions
    environments: Sequence[EnvironmentInputs]
    locks: LockStore
    outcome: Outcome
    current: Mapping[str, CurrentInputs]
    plan: ChangeSet
    changes: dict[JobId, JobChange] = field(default_factory=dict)

    def keep(self, frozen: Iterable[FrozenJob]) -> None:
        """Frozen jobs stay as they are; files that are missing are rebuilt, byte for byte."""
        lacking = []
        for job in frozen:
            on_disk = self.locks.on_disk(job.id)
            if isinstance(on_disk, JobOnDisk) and on_disk.missing and not on_disk.conflicts(job.lock.files):
                lacking.append(job)
            else:
                self._put(job.id, self._lock(job))
        if not lacking:
            return
        repository = self.workspace.repository
        rebuilt, problems = rebuild(repository, self.environments, lacking, self.outcome.catalogue)
        self.plan.conflicts += problems
        for job in lacking:
            files = rebuilt.get(job.id, {})
            if digests_of_files(files) == job.lock.files:
                self._put(job.id, self._lock(job), files)
            elif not problems:
                self.plan.conflicts.append(_not_rebuilt(job, self.locks))

    def _lock(self, job: FrozenJob) -> Lock:
        """The lock of a job whose TrainJob may have moved to another file."""
        file = job.document.file
        if job.lock.source == file:
            return job.lock
        inputs = next(each for each in self.environments if each.name == job.id[0])
        return job.lock._replace(source=file, source_digest=inputs.sources.digests.get(file, ""))

    def put_compiled(self) -> None:
        """The jobs that were compiled, and have no error."""
        for each, compilation in zip(self.environments, self.outcome.compilations, strict=True):
            layout = layout_of(compilation.inputs.environment)
            for job in compilation.jobs:
                if job.objects:
                    files = job_files(job.objects, layout)
                    source_digest = each.sources.digests.get(job.document.file, "")
                    id, lock = (each.name, job.namespace, job.name), lock_of(job, self.current[each.name], files)
                    held = self.locks.lock(id)
                    # Other bytes of its source alone, such as a comment, do not make an upgraded job a changed one.
                    is_same = held is not None and held._replace(source_digest="") == lock
                    lock = held if held and is_same else lock._replace(source_digest=source_digest)
                    self._put(id, lock, files)

    def _put(self, job: JobId, lock: Lock, files: Mapping[str, bytes] | None = None) -> None:
        change = self.plan.put(self.locks.on_disk(job), lock, files)
        if change is None or self.plan.unwritable:
            return
        if self.options.dry_run:
            self.changes[job] = change
            return
        try:
            self.plan.jobs[job] = stage(self.workspace.repository.root, change)
        except OSError as error:
            self.plan.unwritable = True
            self.plan.jobs.clear()
            self.plan.conflicts.append(os_error("TF707", change.folder, error, "cannot be written"))

    def add_elsewhere(self, jobs: Iterable[JobElsewhere]) -> None:
        """The snapshots that jobs of other shards are pinned to are written by the first shard."""
        for job in jobs:
            self.plan.elsewhere.add(job.id)
            if self.options.shard.is_first:
                lock = None if self.options.upgrade else frozen_lock(job, self.locks)
                self.plan.pinned.update(pinned_snapshots(job, lock, self.current[job.id[0]]))

    def add_snapshots(self, frozen: Sequence[FrozenJob]) -> None:
        """Snapshots to write, and a warning for each frozen job whose snapshots are gone, and cannot be made again
        from what is current.

        Two branches make such a job, when one uses what the other was the last to use and upgrades.
        """
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
        """What the cache may know: frozen jobs in files that hold nothing else, and nothing to report."""
        plan = self.plan
        noted = {each.file for each in (*plan.diagnostics, *plan.conflicts)}
        noted |= {job.document.file for job in self.outcome.jobs}
        noted |= {job.document.file for job in frozen if job.id in plan.jobs or job.id not in plan.locked}
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
    message = "is missing, and this version of trainform does not render it as it was"
    hint = f"restore it: `git checkout -- {file}`; or run `trainform upgrade {'/'.join(job.id[1:])}`"
    return file_error("TF713", file, message, hint)
