"""The diffs of single jobs, in chunks and in several processes: an upgrade may change every job of a repository, and
the objects of all of them, before and after, would not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from trainform.core.cluster.facts import NO_FACTS
from trainform.io.repository import is_template
from trainform.io.workers import processors
from trainform.review.capacity.demand import demand_of
from trainform.review.diff.model import JobDiff, diff_job
from trainform.review.diff.totals import Ask, JobCosts, ask_of
from trainform.workspace.diff.versions import (
    Version,
    paths_before,
    unchanged_train_jobs,
    version_compiled,
    version_rendered,
    versions_before,
)
from trainform.workspace.parallel import in_workers, pieces

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.review.cost.money import Cost
    from trainform.review.cost.pricing import Pricing
    from trainform.workspace.diff.working_tree import WorkingTree


class ComparedJob(NamedTuple):
    """What a job requests and costs, before and after, and its diff; None if it did not change."""

    id: JobId
    diff: JobDiff | None
    asks: tuple[Ask | None, Ask | None]
    costs: JobCosts | None


def compared(tree: WorkingTree, jobs: Sequence[JobId], pricings: Mapping[str, Pricing]) -> Iterator[ComparedJob]:
    """Compare these jobs with the baseline, in order. Raises GitError, and OSError for unreadable files."""
    workers, paths = processors(), paths_before(tree.scope, jobs)
    chunks = [[(job, paths[job]) for job in chunk] for chunk in pieces(jobs, workers)]
    for found in in_workers(partial(_compared, tree, pricings), chunks, workers):
        yield from found


def _compared(
    tree: WorkingTree, pricings: Mapping[str, Pricing], jobs: Sequence[tuple[JobId, Sequence[str]]]
) -> list[ComparedJob]:
    before = versions_before(tree.scope, dict(jobs))
    after = {job: _version(tree, job) for job in before}
    same = unchanged_train_jobs(tree.scope, tree.environments, before, after)
    engines = {each.name: each.environment.spec.gitops.engine for each in tree.environments if each.environment}
    found = []
    for job, new in after.items():
        old = before[job]
        asks, costs = (_ask(old), _ask(new)), _costs(old, new, pricings.get(job[0]))
        one = diff_job(job, old.objects, new.objects, same.get(job), engines.get(job[0], "none"))
        if one:
            source = new.source or old.source
            one = replace(one, source=source, templated=is_template(source), before=asks[0], after=asks[1], costs=costs)
        found.append(ComparedJob(job, one, asks, costs))
    return found


def _version(tree: WorkingTree, job: JobId) -> Version:
    if job in tree.compiled:
        return version_compiled(tree.compiled[job], tree.current[job[0]])
    return version_rendered(tree.overview.locks, job) if tree.is_present(job) else Version()


def _ask(version: Version) -> Ask | None:
    return next((ask_of(tree) for tree in version.objects if tree["kind"] == "JobSet"), None)


def _costs(old: Version, new: Version, pricing: Pricing | None) -> JobCosts | None:
    return JobCosts(_cost(old, pricing), _cost(new, pricing)) if pricing else None


def _cost(version: Version, pricing: Pricing) -> Cost | None:
    demand = next((demand_of(tree, NO_FACTS) for tree in version.objects if tree["kind"] == "JobSet"), None)
    return pricing.cost(demand) if demand else None
