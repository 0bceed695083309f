"""What a change of the repository does to its jobs: both states gathered, and handed to the comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.io.paths import JobId
from trainform.io.repository import Repository
from trainform.review.diff.model import Diff, diff_job
from trainform.review.diff.totals import Ask, ask_of
from trainform.workspace.compiling import Outcome, compile_targets
from trainform.workspace.discovery import load_all, repository_targets
from trainform.workspace.falling_behind import falling_behind
from trainform.workspace.fleet import Fleet
from trainform.workspace.reach import Reach, jobs_of, reach
from trainform.workspace.recalled import overview
from trainform.workspace.staleness import presents_of
from trainform.workspace.target import Target
from trainform.workspace.uptodate import set_frozen_apart
from trainform.workspace.versions import Version, untouched, version_compiled, version_rendered, versions_before

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.io.baseline import Baseline
    from trainform.workspace.fingerprint import Present


@dataclass(slots=True)
class Now:
    """The repository as it is: all jobs at a glance, and those that the change reaches read, compiled or frozen.

    `sources` are the files of jobs that were read, None for all.
    """

    repository: Repository
    reach: Reach
    fleet: Fleet
    sources: Collection[str] | None
    targets: list[Target]
    outcome: Outcome
    compiled: dict[JobId, CompiledJob]
    frozen: set[JobId]
    presents: dict[str, Present]
    environments: Collection[str] = ()
    faulty: set[str] = field(default_factory=set)

    def concerns(self, job: JobId) -> bool:
        return not self.environments or job[0] in self.environments

    def is_alive(self, job: JobId) -> bool:
        """Whether there is a TrainJob of it. One whose file nobody had a reason to read is as it was."""
        if job in self.compiled or job in self.frozen:
            return True
        if self.sources is None or job[0] not in self.presents:
            return False
        source = self.fleet.source(job)
        return source is not None and source not in self.sources

    def is_known(self, job: JobId) -> bool:
        """False for a job that has an error, or may be in what has one: nothing can be said of it."""
        if job in self.compiled:
            return bool(self.compiled[job].objects)
        environment = f"{self.repository.settings.environments}/{job[0]}/"
        broken = self.fleet.source(job) in self.faulty or any(file.startswith(environment) for file in self.faulty)
        return job in self.frozen or (not self.fleet.state.is_broken(job) and not broken)


def compare_repository(
    repository: Repository, problems: Sequence[Diagnostic], start: Baseline, environments: Sequence[str]
) -> tuple[Diff, Outcome]:
    """The difference that the working tree makes to `start`; all diagnostics are in the outcome.

    A job with an error is no part of the difference. Raises GitError and OSError for what cannot be read.
    """
    fleet, changed = overview(repository, start)
    found = reach(repository, start, changed, fleet.sources())
    now = _read(repository, problems, found, fleet, environments)
    if found.files is not None and any(each.code == "TF201" for each in now.outcome.all_diagnostics()):
        # The runtime may stand in the file of a job that nobody had a reason to read.
        now = _read(repository, problems, replace(found, files=None), fleet, environments)
    return _difference(now), now.outcome


def _read(
    repository: Repository,
    problems: Sequence[Diagnostic],
    found: Reach,
    fleet: Fleet,
    environments: Sequence[str],
) -> Now:
    """Reads and compiles what the change reaches."""
    files = None if found.files is None else [f"{repository.root}/{file}" for file in found.files]
    targets = repository_targets(repository, environments, files)
    frozen = {job.id for target in targets for job in set_frozen_apart(target, fleet.state, lambda job: False)}
    for target in targets:
        target.partial = True
    hidden = _hidden_environments(repository, {target.name for target in targets}, environments)
    broken = filter(None, map(fleet.state.problem, fleet.others()))
    outcome = compile_targets(targets, [*problems, *hidden, *broken], wants_job=False)
    compiled = {(job.environment, job.namespace, job.name): job for job in outcome.jobs}
    presents = presents_of(targets, outcome)
    faulty = {each.file for each in outcome.diagnostics if each.severity == "error" and each.file}
    sources = None if found.files is None else {*found.files, *found.changed, *found.unrendered}
    asked = frozenset(environments)
    return Now(repository, found, fleet, sources, targets, outcome, compiled, frozen, presents, asked, faulty)


def _hidden_environments(
    repository: Repository, known: Collection[str], asked: Collection[str]
) -> Iterator[Diagnostic]:
    """What is wrong with folders of environments in which no Environment can be read: it may be there still."""
    for folder in repository.environments():
        name = folder.rsplit("/", 1)[-1]
        if name not in known and (not asked or name in asked):
            yield from load_all(repository, repository.listed(folder).files).diagnostics


def _difference(now: Now) -> Diff:
    jobs = [job for job in _candidates(now) if now.is_known(job)]
    before = versions_before(now.reach, jobs)
    after = {job: _version(now, job) for job in jobs}
    same = untouched(now.reach, now.targets, before, after)
    diff = Diff()
    for job in jobs:
        old, new = before[job], after[job]
        asks = _ask(old), _ask(new)
        diff.totals.add(job[0], *asks)
        if one := diff_job(job, old.objects, new.objects, same.get(job)):
            diff.jobs.append(replace(one, before=asks[0], after=asks[1]))
    changed = {job.id for job in diff.jobs}
    others = [job for job in now.fleet.jobs() if now.concerns(job)]
    staying = (job for job in others if job not in changed and job not in now.compiled and now.is_alive(job))
    falling_behind(diff, staying, now)
    for environment, ask, jobs_alike in now.fleet.asked([job for job in others if job not in after]):
        diff.totals.add(environment, ask, ask, jobs_alike)
    diff.sort()
    return diff


def _candidates(now: Now) -> list[JobId]:
    """The jobs that may differ: those that were compiled, those whose state changed, those that are gone."""
    touched = jobs_of(now.reach.changed, now.repository.settings) | jobs_of(now.reach.changed, now.reach.was)
    gone = (job for job in now.fleet.jobs() if not now.is_alive(job))
    return sorted(filter(now.concerns, {*touched, *now.compiled, *gone}))


def _version(now: Now, job: JobId) -> Version:
    if job in now.compiled:
        return version_compiled(now.compiled[job], now.presents[job[0]])
    return version_rendered(now.fleet.state, job) if now.is_alive(job) else Version()


def _ask(version: Version) -> Ask | None:
    return next((ask_of(tree) for tree in version.objects if tree["kind"] == "JobSet"), None)
