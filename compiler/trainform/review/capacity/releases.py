"""What changed between releases of Kueue, as far as verdicts depend on it."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.k8s.versions import ClusterVersion, Release, has_change
from trainform.review.capacity.kueue_facts import ClusterQueue

MOST_POD_SETS: tuple[tuple[Release, int], ...] = (((0, 19, 0), 18), ((0, 18, 0), 10), ((0, 0, 0), 8))
"""Most pod sets of a Workload, from which release on."""

OWN_KEYS: tuple[Release, ...] = ((0, 17, 6), (0, 18, 2), (0, 19, 0))
"""Since when a flavor is compared with what a pod selects by the labels of that flavor only."""


def most_pod_sets(version: ClusterVersion | None) -> tuple[int, int]:
    """Most pod sets for certain, and at best; they differ if the version is unknown."""
    if version is None:
        counts = [count for _, count in MOST_POD_SETS]
        return min(counts), max(counts)
    most = next(count for release, count in MOST_POD_SETS if version[:2] >= release[:2])
    return most, most


def own_keys(version: ClusterVersion | None, queues: Iterable[ClusterQueue]) -> tuple[bool, ...]:
    """The ways in which Kueue may compare labels: one, or both if the version is not known and they differ."""
    known = has_change(version, *OWN_KEYS)
    if known is not None:
        return (known,)
    return (True, False) if any(map(_has_other_keys, queues)) else (True,)


def _has_other_keys(queue: ClusterQueue) -> bool:
    """Whether flavors of one group have labels of different keys."""
    return any(len({frozenset(queue.flavors[name].labels) for name in group.flavors}) > 1 for group in queue.groups)
