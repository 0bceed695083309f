"""Kinds of objects that belong to no namespace."""

from __future__ import annotations

from trainform.k8s.tree import Tree, text

CLUSTER_WIDE: dict[str, frozenset[str]] = {
    "": frozenset({"Namespace", "Node", "PersistentVolume"}),
    "admissionregistration.k8s.io": frozenset({
        "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
    }),
    "apiextensions.k8s.io": frozenset({"CustomResourceDefinition"}),
    "apiregistration.k8s.io": frozenset({"APIService"}),
    "certificates.k8s.io": frozenset({"CertificateSigningRequest", "ClusterTrustBundle"}),
    "flowcontrol.apiserver.k8s.io": frozenset({"FlowSchema", "PriorityLevelConfiguration"}),
    "networking.k8s.io": frozenset({"IngressClass", "IPAddress", "ServiceCIDR"}),
    "node.k8s.io": frozenset({"RuntimeClass"}),
    "rbac.authorization.k8s.io": frozenset({"ClusterRole", "ClusterRoleBinding"}),
    "resource.k8s.io": frozenset({"DeviceClass", "DeviceTaintRule", "ResourceSlice"}),
    "scheduling.k8s.io": frozenset({"PriorityClass"}),
    "storage.k8s.io": frozenset({
        "CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass",
    }),
    "kueue.x-k8s.io": frozenset({
        "AdmissionCheck", "ClusterQueue", "Cohort", "MultiKueueCluster", "MultiKueueConfig",
        "ProvisioningRequestConfig", "ResourceFlavor", "Topology", "WorkloadPriorityClass",
    }),
    "scheduling.volcano.sh": frozenset({"Queue"}),
    "scheduling.run.ai": frozenset({"Queue"}),
    "trainer.kubeflow.org": frozenset({"ClusterTrainingRuntime"}),
    "external-secrets.io": frozenset({"ClusterExternalSecret", "ClusterSecretStore"}),
    "cert-manager.io": frozenset({"ClusterIssuer"}),
}  # fmt: skip
"""By API group: the kinds of Kubernetes 1.36 and of the projects that trainform knows. Source: `kubectl api-resources
--namespaced=false`, and the CRDs with `scope: Cluster`."""


def is_cluster_wide(tree: Tree) -> bool:
    """Whether an object is of a kind known to have no namespace."""
    group, _, _ = text(tree, "apiVersion").rpartition("/")
    return text(tree, "kind") in CLUSTER_WIDE.get(group, ())
