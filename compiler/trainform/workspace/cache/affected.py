"""Find the job files a build must read: those that changed, or whose lockfiles, manifests or snapshots did. Without a
cache, as in a fresh clone, a file that matches the source digest in its lockfiles is not parsed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.io import paths
from trainform.io.workers import processors
from trainform.k8s.tree import value_at
from trainform.workspace.behind import current_inputs
from trainform.workspace.cache.index import JobFacts, JobTable, Proof
from trainform.workspace.compilation import compile_environments
from trainform.workspace.fingerprint import NOTHING, CurrentInputs
from trainform.workspace.frozen import read_snapshot
from trainform.workspace.inputs import digest_of_file
from trainform.workspace.parallel import ChunkStats, in_workers, slices
from trainform.workspace.plan import ChangeSet
from trainform.workspace.state import JobOnDisk, LockStore

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.source import Document
    from trainform.workspace.cache.build_cache import BuildCache
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs
    from trainform.workspace.lockfile import Lock
    from trainform.workspace.plan import BuildOptions


class Affected(NamedTuple):
    """The `files` to read, and the plan for the jobs in all `others`. Both None: read every file."""

    files: list[str] | None = None
    others: ChangeSet | None = None


def affected(workspace: Workspace, options: BuildOptions, cache: BuildCache) -> Affected:
    """What a build must read. A build that does not cover everything, or could not list all files, reads every file."""
    if not options.covers_everything or workspace.listing_problems:
        return Affected()
    settled = cache.settled(Proof.UNCHANGED, with_causes=True)
    unknown = [job for job in workspace.locks.ids() if job not in settled.jobs]
    matching = _with_same_bytes(workspace, unknown, settled.files, options.workers or processors())
    unaffected = {*settled.files, *matching.files}
    if not unaffected:
        return Affected()
    others = _unchanged(settled.jobs, matching)
    return Affected([file for file in workspace.job_files if file not in unaffected], others)


class _Matching(NamedTuple):
    """Files whose bytes match the digests in lockfiles, and their jobs."""

    files: list[str]
    jobs: JobTable


def _unchanged(known: JobTable, matching: _Matching) -> ChangeSet:
    """A plan without changes. Its `facts` are those not yet in the cache."""
    table = JobTable()
    table.update(known)
    table.update(matching.jobs)
    jobs = set(table)
    return ChangeSet(
        stats=ChunkStats(names=[*jobs], jobs=Counter(job[0] for job in jobs)),
        present=jobs,
        locked=set(jobs),
        unchanged=len(jobs),
        pinned=table.pinned(),
        behind=table.behind(),
        facts=matching.jobs,
        clean_files=matching.files,
    )


def _with_same_bytes(workspace: Workspace, jobs: Sequence[JobId], settled: set[str], workers: int) -> _Matching:
    found = JobTable()
    if not jobs:
        return _Matching([], found)
    now = _Comparison.at(workspace)
    for table in in_workers(now.up_to_date, slices(jobs), workers):
        found.update(table)
    by_file: dict[str, list[str]] = {}
    for job in found:
        by_file.setdefault(found.source(job), []).append(job[0])
    files = [
        file for file, names in by_file.items() if file not in settled and sorted(names) == sorted(now.takers(file))
    ]
    kept = set(files)
    return _Matching(files, found.only(job for job in found if found.source(job) in kept))


class _Comparison(NamedTuple):
    """What lockfiles are compared with: the current environments and the files of each."""

    locks: LockStore
    environments: Mapping[str, EnvironmentInputs]
    files: Mapping[str, set[str]]
    current: Mapping[str, CurrentInputs]
    stored: set[str]
    selections: dict[str, _Selection | None]

    @classmethod
    def at(cls, workspace: Workspace) -> _Comparison:
        environments = workspace.read([])
        current = current_inputs(environments, compile_environments(environments, wants_job=False))
        return cls(
            workspace.locks.fresh(),
            {each.name: each for each in environments},
            {each.name: set(own) for each, own in zip(environments, workspace.own_files, strict=True)},
            current,
            {*paths.snapshots(workspace.repository.root), NOTHING},
            {},
        )

    def takers(self, file: str) -> list[str]:
        """Names of the environments that use a file."""
        return [name for name, files in self.files.items() if file in files]

    def up_to_date(self, jobs: Sequence[JobId]) -> JobTable:
        """Facts of the jobs that are up to date."""
        table, locks = JobTable(), self.locks.fresh()
        for job in jobs:
            if facts := self.facts(job, locks):
                table.add(job, facts)
        return table

    def facts(self, job: JobId, locks: LockStore) -> JobFacts | None:
        """Facts of a job; None if it may not be up to date."""
        lockfile = locks.lockfile(job)
        if lockfile is None or lockfile.underway or job[0] not in self.environments:
            return None
        lock = lockfile.lock
        if lock is not lock.of_this_layout():
            return None
        if not (
            lock.source in self.files[job[0]] and self._is_same_source(lock) and self._is_same_selection(job, lock)
        ):
            return None
        on_disk = locks.on_disk(job)
        is_as_written = isinstance(on_disk, JobOnDisk) and on_disk.digests == lock.files
        if not (is_as_written and self.stored.issuperset(lock.pins.snapshots)):
            return None
        return JobFacts.of(lock, Proof.UNCHANGED, causes=tuple(self.current[job[0]].causes(lock.pins, job[1])))

    def _is_same_source(self, lock: Lock) -> bool:
        if not lock.source_digest:
            return False
        data = self.locks.repository.read(lock.source)
        return isinstance(data, bytes) and digest_of_file(data) == lock.source_digest

    def _is_same_selection(self, job: JobId, lock: Lock) -> bool:
        """Whether the Environment's selector and default namespace are the same as at render time."""
        inputs, pinned = self.environments[job[0]], lock.pins.environment
        if inputs.environment is None and inputs.document is not None:
            return False  # an Environment with errors selects nothing
        if pinned == self.current[job[0]].environment.digest:
            return True
        if pinned not in self.selections:
            documents = read_snapshot(self.locks.repository, pinned)
            self.selections[pinned] = _selection(documents) if isinstance(documents, list) else None
        then = self.selections[pinned]
        return then is not None and then == _selection([inputs.document] if inputs.document else [])


_Selection = tuple[Any, Any]
"""`spec.namespace` and `spec.jobs.selector`: they decide a job's namespace and whether it is selected."""


def _selection(documents: Iterable[Document]) -> _Selection:
    trees = (document.tree for document in documents)
    environment = next((tree for tree in trees if tree.get("kind") == "Environment"), None)
    return value_at(environment, ("spec", "namespace")), value_at(environment, ("spec", "jobs", "selector"))
