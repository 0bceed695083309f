"""What earlier runs found out about jobs, so that the next one looks only at what changed since.

As in git's index, a file counts as unchanged while its type, size, times and inode are. Git itself is not asked: it can
be told to overlook files. What all jobs share (runtimes, Environments, facts, keys, settings, plugins, this version of
trainform) is compared by its bytes: where any of that differs, every job is looked at.

The cache is one file in git's own folder, which no commit can bring along. It may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform import __version__
from trainform.io import cache_file, paths
from trainform.io.cache_file import Identity, identity
from trainform.io.code import files_of
from trainform.io.git import GitError
from trainform.output.layout import job_folder
from trainform.workspace.cache.index import JobTable, Proof
from trainform.workspace.fingerprint import NOTHING
from trainform.workspace.staleness import third_party_code

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.workspace.discovery import Workspace

_FORMAT = 3
_PURPOSE = "cache"

_WORTH_WRITING = 0.01
"""The share of jobs that a run must have news of: for fewer it takes less time to read them again."""


class Settled(NamedTuple):
    """What need not be looked at: files of jobs, and all jobs that stand in them."""

    files: set[str]
    jobs: JobTable


class BuildCache:
    """What is known of a repository, and what a run adds to it. Closed, it knows nothing and keeps nothing."""

    def __init__(self, workspace: Workspace, began: int | None = None) -> None:
        self._workspace = workspace
        self._root = workspace.repository.root
        self._began = began
        found = cache_file.read(self._root, _PURPOSE) if began else None
        self._known: dict[str, Any] = found if found is not None and found.get("made") == _made() else {}
        self._identities: dict[JobId, int] = {}

    @classmethod
    def open(cls, workspace: Workspace, *, enabled: bool = True) -> BuildCache:
        """The cache of a repository: closed if not `enabled`, outside of git, and where git's folder is read-only."""
        return cls(workspace, cache_file.clock(workspace.repository.root) if enabled else None)

    @property
    def is_quiet(self) -> bool:
        """Whether there was nothing to report about what all jobs share."""
        return self._has_same_inputs and bool(self._known["quiet"])

    @cached_property
    def jobs(self) -> JobTable:
        """The jobs whose lockfile and manifests are as they were."""
        if not self._known:
            return JobTable()
        table = JobTable.of_json(self._known["jobs"])
        if not self._has_same_inputs:
            table.forget_proofs()
        locks = self._workspace.locks
        locked = set(locks.ids())
        for job, number in zip([*table], self._known["identities"], strict=True):
            own = self._paths(job, table.files(job))
            is_inside = job in locked and not any(map(locks.parent_leads_out, own[:2]))
            found = self._identity(*own) if is_inside else None
            if found is None or found.number != number:
                table.drop(job)
            else:
                self._identities[job] = number
        return table

    def settled(self, proof: Proof, *, with_causes: bool = False) -> Settled:
        """What is known at least that well: nothing, where something changed that all jobs share."""
        files: set[str] = set()
        if not self._has_same_inputs or self._workspace.listing_problems:
            return Settled(files, JobTable())
        jobs = self.jobs
        stored = {*self._intact("snapshots"), paths.snapshot_file(NOTHING)}
        snapshots = {digest for digest in jobs.pinned() if paths.snapshot_file(digest) in stored}
        good = [job for job in jobs if jobs.proof(job) >= proof and (jobs.has_causes(job) or not with_causes)]
        good = [job for job in good if snapshots.issuperset(jobs.pins(job).snapshots)]
        complete = Counter(map(jobs.source, good))
        for file in self._workspace.job_files:
            number, count = self._known["files"].get(file, (0, -1))
            if complete[file] == count and (found := self._identity(file)) and found.number == number:
                files.add(file)
        return Settled(files, jobs.only(job for job in good if jobs.source(job) in files))

    def has_list(self, file: str, folders: Iterable[str]) -> bool:
        """Whether the list of a shared folder is known to name these folders."""
        number, digest = self._known["lists"].get(file, (0, "")) if self._known else (0, "")
        return digest == _digest(folders) and (found := self._identity(file)) is not None and found.number == number

    def save(
        self,
        facts: JobTable,
        files: Iterable[str] = (),
        lists: Mapping[str, Iterable[str]] | None = None,
        *,
        quiet: bool | None = None,
    ) -> None:
        """Adds `facts` of jobs that were found as they stand, `files` that hold no other jobs than those, `lists` of
        shared folders that name what they should. `quiet` is `is_quiet` from now on; None where nobody looked.

        What changed after this run began is left out: it may have changed once more since it was read. A cache that
        cannot be written is no loss.
        """
        if self._began is None or self._inputs is None or _digest_of_inputs(self._workspace) != self._inputs:
            return
        is_quiet = self.is_quiet if quiet is None else quiet
        is_news = len(facts) > len(self.jobs) * _WORTH_WRITING
        if self._has_same_inputs and is_quiet == self.is_quiet and not is_news:
            return
        jobs = self._joined(facts)
        complete = Counter(jobs.source(job) for job in facts if job in jobs)
        due = Counter(map(facts.source, facts))
        clean = self._stamped(file for file in files if complete[file] == due[file])
        known = self._known if self._has_same_inputs else {"files": {}, "lists": {}}
        named = lists or {}
        tree = {
            "made": _made(),
            "inputs": self._inputs,
            "quiet": is_quiet,
            "jobs": jobs.to_json(),
            "identities": [self._identities[job] for job in jobs],
            "files": known["files"] | {file: (number, due[file]) for file, number in clean.items()},
            "lists": known["lists"] | {f: (number, _digest(named[f])) for f, number in self._stamped(named).items()},
            "snapshots": self._stamped(map(paths.snapshot_file, paths.snapshots(self._root))),
        }
        with suppress(GitError, OSError):
            cache_file.write(self._root, _PURPOSE, tree)

    def _joined(self, facts: JobTable) -> JobTable:
        """The jobs known before, and those of `facts` that did not change meanwhile; in order."""
        table = JobTable()
        for job in sorted({*self.jobs, *facts}):
            if job not in facts:
                table.add(job, self.jobs[job])
            elif number := self._stamp(*self._paths(job, facts.files(job))):
                is_known = job in self.jobs and self._identities[job] == number
                table.add(job, facts[job].joined(self.jobs[job]) if is_known else facts[job])
                self._identities[job] = number
        return table

    def _stamped(self, files: Iterable[str]) -> dict[str, int]:
        """The identities of those files that did not change since the run began."""
        return {file: number for file in files if (number := self._stamp(file))}

    def _stamp(self, *files: str) -> int | None:
        found = self._identity(*files)
        return found.number if found and self._began and found.newest < self._began else None

    def _intact(self, section: str) -> list[str]:
        """The files of a section of the cache that did not change."""
        numbers: dict[str, int] = self._known[section]
        return [file for file in numbers if (found := self._identity(file)) and found.number == numbers[file]]

    def _identity(self, *files: str) -> Identity | None:
        return identity(f"{self._root}/{file}" for file in files)

    def _paths(self, job: JobId, names: Iterable[str]) -> list[str]:
        """All that belongs to a job: its folder and lockfile first."""
        folder = job_folder(self._workspace.repository.settings.rendered, *job)
        return [folder, paths.lock_file(job), *(f"{folder}/{name}" for name in names)]

    @cached_property
    def _inputs(self) -> str | None:
        return _digest_of_inputs(self._workspace)

    @cached_property
    def _has_same_inputs(self) -> bool:
        return bool(self._known) and self._known["inputs"] == self._inputs


def _digest_of_inputs(workspace: Workspace) -> str | None:
    """Of the bytes of all that jobs share; None where something of it cannot be read."""
    repository = workspace.repository
    listings = [repository.runtimes(), *map(repository.listed, repository.environments())]
    if workspace.problems or any(listing.diagnostics for listing in listings):
        return None
    digest = hashlib.sha256(repr(repository.settings).encode())
    for file in (file for listing in listings for file in listing.files):
        data = repository.read(file)
        if not isinstance(data, bytes):
            return None
        digest.update(f"\0{file}\0{len(data)}\0".encode(errors="surrogatepass") + data)
    return digest.hexdigest()


def _made() -> dict[str, Any]:
    """By whom a cache was made: nobody else reads it."""
    return {
        "format": _FORMAT,
        "compiler": __version__,
        "python": sys.version,
        "code": _own_code(),
        "plugins": third_party_code(),
    }


def _own_code() -> int:
    """Tells this installation from one with other code of the same version, as a checkout of trainform is."""
    from trainform.installed import declared_plugins

    modules = {
        "trainform",
        *(each.value.partition(".")[0] for each in declared_plugins() if each.package == "trainform"),
    }
    found = identity(file for module in sorted(modules) for file in files_of(module))
    return found.number if found else 0


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(names).encode(errors="surrogatepass")).hexdigest()[:16]
