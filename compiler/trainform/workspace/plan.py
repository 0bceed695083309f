"""The changes of a build, planned before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted, has_errors
from trainform.io import paths
from trainform.io.paths import JobId
from trainform.io.writer import JobChange, Staged
from trainform.output.kustomization import FILE
from trainform.workspace.behind import Behind, merge
from trainform.workspace.cache.index import JobTable
from trainform.workspace.compilation import Outcome
from trainform.workspace.fingerprint import CurrentInputs, Snapshot
from trainform.workspace.frozen import FrozenJob
from trainform.workspace.lockfile import Lock, LockFile, dump
from trainform.workspace.parallel import ChunkStats
from trainform.workspace.shards import ALL, Shard
from trainform.workspace.state import JobOnDisk, LockStore
from trainform.workspace.verify.namesakes import Objects, namesakes, near, rendered_objects

if TYPE_CHECKING:
    from trainform.core.plugin import PluginFailure
    from trainform.workspace.discovery import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """Options of a build. `jobs` and `environments` limit it; empty means all. `upgrade`: render frozen jobs again,
    only those on `runtime` if given; changed jobs are left alone unless named in `jobs`. `prune_snapshots`: delete
    those that no lock names. `detailed`: include objects, for JSON. `workers` as for `map_chunks`. `cached`: use the
    build cache."""

    jobs: Sequence[str] = ()
    environments: Sequence[str] = ()
    upgrade: bool = False
    runtime: str = ""
    keep_going: bool = False
    allow_empty: bool = False
    prune_snapshots: bool = False
    dry_run: bool = False
    detailed: bool = False
    shard: Shard = ALL
    workers: int = 0
    cached: bool = True

    @property
    def prunes(self) -> bool:
        """Whether deleted jobs are removed: not by an upgrade, nor if only some jobs were asked for."""
        return not (self.upgrade or self.jobs)

    @property
    def in_one_piece(self) -> bool:
        return bool(self.jobs) or self.dry_run or self.detailed

    @property
    def covers_everything(self) -> bool:
        """Whether it is a plain render of all jobs. The cache stores results of such runs only."""
        return self.prunes and not (self.in_one_piece or self.environments) and self.shard == ALL

    def thaws(self, lock: Lock) -> bool:
        """Whether a frozen job is to be rendered again."""
        pin = lock.pins.runtime
        return self.upgrade and self.runtime in ("", pin.name, f"{pin.namespace}/{pin.name}")


class Details(NamedTuple):
    """Details of jobs planned in one piece, for JSON and previews."""

    outcome: Outcome
    frozen: list[FrozenJob]
    current: Mapping[str, CurrentInputs]
    locks: LockStore
    changes: dict[JobId, JobChange]


@dataclass(slots=True, kw_only=True)
class ChangeSet:
    """Planned changes of some or all jobs, not yet applied; may come from another process.

    `jobs` are the staged changes by job; `files` the changes of files that no single job owns (None: remove). `present`
    jobs have a TrainJob, even a faulty one; `locked` jobs have a lock afterwards; `gone` jobs are removed; `elsewhere`
    jobs are in other shards. `wrote` and `removed` are paths to report. `pinned` counts locks by snapshot; `snapshots`
    are to be written. `lists_removed` counts lists of earlier versions. `diagnostics` come from the inputs; `conflicts`
    prevent writing. `unwritable`: staging to disk failed. `facts` of unchanged jobs are for the cache;
    `clean_files` hold only such jobs. `compiled` jobs have a file and objects.
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
    lists_removed: int = 0
    unwritable: bool = False
    facts: JobTable = field(default_factory=JobTable)
    clean_files: list[str] = field(default_factory=list)
    details: Details | None = None
    compiled: dict[JobId, tuple[str, Objects]] = field(default_factory=dict)

    def add(self, other: ChangeSet) -> None:
        """Add the plan of another chunk."""
        self.jobs |= other.jobs
        self.present |= other.present
        self.locked |= other.locked
        self.elsewhere |= other.elsewhere
        self.wrote += other.wrote
        self.removed += other.removed
        self.pinned.update(other.pinned)
        self.snapshots |= other.snapshots
        self.diagnostics += other.diagnostics
        self.conflicts += other.conflicts
        self.failures += other.failures
        self.compiled |= other.compiled
        self.facts.update(other.facts)
        self.clean_files += other.clean_files
        self.unchanged += other.unchanged
        self.lists_removed += other.lists_removed
        self.unwritable |= other.unwritable
        self.behind = merge([self.behind, other.behind])

    def problems(self) -> list[Diagnostic]:
        return [*self.diagnostics, *self.conflicts]

    def may_write(self, options: BuildOptions) -> bool:
        """Any error prevents writing; with `keep_going`, the jobs without errors are written."""
        if options.dry_run or self.unwritable:
            return False
        return options.keep_going or not has_errors(self.problems())

    def remaining(self, workspace: Workspace) -> set[JobId]:
        """All jobs that have a lock once the plan is applied."""
        return ({*workspace.locks.ids()} | self.locked | self.elsewhere) - self.gone

    def tell_namesakes(self, workspace: Workspace) -> None:
        """An error for each object that a compiled job would share with another one."""
        if not self.compiled:
            return
        jobs, repository, locks = self.remaining(workspace), workspace.repository, workspace.locks

        def objects(job: JobId) -> Objects:
            return self.compiled[job][1] if job in self.compiled else rendered_objects(repository, job)

        def file(job: JobId) -> str:
            lock = locks.lockfile(job)
            return self.compiled[job][0] if job in self.compiled else lock.lock.source if lock else ""

        new = sorted(job for job in jobs if job in self.compiled or not self.compiled.keys().isdisjoint(near(job)))
        self.conflicts += namesakes(new, jobs, objects, file)

    def put(
        self, on_disk: JobOnDisk | Diagnostic, lock: Lock, files: Mapping[str, bytes] | None = None
    ) -> JobChange | None:
        """Plan this lock and these files for a job (None: keep its files). Returns the change; None if there is none,
        or a conflict."""
        if isinstance(on_disk, Diagnostic):
            self.conflicts.append(on_disk)
            return None
        if conflicts := on_disk.conflicts(lock.files):
            self.conflicts += conflicts
            return None
        self.locked.add(on_disk.id)
        self.pinned.update(lock.pins.snapshots)
        path, text = paths.lockfile_path(on_disk.id), dump(LockFile(lock))
        if on_disk.digests != lock.files:
            assert files is not None  # only intact frozen jobs come without files
            self._report(on_disk, lock)
            underway = dump(LockFile(lock, True, on_disk.lock)) if on_disk.digests else b""
            return JobChange(on_disk.folder, path, files, text, underway)
        if on_disk.lockfile != LockFile(lock):
            return JobChange(on_disk.folder, path, None, text)
        self.unchanged += 1
        return None

    def _report(self, on_disk: JobOnDisk, lock: Lock) -> None:
        changed = [name for name, digest in lock.files.items() if on_disk.digests.get(name) != digest]
        gone = [name for name in on_disk.digests if name not in lock.files]
        self.wrote += [f"{on_disk.folder}/{name}" for name in changed if name != FILE]
        self.removed += [f"{on_disk.folder}/{name}" for name in gone if name != FILE]
        self.lists_removed += on_disk.has_earlier_list

    def prune(self, workspace: Workspace, options: BuildOptions) -> None:
        """Remove deleted jobs, unless there is any error: it may hide a TrainJob."""
        asked = options.environments
        known = [job for job in workspace.locks.ids() if not asked or job[0] in asked]
        alive = self.present | self.elsewhere
        gone = [job for job in known if job not in alive]
        if not options.allow_empty:
            emptied = {job[0] for job in gone} - {job[0] for job in alive}
            self.conflicts += [_emptied(name, gone, workspace) for name in sorted(emptied)]
        if not has_errors(self.problems()):
            self.gone |= {job for job in gone if not options.shard.has(job) or self._drop(workspace.locks, job)}

    def _drop(self, locks: LockStore, job: JobId) -> bool:
        """Plan to remove a job's folder and lock. Returns False on a conflict."""
        on_disk = locks.on_disk(job)
        conflicts = [on_disk] if isinstance(on_disk, Diagnostic) else on_disk.conflicts({})
        self.conflicts += conflicts
        if conflicts or isinstance(on_disk, Diagnostic):
            return False
        self.jobs[job] = Staged.GOES
        self.removed += [f"{on_disk.folder}/{name}" for name in on_disk.digests if name != FILE]
        return True


def _emptied(name: str, gone: Collection[JobId], workspace: Workspace) -> Diagnostic:
    """The environment `default` goes with the first Environment that somebody writes, others with their folder."""
    jobs = counted(sum(job[0] == name for job in gone), "job")
    if any(each.name == name for each in workspace.all_environments):
        message = f"no TrainJob is left for environment {name!r}, which has {jobs}"
        otherwise = "otherwise find out where its TrainJobs went"
    else:
        message = f"there is no environment {name!r} any more, which has {jobs}"
        file = f"{workspace.repository.settings.environments}/{name}/environment.yaml"
        otherwise = f"to keep them, write {file} with metadata: {{name: {name}}}"
    return Diagnostic("TF714", "error", message, f"to delete all of them, pass --allow-empty; {otherwise}")
