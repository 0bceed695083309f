"""Which files of jobs a build has to read: those that changed, or of which something else did.

A job is up to date where the cache says so. Without a cache, as in a fresh clone, its lockfile says which bytes its
TrainJob was read from: while its file holds those, the TrainJob need not be parsed to know that it did not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.io import paths
from trainform.io.workers import in_processes, processors
from trainform.workspace.cache.index import JobFacts, JobTable, Proof
from trainform.workspace.compilation import compile_environments
from trainform.workspace.fingerprint import NOTHING, CurrentInputs, digest_of_file
from trainform.workspace.parallel import LARGEST, ChunkStats
from trainform.workspace.plan import ChangeSet
from trainform.workspace.staleness import current_inputs
from trainform.workspace.state import JobOnDisk, LockStore
from trainform.workspace.uptodate import read_snapshot

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.io.repository import Repository
    from trainform.source import Document
    from trainform.workspace.cache.build_cache import BuildCache
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs
    from trainform.workspace.lockfile import Lock
    from trainform.workspace.plan import BuildOptions


class Affected(NamedTuple):
    """The `files` to read, and what becomes of the jobs of all others; None where every file is to be read."""

    files: list[str] | None = None
    others: ChangeSet | None = None


def affected(workspace: Workspace, options: BuildOptions, cache: BuildCache) -> Affected:
    """What a build has to read. A build that is not about all jobs reads all files, and so does one that could not
    list them all, to report that."""
    if not options.covers_everything or workspace.listing_problems:
        return Affected()
    settled = cache.settled(Proof.UNCHANGED, with_causes=True)
    open_jobs = [job for job in workspace.locks.ids() if job not in settled.jobs]
    same = _with_same_bytes(workspace, open_jobs, settled.files, options.workers or processors())
    files = {*settled.files, *same.files}
    if not files:
        return Affected()
    others = _unchanged(settled.jobs, same)
    return Affected([file for file in workspace.job_files if file not in files], others)


class _Same(NamedTuple):
    """Files with the bytes that lockfiles speak of, and the jobs in them."""

    files: list[str]
    jobs: JobTable


def _unchanged(known: JobTable, same: _Same) -> ChangeSet:
    """What becomes of jobs that are up to date: nothing. What of it is new to the cache are the facts."""
    table = JobTable()
    table.update(known)
    table.update(same.jobs)
    jobs = set(table)
    return ChangeSet(
        stats=ChunkStats(names=[*jobs], jobs=Counter(job[0] for job in jobs)),
        present=jobs,
        locked=jobs,
        unchanged=len(jobs),
        pinned=table.pinned(),
        behind=table.behind(),
        facts=same.jobs,
        clean_files=same.files,
    )


def _with_same_bytes(workspace: Workspace, jobs: Sequence[JobId], settled: set[str], workers: int) -> _Same:
    found = JobTable()
    if not jobs:
        return _Same([], found)
    look = _Look.at(workspace)

    def up_to_date(part: Sequence[JobId]) -> JobTable:
        table, locks = JobTable(), workspace.locks.fresh()
        for job in part:
            if facts := look.facts(job, locks):
                table.add(job, facts)
        return table

    parts = [jobs[start : start + LARGEST] for start in range(0, len(jobs), LARGEST)]
    for table in in_processes(up_to_date, parts, workers):
        found.update(table)
    environments = {job: job[0] for job in found}
    by_file: dict[str, list[str]] = {}
    for job, environment in environments.items():
        by_file.setdefault(found.source(job), []).append(environment)
    files = [file for file, names in by_file.items() if file not in settled and names == sorted(look.takers(file))]
    kept = set(files)
    return _Same(files, found.only(job for job in found if found.source(job) in kept))


class _Look(NamedTuple):
    """What is compared with: the environments as they are, with the files that go to each."""

    repository: Repository
    environments: Mapping[str, EnvironmentInputs]
    files: Mapping[str, set[str]]
    current: Mapping[str, CurrentInputs]
    stored: set[str]
    selections: dict[str, _Selection | None]

    @classmethod
    def at(cls, workspace: Workspace) -> _Look:
        environments = workspace.read([])
        current = current_inputs(environments, compile_environments(environments, wants_job=False))
        return cls(
            workspace.repository,
            {each.name: each for each in environments},
            {each.name: set(own) for each, own in zip(environments, workspace.own_files, strict=True)},
            current,
            {*paths.snapshots(workspace.repository.root), NOTHING},
            {},
        )

    def takers(self, file: str) -> list[str]:
        """The names of the environments that a file goes to."""
        return [name for name, files in self.files.items() if file in files]

    def facts(self, job: JobId, locks: LockStore) -> JobFacts | None:
        """Of a job that is up to date; None for one that must be looked at."""
        lock_file = locks.lock_file(job)
        if lock_file is None or lock_file.underway or job[0] not in self.environments:
            return None
        lock = lock_file.lock
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
        data = self.repository.read(lock.source)
        return isinstance(data, bytes) and digest_of_file(data) == lock.source_digest

    def _is_same_selection(self, job: JobId, lock: Lock) -> bool:
        """Whether the Environment takes jobs, and names their namespace, as it did when the job was rendered."""
        inputs, pinned = self.environments[job[0]], lock.pins.environment
        if inputs.environment is None and inputs.document is not None:
            return False  # an Environment that cannot be used takes none
        if pinned == self.current[job[0]].environment.digest:
            return True
        if pinned not in self.selections:
            documents = read_snapshot(self.repository, pinned)
            self.selections[pinned] = _selection(documents) if isinstance(documents, list) else None
        then = self.selections[pinned]
        return then is not None and then == _selection([inputs.document] if inputs.document else [])


_Selection = tuple[Any, Any]
"""What decides about the id of a job, and whether it is taken: `spec.namespace` and `spec.jobs.selector`."""


def _selection(documents: Iterable[Document]) -> _Selection:
    trees = (document.tree for document in documents)
    spec = next((tree.get("spec") for tree in trees if tree.get("kind") == "Environment"), None)
    jobs = spec.get("jobs") if isinstance(spec, dict) else None
    namespace = spec.get("namespace") if isinstance(spec, dict) else None
    return namespace, jobs.get("selector") if isinstance(jobs, dict) else None
