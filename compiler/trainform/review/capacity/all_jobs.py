"""Which jobs wait if all are started at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trainform.review.capacity.assignment import Undecided, find
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.kueue_facts import ClusterQueue
from trainform.review.capacity.one_job import Judged, Verdict
from trainform.review.capacity.reasons import too_much_now

Outcome = tuple[Verdict, str]
"""Another verdict than that of the job alone, and its reason."""


def start_all(judged: Iterable[Judged], cohorts: Cohorts) -> dict[str, Outcome]:
    """Let the jobs in one after the other; by full name, what becomes of those that do not get in.

    The order is that of Kueue for jobs that come at the same time: by priority; what it leaves open is
    decided by namespace and name. In a StrictFIFO queue nothing overtakes a job that cannot start. Nothing
    is preempted. What the jobs use is counted in `cohorts`.
    """
    start = _Start(cohorts)
    for each in sorted(judged, key=_order):
        if each.queue and each.heads:
            start.enter(each, each.queue)
    return start.outcomes


@dataclass(slots=True)
class _Start:
    """`first` has the job that blocks a strict queue; `undecided` one on which all later ones depend."""

    cohorts: Cohorts
    first: dict[str, str] = field(default_factory=dict)
    undecided: str = ""
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def enter(self, judged: Judged, queue: ClusterQueue) -> None:
        name = judged.job.full_name
        outcome = self._outcome(judged, queue) if judged.verdict == "fits" else None
        if outcome:
            self.outcomes[name] = outcome
        if queue.strict and (outcome or judged.verdict != "fits"):
            self.first.setdefault(queue.name, name)

    def _outcome(self, judged: Judged, queue: ClusterQueue) -> Outcome | None:
        if first := self.first.get(queue.name):
            return "waits", f"stands behind {first}: ClusterQueue {queue.name} is StrictFIFO"
        if self.undecided:
            return "unknown", f"fits alone; whether it waits depends on {self.undecided}, which is unknown"
        try:
            usage = find(judged.choices, lambda key: self.cohorts.left(queue.name, key))
            if usage is None:
                return "waits", too_much_now(judged.choices, queue, self.cohorts)
        except Undecided:
            self.undecided = judged.job.full_name
            return "unknown", "fits alone; there are too many ways to give its pod sets flavors beside others"
        for key, number in usage.items():
            self.cohorts.use(queue.name, key, number)
        return None


def _order(judged: Judged) -> tuple[int, str, str]:
    return (-judged.job.priority, judged.job.namespace, judged.job.name)
