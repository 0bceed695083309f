"""The kinds of cluster facts, which an Environment declares to describe its cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainform.k8s.tree import Tree

_KUEUE = ("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
_KUEUE_FROM_ALPHA = (*_KUEUE, "kueue.x-k8s.io/v1alpha1")

KAI_QUEUE = "Queue.scheduling.run.ai"
KAI_TOPOLOGY = "Topology.kai.scheduler"
"""Kinds of KAI that share their name with one of Volcano and one of Kueue."""

FACT_VERSIONS: dict[str, tuple[str, ...]] = {
    "Namespace": ("v1",),
    "LimitRange": ("v1",),
    "PriorityClass": ("scheduling.k8s.io/v1",),
    "RuntimeClass": ("node.k8s.io/v1",),
    "ResourceClaimTemplate": ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"),
    "Node": ("v1",),
    "NodePool": ("trainform.dev/v1alpha1",),
    "ResourceQuota": ("v1",),
    "StorageClass": ("storage.k8s.io/v1",),
    "WorkloadPriorityClass": _KUEUE,
    "ClusterQueue": _KUEUE,
    "Cohort": _KUEUE_FROM_ALPHA,
    "LocalQueue": _KUEUE,
    "ResourceFlavor": _KUEUE,
    "Topology": _KUEUE_FROM_ALPHA,
    "Configuration": ("config.kueue.x-k8s.io/v1beta2", "config.kueue.x-k8s.io/v1beta1"),
    "Queue": ("scheduling.volcano.sh/v1beta1",),
    "HyperNode": ("topology.volcano.sh/v1alpha1",),
    KAI_QUEUE: ("scheduling.run.ai/v2",),
    KAI_TOPOLOGY: ("kai.scheduler/v1alpha1",),
}
"""API versions of each kind, all in one group, newest first. A kind of a second group carries its group, as for
kubectl."""

NAMESPACED_FACTS = frozenset(("LimitRange", "LocalQueue", "ResourceClaimTemplate", "ResourceQuota"))
CLUSTER_WIDE_FACTS = frozenset(FACT_VERSIONS.keys() - NAMESPACED_FACTS)
"""Kinds without a namespace."""

NEVER_RENDERED = frozenset(
    (
        "Configuration",
        "HyperNode",
        "Node",
        "NodePool",
        KAI_QUEUE,
        "ResourceQuota",
        "StorageClass",
        KAI_TOPOLOGY,
    )
)
"""Kinds on which no rendered object depends, so no job falls behind when they change."""


def fact_kind(tree: Tree) -> str:
    """The kind of a document as `FACT_VERSIONS` has it; of one that is no fact, its own kind, empty without one."""
    kind, group = str(tree.get("kind") or ""), str(tree.get("apiVersion")).rpartition("/")[0]
    qualified = f"{kind}.{group}"
    return qualified if qualified in FACT_VERSIONS else kind
