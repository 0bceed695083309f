"""Verify that rendered files match their inputs and were not edited, for `trainform check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted, has_errors
from trainform.io import paths
from trainform.io.git import GitError, converted
from trainform.io.paths import JobId
from trainform.io.place import file_error
from trainform.output import flux
from trainform.workspace.behind import current_inputs
from trainform.workspace.cache.build_cache import BuildCache
from trainform.workspace.cache.index import JobFacts, JobTable, Proof
from trainform.workspace.compilation import compile_environments
from trainform.workspace.frozen import Rebuilt, take_frozen
from trainform.workspace.lints import Judgement, judge_problems
from trainform.workspace.parallel import Chunk, ChunkStats, map_chunks
from trainform.workspace.selection import unselected_jobs
from trainform.workspace.shards import ALL, Shard, take_other_shards
from trainform.workspace.shared.survey import Survey
from trainform.workspace.verify.applied import judge_behind
from trainform.workspace.verify.examination import Examination
from trainform.workspace.verify.namesakes import namesakes, rendered_objects
from trainform.workspace.verify.verdict import State, Verdict

if TYPE_CHECKING:
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs


@dataclass(slots=True, kw_only=True)
class Verification:
    """Results for some or all jobs. `problems` are those of malformed or unreadable files; `faults` are errors of stale
    jobs, which keep `render` from fixing them; `unselected` warns of jobs that nothing renders. `present` jobs have a
    TrainJob, in any shard. `changed_plugins` says how plugin packages changed, whose jobs are unproven. `in_one_piece`:
    all job files were read together, and may hold other documents than TrainJobs. `facts` are for the cache; all jobs
    in `clean_files` are good."""

    stats: ChunkStats = field(default_factory=ChunkStats)
    problems: list[Diagnostic] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    faults: list[Diagnostic] = field(default_factory=list)
    unselected: list[Diagnostic] = field(default_factory=list)
    present: set[JobId] = field(default_factory=set)
    changed_plugins: set[str] = field(default_factory=set)
    in_one_piece: bool = False
    facts: JobTable = field(default_factory=JobTable)
    clean_files: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not (self.faults or has_errors(self.problems)) and all(each.is_good for each in self.verdicts)

    def add(self, other: Verification) -> None:
        """Add the results of another chunk."""
        self.problems += other.problems
        self.verdicts += other.verdicts
        self.faults += other.faults
        self.unselected += other.unselected
        self.present |= other.present
        self.changed_plugins |= other.changed_plugins
        self.in_one_piece |= other.in_one_piece
        self.facts.update(other.facts)
        self.clean_files += other.clean_files

    def add_what_belongs_to_no_job(self, workspace: Workspace) -> None:
        found = _of_no_job(workspace, self.present)
        self.verdicts += (each for each in found if not workspace.asked or each.job[0] in workspace.asked)
        self.problems += _converted(workspace)

    def sort(self, workspace: Workspace) -> None:
        """Jobs by name, then what is no job."""
        jobs = self.present.union(workspace.locks.ids())
        self.verdicts.sort(key=lambda verdict: (verdict.job not in jobs, verdict.job))


def verify(workspace: Workspace, shard: Shard = ALL, workers: int = 0, *, cached: bool = True) -> Verification:
    """A verdict for each job of the workspace's environments in this shard; in the first shard, also for each wrong
    file that belongs to no job."""
    cache = BuildCache.open(workspace, enabled=cached and shard == ALL and not workspace.asked)
    whole = _verify_jobs(workspace, shard, workers, cache)
    if shard.is_first:
        whole.add_what_belongs_to_no_job(workspace)
    whole.sort(workspace)
    if whole.is_good:
        cache.save(whole.facts, whole.clean_files)
    return whole


def _verify_jobs(workspace: Workspace, shard: Shard, workers: int, cache: BuildCache) -> Verification:
    settled = cache.settled(Proof.UNPROVEN)
    known = _known(settled.jobs)
    files = [file for file in workspace.job_files if file not in settled.files]
    if settled.files and not files:
        return known
    work = partial(verify_chunk, workspace, shard)
    if settled.files:
        return map_chunks(workspace, work, workers, files=files, known=known)
    return map_chunks(workspace, work, workers)


def _known(jobs: JobTable) -> Verification:
    """Jobs verified by an earlier run and unchanged since."""
    verdicts = [Verdict(job, "current" if jobs.proof(job) == Proof.CURRENT else "unproven") for job in jobs]
    stats = ChunkStats(names=[*jobs], jobs=Counter(job[0] for job in jobs))
    return Verification(stats=stats, verdicts=verdicts, present=set(jobs))


def verify_chunk(
    workspace: Workspace,
    shard: Shard,
    environments: list[EnvironmentInputs],
    chunk: Chunk,
    compiled: Mapping[JobId, Rebuilt] = MappingProxyType({}),
) -> Verification:
    """The verdicts of a chunk's jobs. `compiled`: what today's inputs give, if that is known."""
    locks = workspace.locks.fresh()
    stats = ChunkStats.of(environments, chunk)
    problems = [problem for each in environments for problem in each.sources.diagnostics]
    unselected = judge_problems(unselected_jobs(workspace, environments, chunk.files), workspace.lints, Judgement())
    elsewhere = [job.id for each in environments for job in take_other_shards(each, shard)]
    examination = Examination.of(environments, locks, workspace.plugins, compiled)
    verdicts = examination.verdicts()
    rendered = partial(rendered_objects, workspace.repository)
    shared = namesakes(examination.files, {*locks.ids()}, rendered, examination.files.__getitem__)
    faults = _faults(environments, examination, stats, elsewhere)
    found = Verification(
        stats=stats,
        problems=chunk.portable([*chunk.own(problems), *shared]),
        verdicts=verdicts,
        faults=chunk.portable(faults),
        unselected=chunk.portable(unselected),
        present={*examination.present, *elsewhere},
        changed_plugins=examination.changed_plugins(),
        in_one_piece=chunk.is_whole,
    )
    if not chunk.is_whole:
        _remember(found, examination, chunk)
    return found


def _remember(found: Verification, examination: Examination, chunk: Chunk) -> None:
    """For the cache: good jobs in files with only good jobs and no findings."""
    noted = {each.file for each in (*found.problems, *found.faults, *found.unselected)}
    noted |= {examination.files[each.job] for each in found.verdicts if not each.is_good}
    noted |= {file for each in examination.environments for file in each.sources.unsettled}
    found.clean_files = [file for file in chunk.files or () if file not in noted]
    clean = set(found.clean_files)
    for each in found.verdicts:
        if examination.files[each.job] in clean:
            proof = Proof.CURRENT if each.state == "current" else Proof.UNPROVEN
            found.facts.add(each.job, JobFacts.of(examination.frozen[each.job].lock, proof))


def _faults(
    environments: Sequence[EnvironmentInputs],
    examination: Examination,
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
    current = current_inputs(environments, outcome)
    applied = judge_behind(locks.repository, frozen.values(), current, examination.plugins)
    errors = [each for found in applied.values() for each in found if each.severity == "error"]
    errors += examination.faults
    if not has_jobs:
        stats.jobs = {each.name: sum(job[0] == each.name for job in left_out) for each in environments}
        return errors
    stats.add_outcome(environments, outcome, left_out)
    return [*outcome.errors(), *errors]


def _of_no_job(workspace: Workspace, present: Collection[JobId]) -> Iterator[Verdict]:
    """Verdicts for what belongs to no `present` job: deleted jobs, files of namespaces, and whatever else is there."""
    locks = workspace.locks
    gone = Examination(environments=(), locks=locks, plugins=workspace.plugins)
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
