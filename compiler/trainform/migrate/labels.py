"""Labels that the operators set on pods, where pod templates ask for them: in selectors and field references."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainform.diagnostics import Path
    from trainform.k8s.tree import Tree
    from trainform.migrate.old import OldJob

PREFIX = "training.kubeflow.org/"
JOB_NAME = f"{PREFIX}job-name"
JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
"""What JobSet sets in place of `JOB_NAME`; the value is the same."""

WITHOUT_SUCCESSOR = tuple(PREFIX + each for each in ("replica-type", "replica-index", "job-role", "operator-name"))
"""Source: kubeflow/training-operator `pkg/apis/kubeflow.org/v1/common_types.go`."""

_FIELD = re.compile(r"metadata\.labels\['([^']+)'\]")


def with_labels(job: OldJob, template: Tree, path: Path) -> Tree:
    """A pod template, at `path`, in which JobSet's label of the job's name stands for the operator's. Tells this, and
    labels that no pod has any more."""
    return {**template, "spec": _walk(job, template.get("spec"), (*path, "spec"))}


def _walk(job: OldJob, value: Any, path: Path) -> Any:
    if isinstance(value, list):
        return [_walk(job, each, (*path, index)) for index, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    new = {key: _walk(job, each, (*path, key)) for key, each in value.items()}
    if path[-1] == "matchLabels":
        return {_label(job, key, (*path, key)): each for key, each in new.items()}
    if "matchExpressions" in path and isinstance(new.get("key"), str):
        new["key"] = _label(job, new["key"], (*path, "key"))
    if isinstance(field := new.get("fieldPath"), str) and (found := _FIELD.fullmatch(field)):
        new["fieldPath"] = field.replace(found[1], _label(job, found[1], (*path, "fieldPath")))
    return new


def _label(job: OldJob, name: str, path: Path) -> str:
    """The label's name now."""
    if name == JOB_NAME:
        job.tell("TF868", path, f"{name} is {JOBSET_NAME} now", "the migrated job has the new label", "info")
        return JOBSET_NAME
    if name in WITHOUT_SUCCESSOR:
        message = f"pods have no label {name} any more: nothing sets it"
        hint = "use labels of JobSet (jobset.sigs.k8s.io/replicatedjob-name), the pod's index "
        hint += "(batch.kubernetes.io/job-completion-index), or labels of your own in the pod template"
        job.tell("TF868", path, message, hint)
    return name
