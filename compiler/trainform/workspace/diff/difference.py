"""Gather a repository's jobs before and after a change, and compare them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.io.baseline import baseline
from trainform.io.paths import BASELINE, JobId
from trainform.io.repository import is_template
from trainform.io.settings import FILE
from trainform.review.diff.model import BehindCount, Diff, JobDiff, Reason
from trainform.review.diff.totals import CostBalance, JobCosts
from trainform.workspace.cache.build_cache import BuildCache
from trainform.workspace.compilation import Outcome
from trainform.workspace.diff.job_diffs import compared
from trainform.workspace.diff.overview import overview
from trainform.workspace.diff.scope import COMPANION, ENVIRONMENT, ChangeScope, change_scope, jobs_of, watched
from trainform.workspace.diff.working_tree import WorkingTree, also_needed, working_tree
from trainform.workspace.discovery import Workspace
from trainform.workspace.review.capacity import pricing_of

if TYPE_CHECKING:
    from trainform.io.baseline import Baseline
    from trainform.io.repository import Repository
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
    tree = working_tree(workspace, scope, found)
    while more := also_needed(tree):
        scope = replace(scope, files=sorted({*(scope.files or ()), *more}))
        tree = working_tree(workspace, scope, found)
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


def _difference(tree: WorkingTree) -> Diff:
    jobs = [job for job in _candidates(tree) if tree.is_known(job)]
    pricings = _pricings(tree)
    found = Diff(costs={name: CostBalance(pricing.currency) for name, pricing in pricings.items()})
    for job, one, asks, costs in compared(tree, jobs, pricings):
        found.jobs += [one] if one else []
        found.add(job[0], asks, costs)
        if one and one.keeps_running:
            found.add(job[0], (None, asks[0]), costs and JobCosts(None, costs.before))
    changed = {job.id for job in found.jobs}
    _add_behind(found, changed, tree)
    seen = set(jobs)
    others = [job for job in tree.overview.jobs() if tree.concerns(job) and job not in seen]
    for environment, namespace, ask, jobs_alike in tree.overview.asked(others):
        found.totals.add(environment, ask, ask, jobs_alike)
        if pricing := pricings.get(environment):
            cost = pricing.hourly(ask.resources, namespace, ask.queue) * jobs_alike
            found.costs[environment].add(cost, cost)
    found.sort()
    return found


def _candidates(tree: WorkingTree) -> list[JobId]:
    """Jobs that may differ: compiled ones, those whose files changed, and deleted ones."""
    scope = tree.scope
    touched = jobs_of(scope.changed, tree.workspace.repository.settings) | jobs_of(scope.changed, scope.settings_before)
    gone = (job for job in tree.overview.jobs() if not tree.is_present(job))
    return sorted(filter(tree.concerns, {*touched, *tree.compiled, *gone}))


def _pricings(tree: WorkingTree) -> dict[str, Pricing]:
    """The prices of each environment that has any. Those of the baseline do not matter: what a change of the prices
    does is no change of a job."""
    compilations = zip(tree.environments, tree.outcome.compilations, strict=True)
    found = {inputs.name: pricing_of(inputs, compilation) for inputs, compilation in compilations}
    return {name: pricing for name, pricing in found.items() if pricing}


def _add_behind(found: Diff, changed: Collection[JobId], tree: WorkingTree) -> None:
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


def _is_new(cause: Cause, pins: Pins, job: JobId, tree: WorkingTree) -> bool:
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
