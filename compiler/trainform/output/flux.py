"""The Flux bootstrap: a Kustomization per namespace below one root, with health checks and ignore rules. One for a
whole environment would be slow: kustomize takes four times as long for twice as many objects. Field names are those of
`kustomize.toolkit.fluxcd.io/v1`: `healthCheckExprs` and `deletionPolicy` need Flux 2.5, `ignore` Flux 2.9
(kustomize-controller 1.9). docs/gitops.md explains each setting."""

from __future__ import annotations

from hashlib import sha256

from trainform.k8s.tree import Tree
from trainform.output.emitter import emit
from trainform.output.kustomization import kustomization_text

NAMESPACE = "flux-system"
SOURCE = "flux-system"
"""The name that `flux bootstrap` gives this repository's GitRepository."""

_SUSPENDED = "has(spec.suspend) && spec.suspend"

HEALTH_CHECKS: list[dict[str, str]] = [
    {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "failed": f"!({_SUSPENDED}) && has(status.conditions)"
        " && status.conditions.exists(c, c.type == 'Failed' && c.status == 'True')",
        "current": f"({_SUSPENDED}) || has(status.conditions) || has(status.replicatedJobsStatus)",
    },
    {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "current": "true",
    },
    {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "current": "true",
    },
    {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Workload",
        "failed": "has(status.conditions) && status.conditions.exists(c, c.type == 'Finished' && c.status == 'True'"
        " && c.reason in ['Failed', 'AdmissionChecksRejected'])",
        "current": "has(status.conditions)"
        " && status.conditions.exists(c, c.type in ['Admitted', 'Finished'] && c.status == 'True')",
    },
]
"""CEL for when an object is ready (`current`) or lost (`failed`); otherwise, or without a status, it is in progress.

Flux applies the next commit once everything is ready or `timeout` has passed, so a JobSet is ready as soon as its
controller has seen it, or while it waits in a queue. A PodGroup is always ready: the JobSet alone says how its job
does, as coscheduling keeps a gang `Failed` for ever once one of its pods failed, even if it recovers.

`failed` comes before `current`. An expression on an absent `status` is an error, which counts as in progress, but
`false && error` is false, so a suspended JobSet needs no status.
Only the group of `apiVersion` counts.
"""

REPLICATED_JOBS = 4
"""Replicated jobs that the ignore rules cover, since JSON pointers have no wildcards. Our runtimes have up to three."""

_POD_FIELDS = (
    "metadata/labels",
    "metadata/annotations",
    "spec/nodeSelector",
    "spec/tolerations",
    "spec/schedulingGates",
)

KUEUE_CHANGES = [
    "/spec/suspend",
    *(
        f"/spec/replicatedJobs/{index}/template/spec/template/{field}"
        for index in range(REPLICATED_JOBS)
        for field in _POD_FIELDS
    ),
]
"""What Kueue changes in a JobSet, as JSON pointers."""

_QUEUED = {"group": "jobset.x-k8s.io", "kind": "JobSet", "labelSelector": "kueue.x-k8s.io/queue-name"}
"""The JobSets that Kueue manages. In any other one git decides: an ignored field would never be applied."""

_CREATE_ONLY = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "any", "annotations": {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}},
}


FOLDER = "_flux"
"""The folder in `rendered/` with a Kustomization for each namespace. No environment has this name."""

_LABEL = 63


def files(environment: str, prefix: str = "") -> dict[str, str]:
    """The bootstrap's texts by their names in `gitops/flux/`; `prefix` leads from the top of the git repository to the
    folder of `trainform.yaml`."""
    return {
        "kustomization.yaml": kustomization_text([f"trainform-{environment}.yaml"]),
        f"trainform-{environment}.yaml": _HEAD + emit(root(environment, prefix)),
    }


def root(environment: str, prefix: str = "") -> Tree:
    """The Kustomization that applies one Kustomization for each namespace of an environment, with everything that a
    user may want to change as a patch of them all."""
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": f"trainform-{environment}-namespaces", "namespace": NAMESPACE},
        "spec": {
            "interval": "10m",
            "retryInterval": "2m",
            "timeout": "5m",
            "sourceRef": {"kind": "GitRepository", "name": SOURCE},
            "path": f"./{prefix}rendered/{FOLDER}/{environment}",
            "prune": True,
            "deletionPolicy": "Orphan",
            "patches": [{"target": {"kind": "Kustomization"}, "patch": emit(settings())}],
        },
    }


def settings() -> Tree:
    """What the Kustomizations of all namespaces have in common, as a strategic merge patch."""
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": "all"},
        "spec": {
            "interval": "10m",
            "retryInterval": "2m",
            "timeout": "5m",
            "sourceRef": {"kind": "GitRepository", "name": SOURCE},
            "wait": True,
            "healthCheckExprs": HEALTH_CHECKS,
            "ignore": [{"paths": KUEUE_CHANGES, "target": _QUEUED}],
            "patches": [create_only()],
        },
    }


def namespace_file(rendered: str, environment: str, namespace: str) -> bytes:
    """The Kustomization of one namespace, with what Flux needs to prune safely: `settings` adds the rest. `rendered` is
    the folder of manifests from the top of the git repository. Nothing else depends on anything but names, so that
    branches never disagree about it."""
    tree = {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": _name(environment, namespace), "namespace": NAMESPACE},
        "spec": {
            "interval": "10m",
            "sourceRef": {"kind": "GitRepository", "name": SOURCE},
            "path": f"./{rendered}/{environment}/{namespace}",
            "prune": True,
            "deletionPolicy": "Orphan",
        },
    }
    return _NAMESPACE_HEAD + emit(tree).encode()


def _name(environment: str, namespace: str) -> str:
    """`prod.ml`: unlike with a dash, no two pairs have the same. Flux also writes it into a label, which may have 63
    characters."""
    name = f"{environment}.{namespace}"
    if len(name) <= _LABEL:
        return name
    digest = sha256(name.encode()).hexdigest()[:10]
    return f"{name[: _LABEL - len(digest) - 1].rstrip('.-')}-{digest}"


def create_only() -> Tree:
    """A patch that makes Flux create the JobSets of a Kueue queue and then leave them alone until they are pruned. The
    API server refuses to restore git's nodeSelector and tolerations on a running JobSet. Flux asks in a dry run, before
    its ignore rules apply (kustomize-controller#1739), and one refusal stops the whole environment."""
    return {"target": _QUEUED, "patch": emit(_CREATE_ONLY)}


_NAMESPACE_HEAD = b"# Written by trainform: change the patch in gitops/flux instead.\n"

_HEAD = """\
# Applies a Kustomization for each namespace of this environment; `trainform render` writes them to rendered/_flux/.
# What they have in common stands below, in the patch: change it there. sourceRef names the GitRepository that holds
# this repository, here and in the patch; `flux bootstrap` calls it flux-system.
#
# - Deleting this Kustomization, or one of a namespace, leaves the jobs running; removing a job from git ends it.
# - `ignore` needs Flux 2.9, everything else Flux 2.5: on an older Flux remove that block. Its paths reach four
#   replicated jobs per JobSet.
# - JobSets with a Kueue queue are created and then left alone. To run a changed job under stable naming, delete its
#   JobSet, and its PodGroup if it has one: Flux makes the new ones.
# - Where another Kustomization installs JobSet and the schedulers, name it in the patch:
#   dependsOn: [{name: infrastructure}].
# - With secrets.mode sops, add decryption: {provider: sops, secretRef: {name: sops-age}} to the patch.
"""
