"""Whether a cluster accepts an update, by the rules of its API.

A JobSet's rules are its CRD's (`self == oldSelf` on its policies: two values must be equal, but a value may appear or
vanish) and its webhook's (replicated jobs and `managedBy` never change; five fields of pod templates may, while the
JobSet is or becomes suspended). Kueue's webhook adds rules for its labels. What an engine asks of the API in the first
place is in `delivery`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Literal

from trainform.diagnostics import Path
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import Tree, table
from trainform.review.capacity.deadline import MAX_EXEC_LABEL
from trainform.review.capacity.demand import PRIORITY_LABEL, QUEUE_LABEL
from trainform.review.diff.compare import FieldChange

Change = Literal["new", "in-place", "needs-suspend", "restart", "orphan", "delete", "behind"]

ORDER: tuple[Change, ...] = ("delete", "orphan", "restart", "needs-suspend", "new", "in-place", "behind")
"""Order of changes in reports, most severe first."""

RERUN_PATH: Path = ("metadata", "annotations", "trainform.dev/rerun")

WORKLOAD_LABEL = "kueue.x-k8s.io/prebuilt-workload-name"


class Rule(IntEnum):
    """When the API accepts a change of a field."""

    ANYTIME = 0
    SUSPENDED = 1
    """While the JobSet is suspended, or in the update that suspends or resumes it."""
    STAYS_SUSPENDED = 2
    """While the JobSet is suspended, and the update leaves it suspended."""
    NEVER = 3


_POLICIES = ("network", "successPolicy", "failurePolicy", "startupPolicy", "volumeClaimPolicies")
_FREE = ("suspend", "ttlSecondsAfterFinished", "coordinator")
_POD_TEMPLATE = ("template", "spec", "template")
FREE_WHILE_SUSPENDED: tuple[Path, ...] = (
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "nodeSelector"),
    ("spec", "tolerations"),
    ("spec", "schedulingGates"),
)


def rule(before: Tree, change: FieldChange) -> Rule:
    """When the API accepts `change` of the object `before`; at any time for unknown kinds."""
    path = change.path
    match before.get("kind"):
        case "JobSet":
            return _jobset_rule(change)
        case "PersistentVolumeClaim":
            resized = path[:3] == ("spec", "resources", "requests")
            return Rule.NEVER if path[0] == "spec" and not resized else Rule.ANYTIME
        case "RoleBinding" | "ClusterRoleBinding":
            return Rule.NEVER if path[0] == "roleRef" else Rule.ANYTIME
        case "ConfigMap" | "Secret":
            fixed = path[0] == "type" or (before.get("immutable") is True and path[0] != "metadata")
            return Rule.NEVER if fixed else Rule.ANYTIME
    return Rule.ANYTIME


def _jobset_rule(change: FieldChange) -> Rule:
    match change.path:
        case ("metadata", "labels", str(label)):
            return _label_rule(label, change.before, change.after)
        case ("spec", str(field), *rest) if field in _POLICIES:
            comes_or_goes = change.before is None or change.after is None
            return Rule.ANYTIME if comes_or_goes and not rest else Rule.NEVER
        case ("spec", str(field), *_) if field in _FREE:
            return Rule.ANYTIME
        case path if is_free_while_suspended(path):
            return Rule.SUSPENDED
        case ("spec", *_):
            return Rule.NEVER
    return Rule.ANYTIME


def is_free_while_suspended(path: Path) -> bool:
    """Whether a JobSet's field is one of the five of a pod template that may change while it is suspended. Kueue sets
    them when it admits the JobSet."""
    return path[:2] == ("spec", "replicatedJobs") and path[3:6] == _POD_TEMPLATE and path[6:8] in FREE_WHILE_SUSPENDED


def _label_rule(label: str, before: Any, after: Any) -> Rule:
    """Kueue's rules: the priority may change, but not be removed. Adding one, and any change of the other labels, needs
    a suspended job that stays suspended."""
    if label == PRIORITY_LABEL:
        if after is None:
            return Rule.NEVER
        return Rule.STAYS_SUSPENDED if before is None else Rule.ANYTIME
    return Rule.STAYS_SUSPENDED if label in (QUEUE_LABEL, MAX_EXEC_LABEL, WORKLOAD_LABEL) else Rule.ANYTIME


def needs_new_run(kind: str, path: Path) -> bool:
    """Whether the API accepts a change of a field that only a new run picks up. Our ConfigMaps hold hostfiles and entry
    points, which pods read at startup. `trainform.dev/rerun` asks to run an unchanged job again, and a finished JobSet
    does not restart."""
    if kind == "ConfigMap":
        return path[0] in ("data", "binaryData")
    return kind == "JobSet" and path == RERUN_PATH


def class_of(rules: Iterable[Rule], *, suspended: bool, throughout: bool = False) -> Change:
    """A job's change, from the rules of its changed fields; `suspended` before or after the update, or `throughout`."""
    gravest = max(rules, default=Rule.ANYTIME)
    if gravest == Rule.NEVER:
        return "restart"
    most = Rule.STAYS_SUSPENDED if throughout else Rule.SUSPENDED if suspended else Rule.ANYTIME
    return "needs-suspend" if gravest > most else "in-place"


def asks_for_suspension(jobset: Tree) -> bool:
    """Whether an update to this JobSet suspends it, or leaves it suspended."""
    return table(jobset, "spec").get("suspend") is True


def is_suspended(jobset: Tree) -> bool:
    """Whether a rendered JobSet is certainly suspended. With a queue, Kueue decides that regardless of git."""
    return asks_for_suspension(jobset) and QUEUE_LABEL not in labels_of(jobset)
