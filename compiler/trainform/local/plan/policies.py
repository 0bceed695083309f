"""What follows when a pod or a Job ends: the Job controller's and JobSet's policies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from trainform.k8s.tree import Tree, number, sequence, table, tables, text, texts

BACKOFF_LIMIT = 6
"""A Job's retries, if it sets no `backoffLimit`."""

AfterPod = Literal["retry", "give up on the index", "fail"]

JobOutcome = Literal["running", "complete", "failed"]


class Exit(NamedTuple):
    """How a container ended; a signal is 128 and its number, as a shell tells it."""

    container: str
    code: int


@dataclass(slots=True)
class JobFailures:
    """The failures of one Job so far. `reason` is set once the Job has failed, as the Job controller names it."""

    spec: Tree
    count: int = 0
    by_index: dict[int, int] = field(default_factory=dict)
    given_up: set[int] = field(default_factory=set)
    reason: str = ""
    message: str = ""

    def after(self, index: int, exits: Sequence[Exit]) -> AfterPod:
        """What to do about the pod `index`, containers of which failed with `exits`."""
        action = _pod_failure_action(table(self.spec, "podFailurePolicy"), exits)
        if action == "Ignore":
            return "retry"
        if action == "FailJob":
            return self._fail("PodFailurePolicy", f"container {exits[0].container} exited with {exits[0].code}")
        self.count += 1
        self.by_index[index] = self.by_index.get(index, 0) + 1
        per_index = number(self.spec, "backoffLimitPerIndex")
        if action == "FailIndex" or (per_index is not None and self.by_index[index] > per_index):
            return self._give_up(index)
        limit = number(self.spec, "backoffLimit")
        if per_index is None and self.count > (BACKOFF_LIMIT if limit is None else limit):
            return self._fail("BackoffLimitExceeded", "a pod failed more often than backoffLimit allows")
        return "retry"

    def deadline_passed(self) -> None:
        self._fail("DeadlineExceeded", "activeDeadlineSeconds have passed")

    def all_ended(self) -> None:
        """No pod is left to run: the Job fails if it gave up on an index."""
        if self.given_up and not self.reason:
            self._fail("FailedIndexes", f"index {min(self.given_up)} failed")

    def _give_up(self, index: int) -> AfterPod:
        self.given_up.add(index)
        most = number(self.spec, "maxFailedIndexes")
        if most is not None and len(self.given_up) > most:
            return self._fail("MaxFailedIndexesExceeded", "more indexes failed than maxFailedIndexes allows")
        return "give up on the index"

    def _fail(self, reason: str, message: str) -> AfterPod:
        self.reason, self.message = reason, message
        return "fail"


def _pod_failure_action(policy: Tree, exits: Sequence[Exit]) -> str:
    """The action of the first rule that a container's exit code matches, else `Count`. Conditions of pods, such as
    DisruptionTarget, come from a cluster, and none is ever true here."""
    for rule in tables(policy, "rules"):
        wanted = table(rule, "onExitCodes")
        name = text(wanted, "containerName")
        codes = [each.code for each in exits if each.code and name in ("", each.container)]
        values = sequence(wanted.get("values"))
        is_in = text(wanted, "operator") == "In"
        if wanted and any((code in values) == is_in for code in codes):
            return text(rule, "action")
    return "Count"


def is_job_done(spec: Tree, succeeded: set[int], total: int) -> bool:
    """Whether a Job is complete: all indexes, or those that a rule of its `successPolicy` asks for."""
    for rule in tables(table(spec, "successPolicy"), "rules"):
        asked = _indexes(text(rule, "succeededIndexes"), total)
        count = number(rule, "succeededCount")
        if len(asked & succeeded) >= (len(asked) if count is None else count):
            return True
    return len(succeeded) == total


def _indexes(text: str, total: int) -> set[int]:
    """`0,2-4` as numbers; all of them if the text is empty."""
    if not text:
        return {*range(total)}
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= {*range(int(first), int(last or first) + 1)}
    return found


class EndedJob(NamedTuple):
    """A Job's step and state; reason and message if it failed."""

    step: str
    outcome: JobOutcome
    reason: str = ""
    message: str = ""


AfterJob = Literal["go on", "succeed", "restart", "restart uncounted", "fail"]


def after_job(spec: Tree, jobs: Sequence[EndedJob], restarts: int) -> AfterJob:
    """What JobSet does, given the state of all Jobs and how many `restarts` it has counted. Source: jobset
    `pkg/controllers/failure_policy.go` and `success_policy.go`."""
    if failed := next((job for job in jobs if job.outcome == "failed"), None):
        return _after_failure(table(spec, "failurePolicy"), failed, restarts)
    policy = table(spec, "successPolicy")
    targets = [name for name in texts(policy, "targetReplicatedJobs") if name] or [job.step for job in jobs]
    states = [job.outcome == "complete" for job in jobs if job.step in targets]
    enough = any(states) if text(policy, "operator") == "Any" else all(states)
    return "succeed" if enough else "go on"


_ACTIONS: Mapping[str, AfterJob] = {
    "FailJobSet": "fail",
    "RestartJobSet": "restart",
    "RestartJobSetAndIgnoreMaxRestarts": "restart uncounted",
    "RestartJob": "restart",
    "RestartJobAndIgnoreMaxRestarts": "restart uncounted",
}
"""A restart of one Job restarts all here: the others would lose their peer anyway."""


def _after_failure(policy: Tree, job: EndedJob, restarts: int) -> AfterJob:
    rule = next((rule for rule in tables(policy, "rules") if _matches(rule, job)), {})
    action = _ACTIONS.get(text(rule, "action"), "restart")
    if action == "restart" and restarts >= (number(policy, "maxRestarts") or 0):
        return "fail"
    return action


def _matches(rule: Tree, job: EndedJob) -> bool:
    steps, reasons = texts(rule, "targetReplicatedJobs"), texts(rule, "onJobFailureReasons")
    patterns = texts(rule, "onJobFailureMessagePatterns")
    return (
        (not steps or job.step in steps)
        and (not reasons or job.reason in reasons)
        and (not patterns or any(_found(each, job.message) for each in patterns))
    )


def _found(pattern: str, message: str) -> bool:
    try:
        return re.search(pattern, message) is not None
    except re.error:  # JobSet's webhook would reject it
        return False
