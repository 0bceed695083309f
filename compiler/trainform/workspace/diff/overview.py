"""Facts of all jobs with a lock, for the part of a diff that no change affects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from trainform.io.paths import JobId, file_bytes
from trainform.io.workers import processors
from trainform.output.layout import MANIFESTS, job_folder
from trainform.review.diff.totals import Ask, Asks
from trainform.workspace.cache.index import JobFacts, JobTable, Proof
from trainform.workspace.parallel import in_workers, slices
from trainform.workspace.state import LockStore

if TYPE_CHECKING:
    from trainform.workspace.cache.build_cache import BuildCache
    from trainform.workspace.lockfile import Lock, Pins

JOBS_PER_TASK = 2_000
"""Jobs per task of a worker process; fewer are not worth a process."""


class Overview(NamedTuple):
    """Facts of all jobs. Jobs not in the table are read on demand: their lockfile is broken or from an interrupted run,
    or a file is unreadable."""

    locks: LockStore
    table: JobTable

    def jobs(self) -> Iterator[JobId]:
        """Jobs with a valid lockfile, in order."""
        return (job for job in self.locks.ids() if job in self.table or self.locks.lockfile(job) is not None)

    def others(self) -> list[JobId]:
        return [job for job in self.locks.ids() if job not in self.table]

    def sources(self) -> set[str]:
        """The job files that valid lockfiles name."""
        files = filter(None, map(self.locks.lockfile, self.others()))
        return {*map(self.table.source, self.table), *(file.lock.source for file in files)}

    def source(self, job: JobId) -> str | None:
        """The file of a job's TrainJob, from the lock that applies to it."""
        if job in self.table:
            return self.table.source(job)
        lock = self.locks.lock(job)
        return lock.source if lock else None

    def pins(self, job: JobId) -> Pins | None:
        """A job's pins, from the lock that applies to it."""
        if job in self.table:
            return self.table.pins(job)
        lock = self.locks.lock(job)
        return lock.pins if lock else None

    def asked(self, jobs: Sequence[JobId]) -> Iterator[tuple[str, str, Ask, int]]:
        """What the JobSets of `jobs` request: environment, namespace, request, number of jobs. Raises OSError."""
        yield from self.table.asked(job for job in jobs if job in self.table)
        for job in jobs:
            if job not in self.table and (lock := self.locks.lock(job)):
                yield from ((*job[:2], ask, 1) for ask in _asks(self.locks, job, lock, Asks()))


def overview(locks: LockStore, cache: BuildCache) -> Overview:
    """Facts of all jobs, from the cache where possible."""
    table, fresh = JobTable(), JobTable()
    table.update(cache.jobs.only(job for job in cache.jobs if cache.jobs.has_asks(job)))
    jobs = [job for job in locks.ids() if job not in table]
    for found in in_workers(partial(_read, locks.fresh(), Asks()), slices(jobs, JOBS_PER_TASK), processors()):
        fresh.update(found)
    table.update(fresh)
    cache.save(fresh)
    return Overview(locks, table)


def _read(store: LockStore, asks: Asks, jobs: Sequence[JobId]) -> JobTable:
    """Facts of some jobs; `asks` caches the requests of manifests."""
    table, locks = JobTable(), store.fresh()
    for job in jobs:
        file = locks.lockfile(job)
        if file is None or file.underway:
            continue
        try:
            found = _asks(locks, job, file.lock, asks)
        except OSError:
            continue
        table.add(job, JobFacts.of(file.lock, Proof.READ, asks=found))
    return table


def _asks(locks: LockStore, job: JobId, lock: Lock, asks: Asks) -> tuple[Ask, ...]:
    folder = job_folder(locks.repository.settings.rendered, *job)
    names = [name for name in lock.files if name == MANIFESTS or name.startswith("jobset")]
    files = (file_bytes(locks.repository.root, f"{folder}/{name}") for name in names)
    return tuple(ask for data in files if data and (ask := asks.of(data)))
