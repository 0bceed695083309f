"""What earlier runs found out about jobs, so that the next one reads only what changed.

As in git's index, a file is unchanged while its type, size, times and inode are; git itself is not asked, as it can be
told to overlook files. Inputs shared by all jobs (runtimes, Environments, facts, keys, settings, plugins, trainform's
version) are compared by content: if any differs, every job is checked. The cache is a file in git's folder, so commits
cannot contain it, and may be deleted at any time. `render`, `check` and `diff` use it.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform import __version__
from trainform.io import cache_file, paths
from trainform.io.cache_file import Identity, identity
from trainform.io.code import files_of
from trainform.io.resources import shipped_runtimes
from trainform.output.layout import job_folder
from trainform.workspace.cache.index import JobTable, Proof
from trainform.workspace.fingerprint import NOTHING

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.workspace.discovery import Workspace

_FORMAT = 4
_PURPOSE = "cache"

_WORTH_WRITING = 0.01
"""Save only if more than this share of the jobs is new: writing takes longer than rereading a few jobs."""


class Settled(NamedTuple):
    """Job files that need not be read, and all jobs in them."""

    files: set[str]
    jobs: JobTable


class BuildCache:
    """The cache of a repository. If disabled, it is empty and `save` does nothing."""

    def __init__(self, workspace: Workspace, began: int | None = None) -> None:
        self._workspace = workspace
        self._root = workspace.repository.root
        self._began = began
        # Read first: a run may save results only for the inputs that it started with.
        self._inputs = _digest_of_inputs(workspace) if began is not None else None
        found = cache_file.read(self._root, _PURPOSE) if began is not None else None
        self._known: dict[str, Any] = found if found is not None and found.get("made") == _made(workspace) else {}
        self._identities: dict[JobId, int] = {}

    @classmethod
    def open(cls, workspace: Workspace, *, enabled: bool) -> BuildCache:
        """Open the cache: disabled if not `enabled`, outside git, or if git's folder is read-only."""
        is_usable = enabled and _own_code() is not None
        return cls(workspace, cache_file.clock(workspace.repository.root) if is_usable else None)

    def is_quiet_with(self, jobs: Iterable[JobId]) -> bool:
        """Whether a run with only these up-to-date jobs has nothing to report: the last run had nothing, and no
        environment has lost its last job since."""
        quiet = self._known["quiet"] if self._has_same_inputs else None
        return quiet is not None and {job[0] for job in jobs}.issuperset(quiet)

    @cached_property
    def jobs(self) -> JobTable:
        """The jobs whose lockfile and manifests did not change."""
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
        """Job files whose jobs all have at least this proof; none if shared inputs changed."""
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

    def save(self, facts: JobTable, files: Iterable[str] = (), *, quiet: bool = False) -> None:
        """Add `facts` of jobs, and `files` that hold only those jobs. `quiet`: nothing was reported about shared
        inputs. Leaves out files changed after this run began: they may have changed again since they were read."""
        if self._began is None or self._inputs is None or _digest_of_inputs(self._workspace) != self._inputs:
            return
        known = self._known if self._has_same_inputs else {"files": {}, "quiet": None}
        is_first_quiet = quiet and known["quiet"] is None
        is_news = len(facts) > len(self.jobs) * _WORTH_WRITING
        if self._has_same_inputs and not (is_news or is_first_quiet):
            return
        jobs = self._joined(facts)
        stamped = Counter(jobs.source(job) for job in facts if job in jobs)
        all_jobs = Counter(map(facts.source, facts))
        clean = self._stamped(file for file in files if stamped[file] == all_jobs[file])
        tree = {
            "made": _made(self._workspace),
            "inputs": self._inputs,
            "quiet": [each.name for each in self._workspace.environments] if is_first_quiet else known["quiet"],
            "jobs": jobs.to_json(),
            "identities": [self._identities[job] for job in jobs],
            "files": known["files"] | {file: (number, all_jobs[file]) for file, number in clean.items()},
            "snapshots": self._stamped(map(paths.snapshot_file, paths.snapshots(self._root))),
        }
        with suppress(OSError):
            cache_file.write(self._root, _PURPOSE, tree)

    def _joined(self, facts: JobTable) -> JobTable:
        """The known jobs plus those of `facts` that have not changed during the run, sorted."""
        table, known = JobTable(), self.jobs
        found = ((job, self._stamp(*self._paths(job, facts.files(job)))) for job in facts)
        stamps = {job: number for job, number in found if number is not None}
        table.update(known.only(job for job in known if job not in facts))
        table.update(facts.only(stamps))
        for job in stamps:
            if job in known and self._identities[job] == stamps[job]:
                table.add(job, facts[job].joined(known[job]))
        self._identities |= stamps
        return table.only(sorted(table))

    def _stamped(self, files: Iterable[str]) -> dict[str, int]:
        """Identities of the files that have not changed since the run began."""
        return {file: number for file in files if (number := self._stamp(file)) is not None}

    def _stamp(self, *files: str) -> int | None:
        found = self._identity(*files)
        return found.number if found and self._began is not None and found.newest < self._began else None

    def _intact(self, section: str) -> list[str]:
        """Unchanged files of a cache section."""
        numbers: dict[str, int] = self._known[section]
        return [file for file in numbers if (found := self._identity(file)) and found.number == numbers[file]]

    def _identity(self, *files: str) -> Identity | None:
        return identity([f"{self._root}/{file}" for file in files])

    def _paths(self, job: JobId, names: Iterable[str]) -> list[str]:
        """A job's paths: folder and lockfile, then manifests."""
        folder = job_folder(self._workspace.repository.settings.rendered, *job)
        return [folder, paths.lockfile_path(job), *(f"{folder}/{name}" for name in names)]

    @cached_property
    def _has_same_inputs(self) -> bool:
        return bool(self._known) and self._known["inputs"] == self._inputs


def _digest_of_inputs(workspace: Workspace) -> str | None:
    """Digest of the inputs shared by all jobs; None if any cannot be read."""
    repository = workspace.repository
    listings = [repository.runtimes(), *map(repository.listed, repository.environments())]
    if workspace.problems or any(listing.diagnostics for listing in listings):
        return None
    known = sorted(workspace.lints.known.items())
    digest = hashlib.sha256(repr((repository.settings, known, *shipped_runtimes())).encode())
    raw = [file for folder in repository.environments() for file in repository.key_files(folder)]
    for file in (*(file for listing in listings for file in listing.files), *raw):
        data = repository.read(file)
        if not isinstance(data, bytes):
            return None
        digest.update(f"\0{file}\0{len(data)}\0".encode(errors="surrogatepass") + data)
    return digest.hexdigest()


def _made(workspace: Workspace) -> dict[str, Any]:
    """What wrote a cache; a cache written by anything else is discarded."""
    return {
        "format": _FORMAT,
        "compiler": __version__,
        "python": sys.version,
        "code": _own_code(),
        "plugins": workspace.plugins.versions,
        "pluginCode": workspace.plugins.code,
    }


@cache
def _own_code() -> int | None:
    """Identifies this installation's code: a checkout of trainform may differ without a new version."""
    from trainform.installed import declared_plugins

    modules = {each.value.partition(".")[0] for each in declared_plugins() if each.package == "trainform"}
    found = identity(file for module in sorted({"trainform", *modules}) for file in files_of(module))
    return found.number if found else None
