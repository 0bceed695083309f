"""The order in which a JobSet is written: what a reviewer looks for first comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainform.k8s.tree import Tree

REPLICATED_JOB = ("name", "groupName", "replicas", "dependsOn")
JOB = ("parallelism", "completions", "completionMode", "backoffLimit", "activeDeadlineSeconds")
CONTAINER = ("name", "image", "command", "args", "env", "envFrom", "ports", "resources")


def readable(tree: Tree) -> Tree:
    """A JobSet with its counts and commands in front, and without empty metadata, which the API
    server would not tell from none. Other objects stay as they are; nothing given is changed."""
    if tree["kind"] != "JobSet":
        return tree
    spec = tree["spec"]
    return {**tree, "spec": {**spec, "replicatedJobs": list(map(_job, spec.get("replicatedJobs") or ()))}}


def _job(job: Tree) -> Tree:
    template = job["template"]
    pod = template["spec"]["template"]
    pod_spec = dict(pod["spec"])
    for kind in ("initContainers", "containers"):
        if pod_spec.get(kind):
            pod_spec[kind] = [_first(CONTAINER, container) for container in pod_spec[kind]]
    job_spec = _first(JOB, template["spec"])
    job_spec["template"] = _with_spec(pod, pod_spec)
    first = _first(REPLICATED_JOB, job)
    first["template"] = _with_spec(template, job_spec)
    return first


def _first(head: tuple[str, ...], tree: Tree) -> Tree:
    """A copy with the keys of `head` in front."""
    return {key: tree[key] for key in head if key in tree} | tree


def _with_spec(template: Tree, spec: Tree) -> Tree:
    """A copy of a template with this spec: metadata before it, and none where it is empty."""
    metadata = template.get("metadata")
    copy = {"metadata": metadata} | template if metadata else template.copy()
    if not metadata:
        copy.pop("metadata", None)
    copy["spec"] = spec
    return copy
