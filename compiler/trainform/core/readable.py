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
    return {
        **tree,
        "spec": {**spec, "replicatedJobs": [_job(job) for job in spec.get("replicatedJobs") or ()]},
    }


def _job(job: Tree) -> Tree:
    template = job["template"]
    pod = template["spec"]["template"]
    pod_spec = dict(pod["spec"])
    for kind in ("initContainers", "containers"):
        if pod_spec.get(kind):
            pod_spec[kind] = [_first(CONTAINER, container) for container in pod_spec[kind]]
    job_spec = {**template["spec"], "template": {**_metadata_first(pod), "spec": pod_spec}}
    return _first(
        REPLICATED_JOB,
        {**job, "template": {**_metadata_first(template), "spec": _first(JOB, job_spec)}},
    )


def _first(head: tuple[str, ...], tree: Tree) -> Tree:
    return {key: tree[key] for key in head if key in tree} | tree


def _metadata_first(tree: Tree) -> Tree:
    """Metadata before the spec; none where it is empty."""
    rest = {key: value for key, value in tree.items() if key != "metadata"}
    return {"metadata": tree["metadata"], **rest} if tree.get("metadata") else rest
