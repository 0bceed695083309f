"""What became of jobs in a cluster: the document StatusResult, which `status` prints and others read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from trainform.k8s.tree import Tree, number, tables, text, texts
from trainform.review.live.drift import Drift

LiveState = Literal["not created", "queued", "suspended", "running", "finished", "failed", "orphaned"]
STATES: tuple[LiveState, ...] = get_args(LiveState)
KIND = "StatusResult"

WRONG = frozenset(("not created", "failed", "orphaned"))
"""States in which something is not as git has it, or failed."""

ENDED = frozenset(("finished", "failed", "orphaned"))
"""States that stay, and that of jobs which are not waited for."""


class FailedPod(NamedTuple):
    """A pod that failed, by its container; `exit_code` is None if it never ran. `log` has its last lines."""

    name: str
    container: str
    exit_code: int | None
    reason: str
    log: tuple[str, ...] = ()

    def to_json(self) -> Tree:
        return {
            "name": self.name,
            "container": self.container,
            "exitCode": self.exit_code,
            "reason": self.reason,
            "log": [*self.log],
        }

    def __str__(self) -> str:
        code = "" if self.exit_code is None else f" with exit code {self.exit_code}"
        reason = f" ({self.reason})" if self.reason else ""
        return f"container {self.container} of pod {self.name} ended{code}{reason}"


class LiveJob(NamedTuple):
    """One job: `jobset` is the name of its JobSet, which differs with content hashes; `reason` says more about the
    state. An orphan's name is its JobSet's."""

    namespace: str
    name: str
    jobset: str
    state: LiveState
    reason: str = ""
    drift: tuple[Drift, ...] = ()
    pod: FailedPod | None = None

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def is_as_in_git(self) -> bool:
        return self.state not in WRONG and not self.drift

    @property
    def told(self) -> str:
        """The state, and whether it drifted."""
        return f"{self.state}, drifted" if self.drift else self.state

    def to_json(self) -> Tree:
        return {
            "namespace": self.namespace,
            "name": self.name,
            "jobset": self.jobset,
            "state": self.state,
            "reason": self.reason,
            "drift": [each._asdict() for each in self.drift],
            "pod": self.pod.to_json() if self.pod else None,
        }


class LiveStatus(NamedTuple):
    """The jobs of one environment, in order. `notes` are about what could not be asked, `unreadable` are jobs whose
    manifest is missing or not valid."""

    environment: str
    jobs: Sequence[LiveJob]
    context: str = ""
    server: str = ""
    notes: Sequence[str] = ()
    unreadable: Sequence[str] = ()

    @property
    def has_ended(self) -> bool:
        """Whether no job can change its state any more, unless somebody starts it anew."""
        return all(job.state in ENDED for job in self.jobs)

    @property
    def is_as_in_git(self) -> bool:
        return not self.unreadable and all(job.is_as_in_git for job in self.jobs)

    def fields(self) -> Mapping[str, Any]:
        """The document's fields, without its head."""
        return {
            "environment": self.environment,
            "context": self.context,
            "server": self.server,
            "jobs": [job.to_json() for job in self.jobs],
            "notes": [*self.notes],
            "unreadable": [*self.unreadable],
        }


def status_of(document: Tree) -> LiveStatus | None:
    """The document as it was printed; None if it is another one, or a job in it has a state of another version."""
    environment = text(document, "environment")
    jobs = [_job(each) for each in tables(document, "jobs")]
    known = [job for job in jobs if job]
    if text(document, "kind") != KIND or not environment or len(known) < len(jobs):
        return None
    context, server = text(document, "context"), text(document, "server")
    notes, unreadable = texts(document, "notes"), texts(document, "unreadable")
    return LiveStatus(environment, known, context, server, notes, unreadable)


def _job(tree: Tree) -> LiveJob | None:
    state = next((each for each in STATES if each == tree.get("state")), None)
    if state is None:
        return None
    changes = tuple(Drift(text(each, "field"), each.get("git"), each.get("live")) for each in tables(tree, "drift"))
    namespace, name, jobset = (text(tree, key) for key in ("namespace", "name", "jobset"))
    return LiveJob(namespace, name, jobset, state, text(tree, "reason"), changes, _pod(tree.get("pod")))


def _pod(tree: Any) -> FailedPod | None:
    if not isinstance(tree, dict):
        return None
    code, log = number(tree, "exitCode"), tuple(texts(tree, "log"))
    return FailedPod(text(tree, "name"), text(tree, "container"), code, text(tree, "reason"), log)
