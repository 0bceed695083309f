"""Gather a repository's jobs before and after a change, and compare them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from trainform.core.cluster.facts import NO_FACTS
from trainform.diagnostics import Diagnostic
from trainform.io.baseline import baseline
from trainform.io.paths import BASELINE, JobId
from trainform.io.repository import is_template
from trainform.io.settings import FILE
from trainform.review.capacity.demand import demand_of
from trainform.review.diff.model import BehindCount, Diff, JobDiff, Reason, diff_job
from trainform.review.diff.totals import Ask, CostBalance, JobCosts, ask_of
from trainform.workspace.behind import current_inputs
from trainform.workspace.cache.build_cache import BuildCache
from trainform.workspace.compilation import Outcome, compile_environments
from trainform.workspace.diff.overview import Overview, overview
from trainform.workspace.diff.scope import (
    COMPANION,
    ENVIRONMENT,
    ChangeScope,
    change_scope,
    jobs_of,
    may_hold_others,
    watched,
)
from trainform.workspace.diff.versions import (
    Version,
    unchanged_train_jobs,
    version_compiled,
    version_rendered,
    versions_before,
)
from trainform.workspace.discovery import Workspace
from trainform.workspace.frozen import take_frozen
from trainform.workspace.inputs import EnvironmentInputs
from trainform.workspace.review.capacity import pricing_of
from trainform.workspace.selection import unselected_jobs
from trainform.workspace.shared.reading import load_files

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.io.baseline import Baseline
    from trainform.io.repository import Repository
    from trainform.review.cost.money import Cost
    from trainform.review.cost.pricing import Pricing
    from trainform.workspace.fingerprint import Cause, CurrentInputs
    from trainform.workspace.lockfile import Pins


class Difference(NamedTuple):
    """The diff, without jobs that have errors; all diagnostics are in `outcome`."""

    diff: Diff
    outcome: Outcome


def diff(
    repository: Repository,
    problems: Sequence[Diagnostic],
    base: str,
    environments: Sequence[str],
    *,
    cached: bool = True,
) -> Difference:
    """Compare the working tree with the commit or folder `base`. Raises GitError if there is no such base, OSError for
    unreadable files."""
    workspace = Workspace(repository, problems, environments)
    workspace.refuse_sparse_checkout()
    start = baseline(repository.root, base)
    changes = start.looking(watched(repository.settings))
    found = overview(workspace.locks, BuildCache.open(workspace, enabled=cached))
    scope = change_scope(repository, start, changes(), found.sources())
    tree = _read(workspace, scope, found)
    while more := _also_needed(tree):
        scope = replace(scope, files=sorted({*(scope.files or ()), *more}))
        tree = _read(workspace, scope, found)
    difference = _difference(tree)
    difference.notes += _notes(repository, start, scope)
    return Difference(difference, tree.outcome)


def _notes(repository: Repository, start: Baseline, scope: ChangeScope) -> Iterator[str]:
    """Changes of what is shown to reviewers, which no job shows."""
    if scope.settings_before.lints != repository.settings.lints:
        yield f"the lint settings in {FILE} change: findings may be hidden, or become errors"
    if scope.settings_before.plugins.meaning != repository.settings.plugins.meaning:
        yield f"the plugins in {FILE} change: a plugin that checks jobs may be disabled, or no longer required"
    if list(start.looking([BASELINE])()):
        yield f"{BASELINE} changes: other findings are known, and not shown"


@dataclass(slots=True, kw_only=True)
class _WorkingTree:
    """The current repository: an overview of all jobs, and the affected ones, compiled or frozen. `sources` are the job
    files that were read (None: all), `faulty` the files with errors."""

    workspace: Workspace
    scope: ChangeScope
    overview: Overview
    sources: Collection[str] | None
    environments: list[EnvironmentInputs]
    outcome: Outcome
    compiled: dict[JobId, CompiledJob]
    frozen: set[JobId]
    current: dict[str, CurrentInputs]
    faulty: set[str]

    def concerns(self, job: JobId) -> bool:
        return not self.workspace.asked or job[0] in self.workspace.asked

    def is_present(self, job: JobId) -> bool:
        """Whether a job has a TrainJob. If its file was not read, the job is unchanged."""
        if job in self.compiled or job in self.frozen:
            return True
        if self.sources is None or job[0] not in self.current:
            return False
        source = self.overview.source(job)
        return source is not None and source not in self.sources

    def behind(self) -> Iterator[tuple[JobId, Pins, Sequence[Cause]]]:
        """The frozen jobs that are behind, and why. Jobs that share pins, in the same namespace, share the reasons."""
        known: dict[tuple[str, str, int], Sequence[Cause]] = {}
        for job in self.overview.jobs():
            pins = self.overview.pins(job) if self._is_frozen(job) else None
            if pins is None:
                continue
            key = (*job[:2], id(pins))
            causes = known[key] = known[key] if key in known else self.current[job[0]].causes(pins, job[1])
            if causes:
                yield job, pins, causes

    def _is_frozen(self, job: JobId) -> bool:
        return self.concerns(job) and job[0] in self.current and job not in self.compiled and self.is_present(job)

    def has_doubts(self) -> bool:
        """Whether job files that were not read may change the outcome: with a runtime that is missing, or one that
        replaces a shipped one, or with facts."""
        if any(each.code == "TF201" for each in self.outcome.all_diagnostics()):
            return True
        return any(
            cause.kind == "environment"
            or (cause.kind == "runtime" and pins.runtime.key not in self.current[job[0]].inputs.runtimes)
            for job, pins, causes in self.behind()
            for cause in causes
        )

    def is_known(self, job: JobId) -> bool:
        """Whether a job can be compared: not if it, or a file it may be in, has an error."""
        if job in self.compiled:
            return bool(self.compiled[job].objects)
        environment = f"{self.workspace.repository.settings.environments}/{job[0]}/"
        broken = self.overview.source(job) in self.faulty or any(file.startswith(environment) for file in self.faulty)
        return job in self.frozen or not (self.overview.locks.broken(job) or broken)


def _read(workspace: Workspace, scope: ChangeScope, found: Overview) -> _WorkingTree:
    """Reads and compiles what the change may affect."""
    repository = workspace.repository
    files = None if scope.files is None else [f"{repository.root}/{file}" for file in scope.files]
    changed = Workspace(repository, workspace.problems, workspace.asked, files)
    environments = changed.read()
    alone = unselected_jobs(changed, environments, None)
    frozen = {job.id for each in environments for job in take_frozen(each, found.locks)}
    for each in environments:
        each.partial = True
    hidden = _hidden_environments(workspace, {each.name for each in environments})
    broken = filter(None, map(found.locks.broken, found.others()))
    outcome = compile_environments(environments, [*workspace.problems, *alone, *hidden, *broken], wants_job=False)
    return _WorkingTree(
        workspace=workspace,
        scope=scope,
        overview=found,
        sources=None if scope.files is None else {*scope.files, *scope.changed, *scope.unrendered},
        environments=environments,
        outcome=outcome,
        compiled={(job.environment, job.namespace, job.name): job for job in outcome.jobs},
        frozen=frozen,
        current=current_inputs(environments, outcome),
        faulty={each.file for each in outcome.diagnostics if each.severity == "error" and each.file},
    )


def _also_needed(tree: _WorkingTree) -> Collection[str]:
    """Job files that were not read, but decide about jobs that were: a second file with the same job, which is an
    error, and files with other documents, if a runtime or a fact in them may account for what was found."""
    repository, read = tree.workspace.repository, tree.scope.files
    if read is None:
        return ()
    left = set(repository.jobs().files).difference(read)
    homes = left.intersection(filter(None, map(tree.overview.source, (*tree.compiled, *tree.frozen))))
    if not tree.has_doubts():
        return homes
    return homes | {file for file in left if may_hold_others(repository.read(file))}


def _hidden_environments(workspace: Workspace, known: Collection[str]) -> Iterator[Diagnostic]:
    """Problems of environment folders without a readable Environment, which may contain one."""
    for folder in workspace.repository.environments():
        name = folder.rsplit("/", 1)[-1]
        if name not in known and (not workspace.asked or name in workspace.asked):
            yield from load_files(workspace.repository, workspace.repository.listed(folder).files).diagnostics


def _difference(tree: _WorkingTree) -> Diff:
    jobs = [job for job in _candidates(tree) if tree.is_known(job)]
    before = versions_before(tree.scope, jobs)
    after = {job: _version(tree, job) for job in jobs}
    same = unchanged_train_jobs(tree.scope, tree.environments, before, after)
    engines = {each.name: each.environment.spec.gitops.engine for each in tree.environments if each.environment}
    pricings = _pricings(tree)
    found = Diff(costs={name: CostBalance(pricing.currency) for name, pricing in pricings.items()})
    for job in jobs:
        old, new = before[job], after[job]
        asks = _ask(old), _ask(new)
        costs = _costs(old, new, pricings.get(job[0]))
        one = diff_job(job, old.objects, new.objects, same.get(job), engines.get(job[0], "none"))
        if one:
            source = new.source or old.source
            made = replace(one, source=source, templated=is_template(source))
            found.jobs.append(replace(made, before=asks[0], after=asks[1], costs=costs))
        found.add(job[0], asks, costs)
        if one and one.keeps_running:
            found.add(job[0], (None, asks[0]), costs and JobCosts(None, costs.before))
    changed = {job.id for job in found.jobs}
    _add_behind(found, changed, tree)
    others = [job for job in tree.overview.jobs() if tree.concerns(job)]
    for environment, namespace, ask, jobs_alike in tree.overview.asked([job for job in others if job not in after]):
        found.totals.add(environment, ask, ask, jobs_alike)
        if pricing := pricings.get(environment):
            cost = pricing.hourly(ask.resources, namespace, ask.queue) * jobs_alike
            found.costs[environment].add(cost, cost)
    found.sort()
    return found


def _candidates(tree: _WorkingTree) -> list[JobId]:
    """Jobs that may differ: compiled ones, those whose files changed, and deleted ones."""
    scope = tree.scope
    touched = jobs_of(scope.changed, tree.workspace.repository.settings) | jobs_of(scope.changed, scope.settings_before)
    gone = (job for job in tree.overview.jobs() if not tree.is_present(job))
    return sorted(filter(tree.concerns, {*touched, *tree.compiled, *gone}))


def _version(tree: _WorkingTree, job: JobId) -> Version:
    if job in tree.compiled:
        return version_compiled(tree.compiled[job], tree.current[job[0]])
    return version_rendered(tree.overview.locks, job) if tree.is_present(job) else Version()


def _ask(version: Version) -> Ask | None:
    return next((ask_of(tree) for tree in version.objects if tree["kind"] == "JobSet"), None)


def _pricings(tree: _WorkingTree) -> dict[str, Pricing]:
    """The prices of each environment that has any. Those of the baseline do not matter: what a change of the prices
    does is no change of a job."""
    compilations = zip(tree.environments, tree.outcome.compilations, strict=True)
    found = {inputs.name: pricing_of(inputs, compilation) for inputs, compilation in compilations}
    return {name: pricing for name, pricing in found.items() if pricing}


def _costs(old: Version, new: Version, pricing: Pricing | None) -> JobCosts | None:
    return JobCosts(_cost(old, pricing), _cost(new, pricing)) if pricing else None


def _cost(version: Version, pricing: Pricing) -> Cost | None:
    demand = next((demand_of(tree, NO_FACTS) for tree in version.objects if tree["kind"] == "JobSet"), None)
    return pricing.cost(demand) if demand else None


def _add_behind(found: Diff, changed: Collection[JobId], tree: _WorkingTree) -> None:
    """Count the jobs that are behind, by cause, as `render` does; add those that this change puts behind and that are
    not `changed` otherwise."""
    for job, pins, causes in tree.behind():
        new = [cause for cause in causes if _is_new(cause, pins, job, tree)]
        for cause in causes:
            count = found.behind.setdefault(cause.message, BehindCount())
            count.jobs += 1
            count.new += cause in new
        if new and job not in changed:
            reasons = (_reason(cause, pins, tree.current[job[0]]) for cause in new)
            source = tree.overview.source(job) or ""
            found.jobs.append(JobDiff(job, "behind", tuple(reasons), source, is_template(source)))


def _is_new(cause: Cause, pins: Pins, job: JobId, tree: _WorkingTree) -> bool:
    """Whether what caused this changed since the baseline."""
    if cause.kind == "runtime":
        name = pins.runtime.name
        return not tree.scope.inputs.isdisjoint({(pins.runtime.kind, name), (COMPANION, name)})
    return cause.kind in ("environment", "key") and (ENVIRONMENT, job[0]) in tree.scope.inputs


def _reason(cause: Cause, pins: Pins, current: CurrentInputs) -> Reason:
    """What changed, with its digests before and after."""
    runtime = current.runtime(*pins.runtime.key)
    changed, before, after = {
        "runtime": (f"{pins.runtime.kind}/{cause.what}", pins.runtime.digest, runtime.digest if runtime else None),
        "environment": (f"Environment/{cause.what}", pins.environment, current.environment.digest),
    }.get(cause.kind, (f"Secret/{cause.what}", None, None))
    return Reason(changed, "", cause.message, before, after, inherited=True)
