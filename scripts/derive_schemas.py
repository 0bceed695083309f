"""Derives two files of compiler/trainform/k8s/schema from the models of `kubeflow-trainer-api`: kubernetes.json, and
descriptions.json, which only editors need.

    python scripts/derive_schemas.py

Those models carry the field names, types and required fields of core/v1, batch/v1, JobSet and Trainer at the
Kubernetes version that the Trainer and JobSet CRDs embed (a newer `kubernetes` client knows fields that both
CRDs would drop). What the models do not carry stands in the tables below.
"""

from __future__ import annotations

import inspect
import json
import re
import typing
from pathlib import Path
from typing import Any

import kubeflow_trainer_api.models as models
from pydantic import BaseModel

Schema = dict[str, Any]

FOLDER = Path(__file__).parent.parent / "compiler/trainform/k8s/schema"

ROOTS = (
    "JobsetV1alpha2JobSet",
    "TrainerV1alpha1TrainJob",
    "TrainerV1alpha1TrainingRuntime",
    "TrainerV1alpha1ClusterTrainingRuntime",
    "IoK8sApiCoreV1ConfigMap",
)

PREFIXES = (
    "IoK8sApiBatchV1",
    "IoK8sApiCoreV1",
    "IoK8sApimachineryPkgApiResource",
    "IoK8sApimachineryPkgApisMetaV1",
    "IoK8sApimachineryPkgUtilIntstr",
    "JobsetV1alpha2",
    "SchedulingV1beta1",
    "TrainerV1alpha1",
)
RENAMED = {"IoK8sApiBatchV1SuccessPolicy": "batch SuccessPolicy"}

# Status is written by servers only; its shape is nobody's business here.
STATUS_IS_OPEN = ("JobSet", "TrainJob", "PersistentVolumeClaim")
ROOT_NAMES = {"JobSet", "TrainJob", "TrainingRuntime", "ClusterTrainingRuntime", "ConfigMap"}

# Facts that the models do not carry. Names are `Type.field` as the API spells them. Read off the Go types and
# CRDs of Kubernetes 1.36, JobSet v0.12, Trainer v2.3, scheduler-plugins v0.35 and Volcano v1.13.

INT32: Schema = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
INT64: Schema = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}
STRING: Schema = {"type": "string"}
STRINGS: Schema = {"type": "array", "items": STRING}
OPEN: Schema = {"type": "object"}
EMPTY: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
QUANTITY: Schema = {
    # Narrower than upstream's pattern, which takes exponents that no reader of quantities takes: 1e1.5, 1e999.
    "type": ["integer", "string"],
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?0{0,6}(1?[0-9]{1,2}|200)))?$",
    "maxLength": 200,
}
QUANTITIES: Schema = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Quantity"}}

HAND_WRITTEN: dict[str, Schema] = {
    "Quantity": QUANTITY,
    "IntOrString": {"type": ["integer", "string"]},
    # Metadata of an object inside another object: a CRD keeps only these fields.
    "EmbeddedObjectMeta": {
        "annotations": {"type": "object", "additionalProperties": STRING},
        "finalizers": STRINGS,
        "labels": {"type": "object", "additionalProperties": STRING},
        "name": {**STRING, "x-go-omitempty": True},
        "namespace": {**STRING, "x-go-omitempty": True},
    },
    "coscheduling PodGroup": {"spec": {"$ref": "#/$defs/coscheduling%20PodGroupSpec"}},
    "coscheduling PodGroupSpec": {
        "minMember": {**INT32, "minimum": 1},
        "minResources": QUANTITIES,
        "scheduleTimeoutSeconds": INT32,
    },
    "volcano PodGroup": {"spec": {"$ref": "#/$defs/volcano%20PodGroupSpec"}},
    "volcano PodGroupSpec": {
        "minMember": {**INT32, "minimum": 0},
        "minTaskMember": {"type": "object", "additionalProperties": INT32},
        "queue": STRING,
        "priorityClassName": STRING,
        "minResources": QUANTITIES,
        "networkTopology": {"$ref": "#/$defs/NetworkTopologySpec"},
    },
}

# Cluster facts: objects that describe a cluster, as far as the compiler reads them. What it never reads is ANYTHING.
ANYTHING: Schema = {}
NAME: Schema = {"type": "string", "minLength": 1}
# In the maps of facts, a null is a mistake, not an absent entry.
LABELS: Schema = {"type": "object", "additionalProperties": STRING, "x-refuses-null": True}
AMOUNT: Schema = {
    **QUANTITY,
    "minimum": 0,
    "maximum": 2**63 - 1,
    "pattern": QUANTITY["pattern"].replace(r"(\+|-)?", r"\+?", 1),
}
AMOUNT_REF: Schema = {"$ref": "#/$defs/Amount"}
AMOUNTS: Schema = {"type": "object", "additionalProperties": AMOUNT_REF, "x-refuses-null": True}
STOP_POLICY: Schema = {"type": "string", "enum": ["None", "Hold", "HoldAndDrain"]}


def closed(*required: str, **properties: Schema) -> Schema:
    """An object with these fields and no others."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def entries(schema: Schema, **keywords: Any) -> Schema:
    return {"type": "array", "items": schema, **keywords}


def fact(*required: str, **properties: Schema) -> Schema:
    """A kind of cluster fact, with its own fields beside the head of every object."""
    head = {"apiVersion": NAME, "kind": NAME, "metadata": {"$ref": "#/$defs/FactMetadata"}, "status": ANYTHING}
    return closed("metadata", *required, **(head | properties))


LABEL_SELECTOR = closed(
    matchLabels=LABELS,
    matchExpressions=entries(
        closed(
            "key",
            "operator",
            key=NAME,
            operator={"type": "string", "enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
            values=entries(STRING),
        )
    ),
)
EFFECT: Schema = {"type": "string", "enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"]}
TOLERATIONS = entries(
    closed(
        key=STRING,
        operator={"type": "string", "enum": ["Equal", "Exists"]},
        value=STRING,
        effect=EFFECT,
        tolerationSeconds={"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    )
)
TAINT = closed("key", "effect", key=NAME, value=STRING, effect=EFFECT, timeAdded=ANYTHING)
LIMIT_RANGE_ITEM = closed(
    "type",
    type={"type": "string", "enum": ["Container", "Pod", "PersistentVolumeClaim"]},
    **dict.fromkeys(("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"), AMOUNTS),
)
RESOURCE_QUOTA = closed(
    "name",
    "nominalQuota",
    name=NAME,
    nominalQuota=AMOUNT_REF,
    borrowingLimit=AMOUNT_REF,
    lendingLimit=AMOUNT_REF,
)
FLAVOR_QUOTAS = closed(
    "name",
    "resources",
    name=NAME,
    resources=entries(RESOURCE_QUOTA, minItems=1, maxItems=64, **{"x-kubernetes-list-map-keys": ["name"]}),
)
RESOURCE_GROUP = closed(
    "coveredResources",
    "flavors",
    coveredResources=entries(NAME, minItems=1, maxItems=64),
    flavors=entries(FLAVOR_QUOTAS, minItems=1, maxItems=64, **{"x-kubernetes-list-map-keys": ["name"]}),
)
RESOURCE_GROUPS = entries({"$ref": "#/$defs/ResourceGroup"}, maxItems=16)
ADMISSION_CHECKS = closed(admissionChecks=entries(closed("name", name=NAME, onFlavors=entries(NAME))))
LEVELS = entries(
    closed("nodeLabel", nodeLabel=NAME), minItems=1, maxItems=16, **{"x-kubernetes-list-map-keys": ["nodeLabel"]}
)

# The number of devices in a request, of every version of the API: in `exactly` since v1beta2.
DEVICE_COUNT: dict[str, Schema] = {
    "count": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
    "allocationMode": {"type": "string", "enum": ["ExactCount", "All"]},
}
DEVICE_REQUEST: Schema = {
    "type": "object",
    "properties": {**DEVICE_COUNT, "exactly": {"type": "object", "properties": DEVICE_COUNT}},
}
DEVICES: Schema = {"type": "object", "properties": {"requests": entries(DEVICE_REQUEST)}}
CLAIM: Schema = {"type": "object", "properties": {"devices": DEVICES}}

FACT_KINDS: dict[str, Schema] = {
    "Amount": AMOUNT,
    # An object pulled from a cluster has a lot more in its metadata.
    "FactMetadata": {
        "type": "object",
        "properties": {"name": NAME, "namespace": NAME, "labels": LABELS},
        "required": ["name"],
    },
    "ResourceGroup": RESOURCE_GROUP,
    # Kubernetes
    "Namespace": fact(spec=ANYTHING),
    "LimitRange": fact("spec", spec=closed("limits", limits=entries(LIMIT_RANGE_ITEM))),
    "PriorityClass": fact(
        "value",
        value=INT32,
        description=STRING,
        globalDefault={"type": "boolean"},
        preemptionPolicy={"type": "string", "enum": ["PreemptLowerPriority", "Never"]},
    ),
    "RuntimeClass": fact(
        "handler",
        handler=NAME,
        overhead=closed(podFixed=AMOUNTS),
        scheduling=closed(nodeSelector=LABELS, tolerations=TOLERATIONS),
    ),
    "ResourceClaimTemplate": fact("spec", spec=closed("spec", metadata=ANYTHING, spec=CLAIM)),
    # An object pulled from a cluster says far more of a node than is read here.
    "Node": fact(
        spec={
            "type": "object",
            "properties": {"taints": entries(TAINT), "unschedulable": {"type": "boolean"}},
        },
        status={
            "type": "object",
            "properties": {
                "allocatable": AMOUNTS,
                "capacity": AMOUNTS,
                "conditions": entries(
                    {"type": "object", "properties": {"type": STRING, "status": STRING}, "required": ["type", "status"]}
                ),
            },
        },
    ),
    "ResourceQuota": fact(
        spec=closed(
            hard=AMOUNTS,
            scopes=entries(STRING),
            scopeSelector=closed(
                matchExpressions=entries(
                    closed(
                        "scopeName",
                        "operator",
                        scopeName=STRING,
                        operator={"type": "string", "enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
                        values=entries(STRING),
                    )
                )
            ),
        )
    ),
    "StorageClass": fact(
        provisioner=STRING,
        **dict.fromkeys(("allowVolumeExpansion", "allowedTopologies", "mountOptions", "parameters"), ANYTHING),
        **dict.fromkeys(("reclaimPolicy", "volumeBindingMode"), STRING),
    ),
    # Ours: nodes that are all alike
    "NodePool": fact(
        "spec",
        spec=closed(
            "count",
            "allocatable",
            count={"type": "integer", "minimum": 0, "maximum": 100_000},
            labels=LABELS,
            taints=entries(TAINT),
            allocatable=AMOUNTS,
        ),
    ),
    # Kueue
    "WorkloadPriorityClass": fact("value", value=INT32, description=STRING),
    "ClusterQueue": fact(
        spec=closed(
            resourceGroups=RESOURCE_GROUPS,
            cohort=STRING,
            cohortName=STRING,
            queueingStrategy={"type": "string", "enum": ["StrictFIFO", "BestEffortFIFO"]},
            namespaceSelector=LABEL_SELECTOR,
            stopPolicy=STOP_POLICY,
            admissionChecks=entries(NAME),
            admissionChecksStrategy=ADMISSION_CHECKS,
            flavorFungibility=ANYTHING,
            preemption=ANYTHING,
            fairSharing=ANYTHING,
            admissionScope=ANYTHING,
            concurrentAdmissionPolicy=ANYTHING,
        )
    ),
    "Cohort": fact(spec=closed(parent=STRING, parentName=STRING, resourceGroups=RESOURCE_GROUPS, fairSharing=ANYTHING)),
    "LocalQueue": fact(
        "spec",
        spec=closed(
            "clusterQueue", clusterQueue=NAME, stopPolicy=STOP_POLICY, fairSharing=ANYTHING, wallTimePolicy=ANYTHING
        ),
    ),
    "ResourceFlavor": fact(
        spec=closed(
            nodeLabels=LABELS,
            nodeTaints=entries(TAINT, maxItems=8),
            tolerations={**TOLERATIONS, "maxItems": 8},
            topologyName=NAME,
            resourceWeights=ANYTHING,
        )
    ),
    "Topology": fact("spec", spec=closed("levels", levels=LEVELS)),
    # Kueue's own configuration has no metadata; as a fact it needs a name. Most of its fields are not read.
    "Configuration": {
        "type": "object",
        "properties": {
            "metadata": {"$ref": "#/$defs/FactMetadata"},
            "resources": {
                "type": "object",
                "properties": {
                    "excludeResourcePrefixes": entries(NAME),
                    "transformations": entries(
                        closed(
                            "input",
                            input=NAME,
                            strategy={"type": "string", "enum": ["Retain", "Replace"]},
                            outputs=AMOUNTS,
                            multiplyBy=NAME,
                        )
                    ),
                    "quotaCheckStrategy": {"type": "string", "enum": ["BlockUndeclared", "IgnoreUndeclared"]},
                },
            },
            "waitForPodsReady": {"type": "object", "properties": {"enable": {"type": "boolean"}, "timeout": STRING}},
            "managedJobsNamespaceSelector": LABEL_SELECTOR,
            "manageJobsWithoutQueueName": {"type": "boolean"},
        },
        "required": ["metadata"],
    },
    # Volcano
    "Queue": fact(
        spec=closed(
            weight={"type": "integer", "minimum": 1, "maximum": 65535},
            capability=AMOUNTS,
            deserved=AMOUNTS,
            guarantee=closed(resource=AMOUNTS),
            reclaimable={"type": "boolean"},
            parent=STRING,
            priority={**INT32, "minimum": 0},
            affinity=ANYTHING,
            extendClusters=ANYTHING,
            dequeueStrategy=ANYTHING,
            type=ANYTHING,
        )
    ),
    "HyperNode": fact("spec", spec=closed("tier", tier={**INT32, "minimum": 0}, tierName=STRING, members=ANYTHING)),
    # KAI
    "Queue.scheduling.run.ai": fact(
        spec=closed(
            parentQueue=STRING,
            **dict.fromkeys(
                ("displayName", "preemptMinRuntime", "priority", "reclaimMinRuntime", "resources"), ANYTHING
            ),
        )
    ),
    "Topology.kai.scheduler": fact("spec", spec=closed("levels", levels=LEVELS)),
}

INT64_FIELDS = {
    "activeDeadlineSeconds",
    "deletionGracePeriodSeconds",
    "expirationSeconds",
    "fsGroup",
    "generation",
    "jobIndex",
    "highestTierAllowed",
    "podIndex",
    "runAsGroup",
    "runAsUser",
    "seconds",
    "supplementalGroups",
    "terminationGracePeriodSeconds",
    "tolerationSeconds",
}

# The fields that tell the entries of a list apart; none: the entries themselves.
LIST_KEYS: dict[str, list[str]] = {
    "Container.env": ["name"],
    "Container.ports": ["containerPort", "protocol"],
    "Container.volumeDevices": ["devicePath"],
    "Container.volumeMounts": ["mountPath"],
    "ContainerPatch.env": ["name"],
    "ContainerPatch.volumeMounts": ["name"],
    "DatasetInitializer.env": ["name"],
    "EnvInjection.targets": ["jobName"],
    "EnvInjectionTarget.containerNames": [],
    "EphemeralContainer.env": ["name"],
    "EphemeralContainer.ports": ["containerPort", "protocol"],
    "EphemeralContainer.volumeDevices": ["devicePath"],
    "EphemeralContainer.volumeMounts": ["mountPath"],
    "JobSetSpec.replicatedJobs": ["name"],
    "JobSetSpecPatch.replicatedJobs": ["name"],
    "ModelInitializer.env": ["name"],
    "ObjectMeta.ownerReferences": ["uid"],
    "PodFailurePolicyOnExitCodesRequirement.values": [],
    "PodSpec.containers": ["name"],
    "PodSpec.ephemeralContainers": ["name"],
    "PodSpec.hostAliases": ["ip"],
    "PodSpec.imagePullSecrets": ["name"],
    "PodSpec.initContainers": ["name"],
    "PodSpec.resourceClaims": ["name"],
    "PodSpec.schedulingGates": ["name"],
    "PodSpec.topologySpreadConstraints": ["topologyKey", "whenUnsatisfiable"],
    "PodSpec.volumes": ["name"],
    "PodSpecPatch.containers": ["name"],
    "PodSpecPatch.imagePullSecrets": ["name"],
    "PodSpecPatch.initContainers": ["name"],
    "PodSpecPatch.schedulingGates": ["name"],
    "PodSpecPatch.volumes": ["name"],
    "ReplicatedJob.dependsOn": ["name"],
    "ResourceRequirements.claims": ["name"],
    "TrainJobSpec.runtimePatches": ["manager"],
    "Trainer.env": ["name"],
}

NAME_253 = {"minLength": 1, "maxLength": 253}
PORT = {"minimum": 1, "maximum": 65535}
NOT_NEGATIVE = {"minimum": 0}

FACTS: dict[str, Schema] = {
    # What the CRDs of JobSet and Trainer say beyond types.
    "ContainerPatch.env": {"maxItems": 128},
    "ContainerPatch.name": NAME_253,
    "ContainerPatch.volumeMounts": {"maxItems": 128},
    "DatasetInitializer.env": {"maxItems": 128},
    "DatasetInitializer.storageUri": {"maxLength": 2048},
    "DependsOn.status": {"enum": ["Ready", "Complete"]},
    "EnvInjectionTarget.containerNames": {"minItems": 1},
    "EnvInjectionTarget.jobName": {"minLength": 1},
    "FailurePolicy.restartStrategy": {"enum": ["Recreate", "BlockingRecreate", "InPlaceRestart"]},
    "FailurePolicyRule.action": {
        "enum": [
            "FailJobSet",
            "RestartJobSet",
            "RestartJobSetAndIgnoreMaxRestarts",
            "RestartJob",
            "RestartJobAndIgnoreMaxRestarts",
        ]
    },
    "JobSetSpec.ttlSecondsAfterFinished": NOT_NEGATIVE,
    "JobSetSpec.volumeClaimPolicies": {"maxItems": 50},
    "JobSetSpecPatch.replicatedJobs": {"maxItems": 100},
    "JobSetTemplateSpec": {"minProperties": 1},
    "MPIMLPolicySource.mpiImplementation": {"enum": ["OpenMPI", ""]},
    "ModelInitializer.env": {"maxItems": 128},
    "ModelInitializer.storageUri": {"maxLength": 2048},
    "NetworkTopologySpec.mode": {"enum": ["hard", "soft"]},
    "PodSpecPatch.containers": {"maxItems": 64},
    "PodSpecPatch.imagePullSecrets": {"maxItems": 64},
    "PodSpecPatch.initContainers": {"maxItems": 64},
    "PodSpecPatch.schedulingGates": {"maxItems": 16},
    "PodSpecPatch.serviceAccountName": {"maxLength": 253},
    "PodSpecPatch.tolerations": {"maxItems": 128},
    "PodSpecPatch.volumes": {"maxItems": 128},
    "ReplicatedJob.dependsOn": {"maxItems": 5},
    "ReplicatedJobPatch.name": {**NAME_253, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
    "RuntimePatch.manager": NAME_253,
    "RuntimeRef.apiGroup": {"maxLength": 253},
    "RuntimeRef.kind": {"maxLength": 253},
    "RuntimeRef.name": NAME_253,
    "StartupPolicy.startupPolicyOrder": {"enum": ["AnyOrder", "InOrder"]},
    "SuccessPolicy.operator": {"enum": ["All", "Any"]},
    "TrainJobSpec.activeDeadlineSeconds": {"minimum": 1},
    "TrainJobSpec.managedBy": {"maxLength": 253},
    "TrainJobSpec.runtimePatches": {"maxItems": 16},
    "Trainer.args": {"maxItems": 128},
    "Trainer.command": {"maxItems": 128},
    "Trainer.env": {"maxItems": 128},
    "Trainer.image": {"maxLength": 500},
    "Trainer.numNodes": NOT_NEGATIVE,
    "TrainingRuntimeSpec": {"minProperties": 1},
    "VolumeClaimPolicy.templates": {"maxItems": 50},
    "VolumeRetentionPolicy.whenDeleted": {"enum": ["Delete", "Retain"]},
    # What the API server says once JobSet creates the Jobs: too late for an author, so it is said here.
    "Container.restartPolicy": {"enum": ["Always", "Never", "OnFailure", ""]},
    "ContainerPort.containerPort": PORT,
    "JobSpec.backoffLimit": NOT_NEGATIVE,
    "JobSpec.completions": NOT_NEGATIVE,
    "JobSpec.parallelism": NOT_NEGATIVE,
    "LabelSelectorRequirement.operator": {"enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
    "PodSpec.terminationGracePeriodSeconds": NOT_NEGATIVE,
}

DEFAULTS: dict[str, Any] = {
    # What the CRDs fill in where the field is absent and its parent is not. Names that default to the empty
    # string are left out: Go drops them again.
    "AzureDiskVolumeSource.cachingMode": "ReadWrite",
    "AzureDiskVolumeSource.fsType": "ext4",
    "AzureDiskVolumeSource.kind": "Shared",
    "AzureDiskVolumeSource.readOnly": False,
    "ContainerPort.protocol": "TCP",
    "CoschedulingPodGroupPolicySource.scheduleTimeoutSeconds": 60,
    "FailurePolicy.restartStrategy": "Recreate",
    "FileKeySelector.optional": False,
    "FluxMLPolicySource.numProcPerNode": 1,
    "GRPCAction.service": "",
    "ISCSIVolumeSource.iscsiInterface": "default",
    "MPIMLPolicySource.mpiImplementation": "OpenMPI",
    "MPIMLPolicySource.numProcPerNode": 1,
    "MPIMLPolicySource.runLauncherAsNode": False,
    "MPIMLPolicySource.sshAuthMountPath": "/root/.ssh",
    "NetworkTopologySpec.mode": "hard",
    "RBDVolumeSource.keyring": "/etc/ceph/keyring",
    "RBDVolumeSource.pool": "rbd",
    "RBDVolumeSource.user": "admin",
    "ReplicatedJob.groupName": "default",
    "ReplicatedJob.replicas": 1,
    "RuntimeRef.apiGroup": "trainer.kubeflow.org",
    "RuntimeRef.kind": "ClusterTrainingRuntime",
    "ScaleIOVolumeSource.fsType": "xfs",
    "ScaleIOVolumeSource.storageMode": "ThinProvisioned",
    "TrainJobSpec.managedBy": "trainer.kubeflow.org/trainjob-controller",
    "TrainJobSpec.suspend": False,
    "VolumeRetentionPolicy.whenDeleted": "Delete",
}

# Optional scalars that are pointers in Go: their zero value is told apart from no value, so it stays.
POINTERS = {
    "AppArmorProfile": "localhostProfile",
    "AzureDiskVolumeSource": "cachingMode fsType kind readOnly",
    "CSIVolumeSource": "fsType readOnly",
    "ClusterTrustBundleProjection": "name optional signerName",
    "ConfigMapEnvSource": "optional",
    "ConfigMapKeySelector": "optional",
    "ConfigMapProjection": "optional",
    "ConfigMapVolumeSource": "defaultMode optional",
    "Container": "restartPolicy",
    "DownwardAPIVolumeFile": "mode",
    "DownwardAPIVolumeSource": "defaultMode",
    "EphemeralContainer": "restartPolicy",
    "FCVolumeSource": "lun",
    "FileKeySelector": "optional",
    "GRPCAction": "service",
    "HostPathVolumeSource": "type",
    "ISCSIVolumeSource": "initiatorName",
    "JobSetSpec": "managedBy suspend ttlSecondsAfterFinished",
    "JobSpec": "activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy "
    "manualSelector maxFailedIndexes parallelism podReplacementPolicy suspend ttlSecondsAfterFinished",
    "KeyToPath": "mode",
    "Lifecycle": "stopSignal",
    "Network": "enableDNSHostnames publishNotReadyAddresses",
    "ObjectMeta": "deletionGracePeriodSeconds",
    "OwnerReference": "blockOwnerDeletion controller",
    "PersistentVolumeClaimSpec": "storageClassName volumeAttributesClassName volumeMode",
    "PodCertificateProjection": "maxExpirationSeconds",
    "PodDNSConfigOption": "value",
    "PodFailurePolicyOnExitCodesRequirement": "containerName",
    "PodResourceClaim": "resourceClaimName resourceClaimTemplateName",
    "PodSchedulingGroup": "podGroupName",
    "PodSecurityContext": "fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy "
    "supplementalGroupsPolicy",
    "PodSpec": "activeDeadlineSeconds automountServiceAccountToken enableServiceLinks hostUsers "
    "hostnameOverride preemptionPolicy priority runtimeClassName setHostnameAsFQDN shareProcessNamespace "
    "terminationGracePeriodSeconds",
    "Probe": "terminationGracePeriodSeconds",
    "ProjectedVolumeSource": "defaultMode",
    "SeccompProfile": "localhostProfile",
    "SecretEnvSource": "optional",
    "SecretKeySelector": "optional",
    "SecretProjection": "optional",
    "SecretVolumeSource": "defaultMode optional",
    "SecurityContext": "allowPrivilegeEscalation privileged procMount readOnlyRootFilesystem runAsGroup "
    "runAsNonRoot runAsUser",
    "ServiceAccountTokenProjection": "expirationSeconds",
    "SuccessPolicyRule": "succeededCount succeededIndexes",
    "Toleration": "tolerationSeconds",
    "TopologySpreadConstraint": "minDomains nodeAffinityPolicy nodeTaintsPolicy",
    "TypedLocalObjectReference": "apiGroup",
    "TypedObjectReference": "apiGroup namespace",
    "VolumeMount": "mountPropagation recursiveReadOnly",
    "VolumeRetentionPolicy": "whenDeleted",
    "WindowsSecurityContextOptions": "gmsaCredentialSpec gmsaCredentialSpecName hostProcess runAsUserName",
}


def short_name(model: type[BaseModel]) -> str:
    """The API's name of a model: `IoK8sApiCoreV1EnvVar` is `EnvVar`."""
    name = model.__name__
    for prefix in PREFIXES:
        if name not in RENAMED and name.startswith(prefix):
            return name.removeprefix(prefix)
    return RENAMED.get(name, name)


def enums_of(model: type[BaseModel]) -> dict[str, list[str]]:
    """The values that the model's validators allow, by the Python name of the field."""
    found = re.findall(r"field_validator\('(\w+)'\).*?set\(\[(.*?)\]\)", inspect.getsource(model), re.S)
    return {field: re.findall(r"'([^']*)'", values) for field, values in found}


class Derivation:
    """Collects the `$defs` reachable from the roots."""

    def __init__(self) -> None:
        self.defs: dict[str, Schema] = {}
        self.texts: dict[str, dict[str, str]] = {}

    def model(self, model: type[BaseModel]) -> Schema:
        name = short_name(model)
        if name not in self.defs and name not in HAND_WRITTEN:
            self.defs[name] = {}
            self.defs[name] = self._object(name, model)
        return {"$ref": "#/$defs/" + name.replace(" ", "%20")}

    def _object(self, name: str, model: type[BaseModel]) -> Schema:
        enums = enums_of(model)
        properties = {}
        required = []
        for field, info in model.model_fields.items():
            key = info.alias or field
            schema = self._property(name, key, info.annotation)
            properties[key] = schema | facts(name, key)
            self.texts.setdefault(name, {})[key] = brief(info.description or "")
            if info.is_required():
                required.append(key)
            elif is_go_value(model, key, schema):
                properties[key]["x-go-omitempty"] = True
            allow(properties[key], enums.get(field, []), optional=not info.is_required())
        closed = {"type": "object", "properties": properties, "additionalProperties": False}
        return closed | ({"required": required} if required else {}) | FACTS.get(name, {})

    def _property(self, owner: str, key: str, annotation: Any) -> Schema:
        if key == "metadata" and owner not in ROOT_NAMES:
            return {"$ref": "#/$defs/EmbeddedObjectMeta"}
        if key == "status" and owner in STATUS_IS_OPEN:
            return OPEN
        return self._type(key, annotation)

    def _type(self, key: str, annotation: Any) -> Schema:
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Union, typing.Annotated):
            return self._type(key, arguments[0])
        if origin is list:
            return {"type": "array", "items": self._type(key, arguments[0])}
        if origin is dict:
            return self._map(key, arguments[1])
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return self.model(annotation)
        if annotation is int:
            return dict(INT64 if key in INT64_FIELDS else INT32)
        return {"type": "boolean"} if annotation is bool else dict(STRING)

    def _map(self, key: str, value: Any) -> Schema:
        if value is Any:
            return OPEN if key == "fieldsV1" else EMPTY
        return {"type": "object", "additionalProperties": self._type(key, value)}


LONGEST_TEXT = 240


def brief(text: str) -> str:
    """The first sentences of a description, as many as an editor shows without scrolling: at least one."""
    first, *others = re.split(r"(?<=[a-z0-9)\]`'\"]\.) +(?=[A-Z])", " ".join(text.split()))
    for each in others:
        if len(first) + len(each) >= LONGEST_TEXT:
            break
        first += f" {each}"
    return first


def facts(owner: str, key: str) -> Schema:
    """What the tables above say about a field."""
    field = f"{owner}.{key}"
    keys = {"x-kubernetes-list-map-keys": LIST_KEYS[field]} if field in LIST_KEYS else {}
    default = {"default": DEFAULTS[field]} if field in DEFAULTS else {}
    return keys | default | FACTS.get(field, {})


def is_go_value(model: type[BaseModel], key: str, schema: Schema) -> bool:
    """Is the optional field a plain value in Go, whose zero vanishes when Go writes it?"""
    is_scalar = schema.get("type") in ("string", "integer", "boolean")
    is_pointer = key in POINTERS.get(short_name(model), "").split()
    return is_scalar and not is_pointer and not model.__name__.startswith("Trainer")


def allow(schema: Schema, values: list[str], *, optional: bool) -> None:
    """Restrict a string, or the entries of a list, to `values`.

    The zero value of an optional Go string is the same as no value.
    """
    if values:
        target = schema["items"] if schema["type"] == "array" else schema
        target["enum"] = [*values, ""] if optional and "" not in values else values


def hand_written(name: str, schema: Schema) -> Schema:
    """A schema of HAND_WRITTEN; a plain table of properties is closed, a PodGroup gains its head."""
    if "type" in schema:
        return schema
    if name.endswith("PodGroup"):
        head = {
            "apiVersion": STRING,
            "kind": STRING,
            "metadata": {"$ref": "#/$defs/ObjectMeta"},
            "status": OPEN,
        }
        schema = head | schema
    return {"type": "object", "properties": schema, "additionalProperties": False}


# What stands beside a TrainJob, by the CRDs of External Secrets and Sealed Secrets. A newer one may have more fields.
SECRET_KEY: Schema = {"type": "string", "minLength": 1, "maxLength": 253, "pattern": "^[-._a-zA-Z0-9]+$"}
OBJECT_NAME: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 253,
    "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
}
SECRET_DATA: Schema = {"type": "object", "additionalProperties": STRING}


def choice(*values: str) -> Schema:
    return {"type": "string", "enum": [*values]}


def companion(**properties: Schema) -> Schema:
    """A kind of companion, with its own fields beside the head of every object."""
    head = {"apiVersion": STRING, "kind": STRING, "metadata": {"$ref": "#/$defs/ObjectMeta"}, "status": OPEN}
    return closed("spec", **(head | properties))


STORE_REF = closed(name=OBJECT_NAME, kind=choice("SecretStore", "ClusterSecretStore"))
SOURCE_REF = closed(
    storeRef=STORE_REF, generatorRef=closed("kind", "name", apiVersion=STRING, kind=STRING, name=STRING)
)
REMOTE_REF = closed(
    "key",
    key=STRING,
    property=STRING,
    version=STRING,
    metadataPolicy=choice("None", "Fetch"),
    conversionStrategy=choice("Default", "Unicode"),
    decodingStrategy=choice("Auto", "Base64", "Base64URL", "None"),
)
SECRET_TEMPLATE = closed(
    type=STRING,
    engineVersion=choice("v2"),
    mergePolicy=choice("Replace", "Merge"),
    metadata=OPEN,
    data=SECRET_DATA,
    templateFrom=entries(OPEN),
)
COMPANION_KINDS: dict[str, Schema] = {
    "ExternalSecret": companion(
        spec=closed(
            secretStoreRef=STORE_REF,
            target=closed(
                name=OBJECT_NAME,
                creationPolicy=choice("Owner", "Orphan", "Merge", "None"),
                deletionPolicy=choice("Delete", "Merge", "Retain"),
                immutable={"type": "boolean"},
                template=SECRET_TEMPLATE,
            ),
            refreshPolicy=choice("CreatedOnce", "Periodic", "OnChange"),
            refreshInterval=STRING,
            data=entries(
                closed("secretKey", "remoteRef", secretKey=SECRET_KEY, remoteRef=REMOTE_REF, sourceRef=SOURCE_REF)
            ),
            dataFrom=entries(closed(extract=REMOTE_REF, find=OPEN, rewrite=entries(OPEN), sourceRef=SOURCE_REF)),
        )
    ),
    "SealedSecret": companion(
        spec=closed(
            "encryptedData",
            encryptedData={"type": "object", "additionalProperties": STRING},
            template=closed(type=STRING, immutable={"type": "boolean"}, metadata=OPEN, data=SECRET_DATA),
        )
    ),
}


def derivation() -> Derivation:
    found = Derivation()
    for root in ROOTS:
        found.model(getattr(models, root))
    return found


def derive() -> dict[str, Schema]:
    """Every `$def`, sorted by name."""
    written = {name: hand_written(name, schema) for name, schema in HAND_WRITTEN.items()}
    return dict(sorted((derivation().defs | written | FACT_KINDS | COMPANION_KINDS).items()))


def describe() -> dict[str, dict[str, str]]:
    """What upstream says of each field, by type and field; fields without a text are left out."""
    found = {name: {key: text for key, text in texts.items() if text} for name, texts in derivation().texts.items()}
    return {name: texts for name, texts in sorted(found.items()) if texts}


def lines(entries: dict[str, Any]) -> str:
    """The entries of a JSON object, one to a line."""
    return ",\n".join(f"{json.dumps(name)}:{json.dumps(each, separators=(',', ':'))}" for name, each in entries.items())


def main() -> None:
    (FOLDER / "kubernetes.json").write_text(f'{{"$defs":{{\n{lines(derive())}\n}}}}\n', encoding="utf-8")
    (FOLDER / "descriptions.json").write_text(f"{{\n{lines(describe())}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
