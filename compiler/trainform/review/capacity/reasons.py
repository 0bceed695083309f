"""Why Kueue does not admit a job: the resource, the flavor, what is requested and what is available."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainform.review.capacity.amounts import written
from trainform.review.capacity.assignment import Mismatch, Mode, PodSetAssignment, Reason, Shortage, Uncovered
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.kueue_facts import ClusterQueue, FlavorResource
from trainform.review.capacity.scheduler import Workload

Has = Callable[[FlavorResource], str]
"""A quota's capacity, in words."""


def never_admitted(workload: Workload, cohorts: Cohorts) -> str:
    """Why a job is not admitted however often it is tried."""
    queue = workload.queue

    def has(key: FlavorResource) -> str:
        nominal = queue.quotas[key].nominal
        borrowable = written(key.resource, cohorts.potential_available(queue.name, key) - nominal)
        return f"{written(key.resource, nominal)} nominal + {borrowable} borrowable"

    return _told(workload, has)


def not_admitted_now(workload: Workload, cohorts: Cohorts) -> str:
    """Why a job does not start next to those that were admitted."""
    queue = workload.queue

    def has(key: FlavorResource) -> str:
        return f"{written(key.resource, cohorts.available(queue.name, key))} left beside the jobs before it"

    return _told(workload, has) or "its resources went to the jobs before it"


def _told(workload: Workload, has: Has) -> str:
    failed = [each for each in workload.assignment.pod_sets if each.mode != Mode.FIT]
    return "; ".join(_why(each, workload.queue, has) for each in failed)


def _why(failed: PodSetAssignment, queue: ClusterQueue, has: Has) -> str:
    """`trainer asks nvidia.com/gpu 16; flavor h100 of ClusterQueue gpu has 8 nominal + 0 borrowable`."""
    if failed.error:
        return failed.error
    uncovered = [reason.resource for reason in failed.reasons if isinstance(reason, Uncovered)]
    if uncovered:
        return f"{failed.pod_set.name} asks {uncovered[0]}, which no resource group of ClusterQueue {queue.name} covers"
    short = [reason for reason in failed.reasons if isinstance(reason, Shortage)]
    several = len({each.key.resource for each in short}) > 1
    texts = [_one(reason, queue, has, several=several) for reason in failed.reasons]
    if short:
        return "; ".join([_asked(failed.pod_set.name, short), *texts])
    return f"{_no_flavor(failed, queue)}: {'; '.join(texts)}"


def _one(reason: Reason, queue: ClusterQueue, has: Has, *, several: bool) -> str:
    if not isinstance(reason, Shortage):
        return reason.reason if isinstance(reason, Mismatch) else ""
    resource = f" of {reason.key.resource}" if several else ""
    return f"flavor {reason.key.flavor} of ClusterQueue {queue.name} has {has(reason.key)}{resource}"


def _asked(name: str, short: Sequence[Shortage]) -> str:
    by_resource = {each.key.resource: each for each in short}
    return " and ".join(
        f"{name} asks {resource} {written(resource, each.asked)}" + _beside(resource, each)
        for resource, each in by_resource.items()
    )


def _beside(resource: str, each: Shortage) -> str:
    return f" beside {written(resource, each.assumed)} of the steps before it" if each.assumed else ""


def _no_flavor(failed: PodSetAssignment, queue: ClusterQueue) -> str:
    resources = ", ".join(failed.pod_set.requests) or "room"
    return f"no flavor of ClusterQueue {queue.name} has {resources} for {failed.pod_set.name}"
