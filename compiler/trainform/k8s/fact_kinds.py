"""The kinds of cluster facts, which an Environment declares to describe its cluster."""

from __future__ import annotations

_KUEUE = ("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
_KUEUE_FROM_ALPHA = (*_KUEUE, "kueue.x-k8s.io/v1alpha1")

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
}
"""API versions of each kind, all in one group, newest first."""

NAMESPACED_FACTS = frozenset(("LimitRange", "LocalQueue", "ResourceClaimTemplate", "ResourceQuota"))
CLUSTER_WIDE_FACTS = frozenset(FACT_VERSIONS.keys() - NAMESPACED_FACTS)
"""Kinds without a namespace."""

NEVER_RENDERED = frozenset(("Configuration", "Node", "NodePool", "ResourceQuota", "StorageClass"))
"""Kinds on which no rendered object depends, so no job falls behind when they change."""
