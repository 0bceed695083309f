"""Whether a cluster accepts an update, by the rules of its API.

A JobSet's rules are its CRD's (`self == oldSelf` on its policies: two values must be equal, but a value may appear or
vanish) and its webhook's (replicated jobs and `managedBy` never change; five fields of pod templates may, while the
JobSet is or becomes suspended). Kueue's webhook adds rules for its labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Literal

from trainform.diagnostics import Path
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import Tree, table
from trainform.review.capacity.demand import PRIORITY_LABEL, QUEUE_LABEL
from trainform.review.diff.compare import FieldChange

Change = Literal["new", "in-place", "needs-suspend", "restart", "delete", "behind"]

ORDER: tuple[Change, ...] = ("delete", "restart", "needs-suspend", "new", "in-place", "behind")
"""Order of changes in reports, most severe first."""

RERUN_PATH: Path = ("metadata", "annotations", "trainform.dev/rerun")

MAX_EXEC_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"


class Rule(IntEnum):
    """When the API accepts a change of a field."""

    ANYTIME = 0
    SUSPENDED = 1
    """While the JobSet is suspended, or in the update that suspends or resumes it."""
    NEVER = 2


_POLICIES = ("network", "successPolicy", "failurePolicy", "startupPolicy", "volumeClaimPolicies")
_FREE = ("suspend", "ttlSecondsAfterFinished", "coordinator")
_POD_TEMPLATE = ("template", "spec", "template")
_FREE_WHILE_SUSPENDED = (
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
        case ("spec", "replicatedJobs", int(), *rest) if tuple(rest[:3]) == _POD_TEMPLATE:
            return Rule.SUSPENDED if tuple(rest[3:5]) in _FREE_WHILE_SUSPENDED else Rule.NEVER
        case ("spec", *_):
            return Rule.NEVER
    return Rule.ANYTIME


def _label_rule(label: str, before: Any, after: Any) -> Rule:
    """Kueue's rule: the priority may change, but not be removed, nor added to a running job."""
    if label == PRIORITY_LABEL:
        if after is None:
            return Rule.NEVER
        return Rule.SUSPENDED if before is None else Rule.ANYTIME
    return Rule.SUSPENDED if label in (QUEUE_LABEL, MAX_EXEC_LABEL) else Rule.ANYTIME


def needs_new_run(kind: str, path: Path) -> bool:
    """Whether the API accepts a change of a field that only a new run picks up. Our ConfigMaps hold hostfiles and entry
    points, which pods read at startup. `trainform.dev/rerun` asks to run an unchanged job again, and a finished JobSet
    does not restart."""
    if kind == "ConfigMap":
        return path[0] in ("data", "binaryData")
    return kind == "JobSet" and path == RERUN_PATH


def class_of(rules: Iterable[Rule], *, suspended: bool) -> Change:
    """A job's change, from the rules of its changed fields; `suspended` before or after the update."""
    gravest = max(rules, default=Rule.ANYTIME)
    if gravest == Rule.NEVER:
        return "restart"
    return "needs-suspend" if gravest == Rule.SUSPENDED and not suspended else "in-place"


def is_suspended(jobset: Tree) -> bool:
    """Whether a rendered JobSet is certainly suspended. With a queue, Kueue decides that regardless of git."""
    labels = labels_of(jobset)
    return table(jobset, "spec").get("suspend") is True and QUEUE_LABEL not in labels
