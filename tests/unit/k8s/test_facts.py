"""Which cluster facts the cluster would refuse."""

from textwrap import dedent
from typing import Any

import pytest

from trainform.diagnostics import dotted
from trainform.k8s.fact_kinds import FACT_VERSIONS, KAI_QUEUE, KAI_TOPOLOGY
from trainform.k8s.rules.fact_links import circle, diagnose_links
from trainform.k8s.schema.facts import WARNINGS, check, diagnose
from trainform.source import load

KUEUE = "kueue.x-k8s.io/v1beta2"
QUOTA = {"name": "cpu", "nominalQuota": 8}
FLAVOR = {"name": "h100", "resources": [QUOTA]}
GROUP = {"coveredResources": ["cpu"], "flavors": [FLAVOR]}
SOUND: dict[str, dict[str, Any]] = {
    "Namespace": {},
    "LimitRange": {"spec": {"limits": [{"type": "Container", "max": {"cpu": 4}, "default": {"cpu": "500m"}}]}},
    "PriorityClass": {"value": 1000, "globalDefault": True, "preemptionPolicy": "Never"},
    "RuntimeClass": {"handler": "kata", "overhead": {"podFixed": {"cpu": "250m"}}},
    "ResourceClaimTemplate": {"spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"count": 8}}]}}}},
    "Node": {"spec": {"podCIDR": "10.0.0.0/24"}, "status": {"allocatable": {"cpu": "32"}}},
    "NodePool": {"spec": {"count": 4, "labels": {"rack": "r1"}, "allocatable": {"nvidia.com/gpu": 8}}},
    "ResourceQuota": {"spec": {"hard": {"requests.cpu": "100"}, "scopes": ["NotTerminating"]}},
    "StorageClass": {"provisioner": "example.com/disk", "reclaimPolicy": "Delete"},
    "WorkloadPriorityClass": {"value": -5, "description": "last"},
    "ResourceFlavor": {"spec": {"nodeLabels": {"pool": "h100"}, "topologyName": "racks"}},
    "ClusterQueue": {"spec": {"cohortName": "all", "namespaceSelector": {}, "resourceGroups": [GROUP]}},
    "Cohort": {"spec": {"parentName": "root", "resourceGroups": [GROUP]}},
    "LocalQueue": {"spec": {"clusterQueue": "gpu", "stopPolicy": "Hold"}},
    "Topology": {"spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
    "Configuration": {
        "resources": {"excludeResourcePrefixes": ["example.com/"]},
        "waitForPodsReady": {"timeout": "9m"},
    },
    "Queue": {"spec": {"weight": 1, "capability": {"cpu": "4"}, "reclaimable": False}},
    "HyperNode": {"spec": {"tier": 1, "tierName": "rack", "members": [{"type": "Node"}]}},
    KAI_QUEUE: {"spec": {"displayName": "A", "priority": 100, "resources": {"gpu": {"quota": 4, "limit": -1}}}},
    KAI_TOPOLOGY: {"spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
}


def fact(kind, **fields):
    version, own = FACT_VERSIONS[kind][0], kind.partition(".")[0]
    return {"apiVersion": version, "kind": own, "metadata": {"name": "mine"}, **SOUND[kind], **fields}


def found(kind, **fields):
    return [(each.code, dotted(each.path), each.message) for each in check(fact(kind, **fields))]


def quota(**fields):
    return {"resourceGroups": [{**GROUP, "flavors": [{**FLAVOR, "resources": [{**QUOTA, **fields}]}]}]}


@pytest.mark.parametrize("kind", sorted(FACT_VERSIONS))
def test_a_sound_fact_of_each_kind(kind):
    assert found(kind) == []
    status = {**SOUND[kind].get("status", {}), "anything": 1}
    assert found(kind, status=status, metadata={"name": "mine", "uid": "1", "labels": None}) == []


@pytest.mark.parametrize("kind", sorted(FACT_VERSIONS.keys() - {"Configuration", "Namespace"}))
def test_an_unknown_field_is_told(kind):
    assert [each[:2] for each in found(kind, extra=1)] == [("TF101", "extra")]


def test_an_unknown_field_leaves_the_fact_usable():
    assert {"TF101", "TF563"} == WARNINGS


SPEC = "spec.resourceGroups[0]"
FIRST = f"{SPEC}.flavors[0].resources[0]"
FAULTS: dict[str, tuple[Any, ...]] = {
    "no name": ("Namespace", {"metadata": {}}, "TF103", "metadata.name", "is required but missing"),
    "a name of no namespace": (
        "Namespace", {"metadata": {"name": "A"}}, "TF104", "metadata.name",
        '"A" must consist of lowercase letters, digits and `-`, and start and end with a letter or digit',
    ),
    "another version": (
        "Topology", {"apiVersion": "kueue.x-k8s.io/v1"}, "TF104", "apiVersion",
        'apiVersion "kueue.x-k8s.io/v1" has no kind Topology',
    ),
    "no value": ("PriorityClass", {"value": None}, "TF103", "value", "is required but missing"),
    "value in quotes": ("PriorityClass", {"value": "10"}, "TF102", "value", 'must be an integer, not the string "10"'),
    "value of the system": (
        "PriorityClass", {"value": 2 * 10**9}, "TF561", "value", "must be at most 1000000000, not 2000000000",
    ),
    "a list for a mapping": ("LocalQueue", {"spec": []}, "TF102", "spec", "must be a mapping, not a list"),
    "no ClusterQueue": ("LocalQueue", {"spec": {}}, "TF103", "spec.clusterQueue", "is required but missing"),
    "policy": (
        "LocalQueue", {"spec": {"clusterQueue": "a", "stopPolicy": "hold"}}, "TF104", "spec.stopPolicy",
        '"hold" is not allowed here',
    ),
    "no quantity": (
        "ClusterQueue", {"spec": quota(nominalQuota="8 GPUs")}, "TF104", f"{FIRST}.nominalQuota",
        '"8 GPUs" is not a quantity',
    ),
    "negative quota": (
        "ClusterQueue", {"spec": quota(nominalQuota=-1)}, "TF104", f"{FIRST}.nominalQuota",
        "must be at least 0, not -1",
    ),
    "negative quota with a suffix": (
        "ClusterQueue", {"spec": quota(nominalQuota="-1Gi")}, "TF104", f"{FIRST}.nominalQuota",
        "must not be negative, but is -1Gi",
    ),
    "quota of another resource": (
        "ClusterQueue", {"spec": quota(name="memory")}, "TF561", f"{SPEC}.flavors[0].resources",
        "has quotas for memory, but the group covers cpu",
    ),
    "quota of a fraction": (
        "ClusterQueue", {"spec": quota(nominalQuota=1.5)}, "TF104", f"{FIRST}.nominalQuota",
        "must be an integer or a string, not a fractional number",
    ),
    "quota of a mapping": (
        "ClusterQueue", {"spec": quota(nominalQuota={"cpu": 1})}, "TF104", f"{FIRST}.nominalQuota",
        "must be an integer or a string, not a mapping",
    ),
    "resource twice in one group": (
        "ClusterQueue", {"spec": {"resourceGroups": [{**GROUP, "coveredResources": ["a", "a"], "flavors": [
            {"name": "f", "resources": [{"name": "a", "nominalQuota": 1}]}]}]}},
        ("TF105", f"{SPEC}.coveredResources[1]", "has the same a as entry [0]"),
        ("TF561", f"{SPEC}.flavors[0].resources", "has quotas for a, but the group covers a, a"),
    ),
    "resource covered twice": (
        "ClusterQueue",
        {"spec": {"resourceGroups": [GROUP, {**GROUP, "flavors": [{**FLAVOR, "name": "a"}]}]}},
        "TF561", "spec.resourceGroups[1].coveredResources[0]",
        "resource cpu is already in an earlier resource group",
    ),
    "flavor twice": (
        "ClusterQueue", {"spec": {"resourceGroups": [{**GROUP, "flavors": [FLAVOR, FLAVOR]}]}},
        "TF105", f"{SPEC}.flavors[1]", "has the same name h100 as entry [0]",
    ),
    "limit without a cohort": (
        "ClusterQueue", {"spec": quota(borrowingLimit=1)}, "TF561", f"{FIRST}.borrowingLimit",
        "without a cohort, there is no one to borrow from or lend to",
    ),
    "limit of a root": (
        "Cohort", {"spec": quota(lendingLimit=1)}, "TF561", f"{FIRST}.lendingLimit",
        "a cohort without a parent has no one to borrow from or lend to",
    ),
    "cohort of v1beta1": (
        "ClusterQueue", {"spec": {"cohort": "all"}}, "TF561", "spec.cohort",
        "is not a field of kueue.x-k8s.io/v1beta2",
    ),
    "topology of no nodes": (
        "ResourceFlavor", {"spec": {"topologyName": "racks"}}, "TF561", "spec.topologyName",
        "also needs nodeLabels to select the nodes of the topology",
    ),
    "effect of a taint": (
        "ResourceFlavor", {"spec": {"nodeTaints": [{"key": "a", "effect": "Never"}]}}, "TF104",
        "spec.nodeTaints[0].effect", '"Never" is not allowed here',
    ),
    "effect of a list": (
        "ResourceFlavor", {"spec": {"nodeTaints": [{"key": "a", "effect": ["NoSchedule"]}]}}, "TF104",
        "spec.nodeTaints[0].effect", "must be a string, not a list",
    ),
    "operator that tolerations of a flavor do not have": (
        "ResourceFlavor", {"spec": {"tolerations": [{"key": "a", "operator": "Gt"}]}}, "TF104",
        "spec.tolerations[0].operator", '"Gt" is not allowed here',
    ),
    "label without a value": (
        "ResourceFlavor", {"spec": {"nodeLabels": {"pool": None}}}, "TF102", "spec.nodeLabels.pool",
        "must be a string, not null",
    ),
    "toleration of everything": (
        "ResourceFlavor", {"spec": {"tolerations": [{"effect": "NoSchedule"}]}}, "TF561",
        "spec.tolerations[0].operator", "must be Exists if there is no key",
    ),
    "host above the rack": (
        "Topology", {"spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "rack"}]}},
        "TF561", "spec.levels[0].nodeLabel", "kubernetes.io/hostname must be the lowest level",
    ),
    "levels as a mapping": (
        "Topology", {"spec": {"levels": {"rack": {}}}}, "TF102", "spec.levels", "must be a list, not a mapping",
    ),
    "a level of KAI's that is not the last": (
        KAI_TOPOLOGY, {"spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "rack"}]}},
        "TF561", "spec.levels[0].nodeLabel", "kubernetes.io/hostname must be the lowest level",
    ),
    "a tier below zero": (
        "HyperNode", {"spec": {"tier": -1}}, "TF104", "spec.tier", "must be at least 0, not -1",
    ),
    "another version of KAI's": (
        KAI_QUEUE, {"apiVersion": "scheduling.run.ai/v3"}, "TF104", "apiVersion",
        'apiVersion "scheduling.run.ai/v3" has no kind Queue',
    ),
    "no levels": ("Topology", {"spec": {"levels": []}}, "TF104", "spec.levels", "must not be empty"),
    "too many levels": (
        "Topology", {"spec": {"levels": [{"nodeLabel": f"l{level}"} for level in range(17)]}},
        "TF104", "spec.levels", "must have at most 16 entries, not 17",
    ),
    "default above the maximum": (
        "LimitRange", {"spec": {"limits": [{"type": "Container", "max": {"cpu": 1}, "default": {"cpu": 2}}]}},
        "TF561", "spec.limits[0].max.cpu", "must be at least default (2), not 1",
    ),
    "minimum without an amount": (
        "LimitRange", {"spec": {"limits": [{"type": "Container", "max": {"cpu": 1}, "min": {"cpu": None}}]}},
        "TF104", "spec.limits[0].min.cpu", "must be an integer or a string, not null",
    ),
    "default of a pod": (
        "LimitRange", {"spec": {"limits": [{"type": "Pod", "default": {"cpu": 2}}]}},
        "TF561", "spec.limits[0].default", "limits of type Pod have no defaults",
    ),
    "ratio": (
        "LimitRange", {"spec": {"limits": [{"type": "Pod", "maxLimitRequestRatio": {"cpu": "0.5"}}]}},
        "TF561", "spec.limits[0].maxLimitRequestRatio.cpu", "must be at least 1, not 0.5",
    ),
    "weight": (
        "Queue", {"spec": {"weight": 0}}, "TF104", "spec.weight", "must be at least 1, not 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault(case):
    kind, fields, *expected = FAULTS[case]
    assert found(kind, **fields) == (expected if isinstance(expected[0], tuple) else [tuple(expected)])


def test_what_is_never_read_may_hold_nulls():
    codes = [code for code, *_ in found("ClusterQueue", spec={"preemption": [None, {"a": None}], "typo": 1})]
    assert codes == ["TF101"]


def test_all_faults_are_found_at_once():
    spec = {"resourceGroups": [{"flavors": [{"resources": [{"nominalQuota": "x"}]}]}], "stopPolicy": "no"}
    assert [each[:2] for each in found("ClusterQueue", spec=spec)] == [
        ("TF104", f"{FIRST}.nominalQuota"),
        ("TF103", f"{FIRST}.name"),
        ("TF103", f"{SPEC}.flavors[0].name"),
        ("TF103", f"{SPEC}.coveredResources"),
        ("TF104", "spec.stopPolicy"),
    ]


def documents(text):
    return load(dedent(text), "cluster.yaml").documents


def test_a_fault_is_shown_where_it_stands():
    (document,) = documents(
        """\
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: team, namespace: ml}
        spec:
          clusterQueu: gpu
        """
    )
    problems = [(each.severity, each.code, each.position, each.hint) for each in diagnose(document)]
    assert problems == [
        ("warning", "TF101", (5, 3), 'did you mean "clusterQueue"?'),
        ("error", "TF103", (4, 1), 'rename "clusterQueu" to clusterQueue'),
    ]


def linked(*facts):
    """Severity, code, message and place of what is wrong with these facts together."""
    text = "\n---\n".join(
        f"{{apiVersion: {KUEUE}, kind: {kind}, metadata: {{name: {name}}}, spec: {spec}}}" for kind, name, spec in facts
    )
    found = diagnose_links(documents(text))
    return [(each.severity, each.code, each.message, dotted(each.path), each.hint) for each in found]


def test_a_fact_that_another_one_needs_is_missed_once():
    facts = [(kind, name, "{clusterQueue: gpus}") for kind, name in (("LocalQueue", "a"), ("LocalQueue", "b"))]
    assert linked(*facts, ("ClusterQueue", "gpu", "{}")) == [
        (
            "warning",
            "TF563",
            "ClusterQueue gpus is not declared",
            "spec.clusterQueue",
            'did you mean "gpu"?',
        )
    ]


def test_cohorts_in_a_circle_are_told_once():
    parents = {"b": "a", "a": "b", "c": "b"}
    facts = [("Cohort", name, f"{{parentName: {parent}}}") for name, parent in parents.items()]
    assert linked(*facts) == [
        (
            "error",
            "TF562",
            "cohorts form a cycle: a → b → a",
            "spec.parentName",
            "remove a parent: Kueue admits nothing in a cycle",
        )
    ]


@pytest.mark.parametrize(
    ("parents", "way"),
    [
        ({}, []),
        ({"a": "b", "b": "c"}, []),
        ({"a": "a"}, ["a", "a"]),
        ({"a": "b", "b": "c", "c": "b"}, ["a", "b", "c", "b"]),
    ],
)
def test_the_way_upwards(parents, way):
    assert circle("a", parents) == way
