"""Which jobs wait if all are started at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trainform.review.capacity.assignment import Undecided, find
from trainform.review.capacity.cohorts import Cohorts
from trainform.review.capacity.kueue_facts import ClusterQueue
from trainform.review.capacity.one_job import Judged, Verdict
from trainform.review.capacity.reasons import too_much_now


def start_all(judged: Iterable[Judged], cohorts: Cohorts) -> None:
    """Admit the jobs one after the other, and update the verdict of those that fit alone but not beside the others.

    The order is Kueue's for jobs that arrive at the same time: by priority, and by namespace and name where that
    leaves it open. In a StrictFIFO queue nothing overtakes a job that cannot start. Nothing is preempted. What the
    jobs use is counted in `cohorts`.
    """
    start = _Start(cohorts)
    for each in sorted(judged, key=lambda each: (-each.job.priority, each.job.namespace, each.job.name)):
        if each.queue and each.heads:
            start.enter(each, each.queue)


@dataclass(slots=True)
class _Start:
    """`first` has the job that blocks a strict queue; `undecided` one on which all later ones depend."""

    cohorts: Cohorts
    first: dict[str, str] = field(default_factory=dict)
    undecided: str = ""

    def enter(self, judged: Judged, queue: ClusterQueue) -> None:
        if judged.verdict == "fits":
            judged.verdict, judged.reason = self._outcome(judged, queue)
        if queue.strict and judged.verdict != "fits":
            self.first.setdefault(queue.name, judged.job.full_name)

    def _outcome(self, judged: Judged, queue: ClusterQueue) -> tuple[Verdict, str]:
        """The verdict on a job that fits alone, and its reason."""
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
        return "fits", ""
