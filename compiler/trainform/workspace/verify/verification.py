"""Verify that rendered files match their inputs and were not edited, for `trainform check`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from trainform import __version__
from trainform.core.gitops import ALPHABET, LENGTH
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted, has_errors
from trainform.io import paths
from trainform.io.git import GitError, converted
from trainform.io.paths import JobId, lockfile_path, snapshot_file
from trainform.io.place import file_error
from trainform.output import flux
from trainform.output.kustomization import FILE
from trainform.output.layout import job_folder
from trainform.workspace.behind import current_inputs, third_party, third_party_code
from trainform.workspace.cache.build_cache import BuildCache
from trainform.workspace.cache.index import JobFacts, JobTable, Proof
from trainform.workspace.compilation import compile_environments, shipped_catalogue
from trainform.workspace.fingerprint import changed_code, digest_of, digests_of_files
from trainform.workspace.frozen import (
    FrozenJob,
    Rebuilt,
    frozen_jobs,
    missing_snapshots,
    read_snapshot,
    rebuild,
    take_frozen,
)
from trainform.workspace.parallel import Chunk, ChunkStats, map_chunks
from trainform.workspace.selection import is_selected, job_id
from trainform.workspace.shards import ALL, Shard, take_other_shards
from trainform.workspace.shared.survey import Survey
from trainform.workspace.verify.applied import judge_behind

if TYPE_CHECKING:
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs
    from trainform.workspace.lockfile import Pins
    from trainform.workspace.state import JobOnDisk, LockStore

State = Literal["current", "unproven", "mispinned", "stale", "edited", "missing", "orphan", "foreign"]


class Mispin(NamedTuple):
    """A pin that nothing accounts for: at this line of the lockfile, and why."""

    pin: str
    file: str
    line: int
    message: str


class Verdict(NamedTuple):
    """The result for a job; for a file that belongs to none, `job` holds what is known of its location. `pins` are
    those of a mispinned job, which only a comparison with a commit finds."""

    job: JobId
    state: State
    files: Sequence[str] = ()
    pins: Sequence[Mispin] = ()

    @property
    def is_good(self) -> bool:
        return self.state in ("current", "unproven")


@dataclass(slots=True, kw_only=True)
class Verification:
    """Results for some or all jobs. `problems` are those of malformed or unreadable files; `faults` are errors of stale
    jobs, which keep `render` from fixing them. `present` jobs have a TrainJob, in any shard. `changed_plugins` are
    packages whose code changed without a new version, so their jobs are unproven. `in_one_piece`: all job files were
    read together, and may hold other documents than TrainJobs. `facts` are for the cache; all jobs in `clean_files` are
    good."""

    stats: ChunkStats = field(default_factory=ChunkStats)
    problems: list[Diagnostic] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    faults: list[Diagnostic] = field(default_factory=list)
    present: set[JobId] = field(default_factory=set)
    changed_plugins: set[str] = field(default_factory=set)
    in_one_piece: bool = False
    facts: JobTable = field(default_factory=JobTable)
    clean_files: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not (self.faults or has_errors(self.problems)) and all(each.is_good for each in self.verdicts)

    @classmethod
    def merge(cls, parts: Sequence[Verification]) -> Verification:
        whole = cls()
        for part in parts:
            whole.problems += part.problems
            whole.verdicts += part.verdicts
            whole.faults += part.faults
            whole.present |= part.present
            whole.changed_plugins |= part.changed_plugins
            whole.in_one_piece |= part.in_one_piece
            whole.facts.update(part.facts)
            whole.clean_files += part.clean_files
        return whole


def verify(workspace: Workspace, shard: Shard = ALL, workers: int = 0, *, cached: bool = True) -> Verification:
    """A verdict for each job of the workspace's environments in this shard; in the first shard, also for each wrong
    file that belongs to no job."""
    cache = BuildCache.open(workspace, enabled=cached and shard == ALL and not workspace.asked)
    whole = _verify_jobs(workspace, shard, workers, cache)
    if shard.is_first:
        found = _of_no_job(workspace, whole.present)
        whole.verdicts += (each for each in found if not workspace.asked or each.job[0] in workspace.asked)
        whole.problems += _converted(workspace)
    jobs = whole.present.union(workspace.locks.ids())
    whole.verdicts.sort(key=lambda verdict: (verdict.job not in jobs, verdict.job))
    if whole.is_good:
        cache.save(whole.facts, whole.clean_files)
    return whole


def _verify_jobs(workspace: Workspace, shard: Shard, workers: int, cache: BuildCache) -> Verification:
    settled = cache.settled(Proof.UNPROVEN)
    known = _known(settled.jobs)
    files = [file for file in workspace.job_files if file not in settled.files]
    if settled.files and not files:
        return known
    work = partial(_verify_chunk, workspace, shard)
    if settled.files:
        return Verification.merge(map_chunks(workspace, work, workers, files=files, known=known))
    return Verification.merge(map_chunks(workspace, work, workers))


def _known(jobs: JobTable) -> Verification:
    """Jobs verified by an earlier run and unchanged since."""
    verdicts = [Verdict(job, "current" if jobs.proof(job) == Proof.CURRENT else "unproven") for job in jobs]
    stats = ChunkStats(names=[*jobs], jobs=Counter(job[0] for job in jobs))
    return Verification(stats=stats, verdicts=verdicts, present=set(jobs))


def _verify_chunk(
    workspace: Workspace, shard: Shard, environments: list[EnvironmentInputs], chunk: Chunk
) -> Verification:
    locks = workspace.locks.fresh()
    stats = ChunkStats.of(environments, chunk)
    problems = [problem for each in environments for problem in each.sources.diagnostics]
    elsewhere = [job.id for each in environments for job in take_other_shards(each, shard)]
    examination = _Examination.of(environments, locks)
    verdicts = examination.verdicts()
    namesakes = [*_namesakes(examination.files, locks)]
    faults = _faults(environments, examination, stats, elsewhere)
    found = Verification(
        stats=stats,
        problems=chunk.portable([*chunk.own(problems), *namesakes]),
        verdicts=verdicts,
        faults=chunk.portable(faults),
        present={*examination.present, *elsewhere},
        changed_plugins=examination.changed_plugins(),
        in_one_piece=chunk.is_whole,
    )
    if not chunk.is_whole:
        _remember(found, examination, chunk)
    return found


def _namesakes(jobs: Mapping[JobId, str], locks: LockStore) -> Iterator[Diagnostic]:
    """An error for each of these `jobs`, with their files, that is called as an object of another one, which has its
    name from its contents: an engine would apply one over the other."""
    for job, file in jobs.items():
        *place, name = job
        hashed = _HASHED.fullmatch(name)
        other = (job[0], job[1], hashed[1]) if hashed else job
        if other != job and locks.lockfile(other) and _holds(locks, job, name) and _holds(locks, other, name):
            message = f'{"/".join(place)}/{other[2]} has an object called "{name}", too: one would replace the other'
            yield file_error("TF735", file, message, "give the TrainJob another name")


_HASHED = re.compile(rf"(.+)-[{ALPHABET}]{{{LENGTH}}}")
"""What an object is called under `naming: content-hash`."""


def _holds(locks: LockStore, job: JobId, name: str) -> bool:
    """Whether an object of that name is among a job's manifests."""
    folder = job_folder(locks.repository.settings.rendered, *job)
    found = paths.folder_bytes(locks.repository.root, folder).values()
    return any(f"\n  name: {name}\n".encode() in data for data in found if data)


def _remember(found: Verification, examination: _Examination, chunk: Chunk) -> None:
    """For the cache: good jobs in files with only good jobs and no findings."""
    noted = {each.file for each in (*found.problems, *found.faults)}
    noted |= {examination.files[each.job] for each in found.verdicts if not each.is_good}
    found.clean_files = [file for file in chunk.files or () if file not in noted]
    clean = set(found.clean_files)
    for each in found.verdicts:
        if examination.files[each.job] in clean:
            proof = Proof.CURRENT if each.state == "current" else Proof.UNPROVEN
            found.facts.add(each.job, JobFacts.of(examination.frozen[each.job].lock, proof))


def _faults(
    environments: Sequence[EnvironmentInputs],
    examination: _Examination,
    stats: ChunkStats,
    elsewhere: Sequence[JobId],
) -> list[Diagnostic]:
    """Errors of jobs that are not frozen, which prevent `render`, and of the manifests of those that are behind."""
    frozen, locks = examination.frozen, examination.locks
    left_out = [*frozen, *elsewhere]
    for each in environments:
        take_frozen(each, locks)
    has_jobs = any(each.train_jobs() for each in environments)
    outcome = compile_environments(environments, wants_job=has_jobs)
    applied = judge_behind(locks.repository, frozen.values(), current_inputs(environments, outcome))
    errors = [each for found in applied.values() for each in found if each.severity == "error"]
    if not has_jobs:
        stats.jobs = {each.name: sum(job[0] == each.name for job in left_out) for each in environments}
        return errors
    stats.add_outcome(environments, outcome, left_out)
    return [*outcome.errors(), *errors]


@dataclass(slots=True, kw_only=True)
class _Examination:
    """Compares the jobs of some environments with the disk. `files` has the file of each job with a TrainJob."""

    environments: Sequence[EnvironmentInputs]
    locks: LockStore
    versions: Mapping[str, str] = field(default_factory=third_party)
    code: Mapping[str, str] = field(default_factory=third_party_code)
    frozen: Mapping[JobId, FrozenJob] = field(default_factory=dict)
    files: Mapping[JobId, str] = field(default_factory=dict)

    @classmethod
    def of(cls, environments: Sequence[EnvironmentInputs], locks: LockStore) -> _Examination:
        frozen = {job.id: job for each in environments for job in frozen_jobs(each, locks)}
        files = {
            job_id(each, document): document.file
            for each in environments
            for document in each.train_jobs()
            if is_selected(each, document)
        }
        return cls(environments=environments, locks=locks, frozen=frozen, files=files)

    @property
    def present(self) -> Collection[JobId]:
        return self.files.keys()

    def verdicts(self) -> list[Verdict]:
        """One for each job with a TrainJob here. Jobs pinned by this version are compiled again."""
        found = [self.by_digests(job) for job in sorted(self.present)]
        intact = [self.frozen[each.job] for each in found if each.state == "unproven"]
        provable = [job for job in intact if self._is_provable(job)]
        rebuilt, problems = rebuild(self.locks.repository, self.environments, provable, shipped_catalogue())
        damaged = {problem.file for problem in problems}
        judged = {job.id: self._compared(job, rebuilt.get(job.id)) for job in provable}
        damaged |= self._damaged_snapshots(job for job in intact if job.id not in judged)
        missing = missing_snapshots(self.locks.repository.root, intact)
        judged |= {job.id: lost for job in intact if (lost := _without_snapshot(job, missing, damaged))}
        return [judged.get(each.job, each) for each in found]

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

    def _is_provable(self, job: FrozenJob) -> bool:
        pins = job.lock.pins
        is_ours = pins.compiler == __version__ and pins.plugins == self.versions
        return is_ours and not changed_code(pins, self.versions, self.code) and self._has_keys(job.id, pins)

    def changed_plugins(self) -> set[str]:
        """Packages whose code changed without a new version since a frozen job was rendered."""
        return {name for job in self.frozen.values() for name in changed_code(job.lock.pins, self.versions, self.code)}

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


def _of_no_job(workspace: Workspace, present: Collection[JobId]) -> Iterator[Verdict]:
    """Verdicts for what belongs to no `present` job: deleted jobs, files of namespaces, and whatever else is there."""
    locks = workspace.locks
    gone = _Examination(environments=(), locks=locks)
    yield from (gone.by_digests(job) for job in locks.ids() if job not in present)
    rendered = workspace.repository.settings.rendered
    for each in Survey.of(workspace, locks.ids()).findings(unrendered=present):
        state: State = "stale" if each.state == "outdated" else each.state
        yield Verdict(_place(each.path, rendered), state, [each.path])


def _converted(workspace: Workspace) -> Iterator[Diagnostic]:
    """An error if the bytes verified here are not those of the commit, which is what an engine may read."""
    rendered = workspace.repository.settings.rendered
    try:
        found = converted(workspace.repository.root, rendered)
    except GitError as error:
        yield file_error("TF734", rendered, f"cannot find out what git converts: {error}")
        return
    if found:
        file, attribute = min(found.items())
        message = f"git converts this file on checkout ({attribute}), so the commit holds other bytes than were checked"
        more = f" and {counted(len(found) - 1, 'other file')}" if len(found) > 1 else ""
        hint = f"remove the attribute from .gitattributes: it applies to this file{more}"
        yield file_error("TF734", file, message, hint)


def _place(path: str, rendered: str) -> JobId:
    """What a path outside of the jobs' folders says about environment, namespace and job."""
    for above in (f"{rendered}/{flux.FOLDER}/", f"{rendered}/", f"{paths.LOCKS}/"):
        if path.startswith(above):
            environment, namespace, name = [*path.removeprefix(above).split("/")[:-1], "", "", ""][:3]
            return environment, namespace, name
    return "", "", ""
