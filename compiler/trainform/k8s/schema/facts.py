"""Is a cluster fact, a Kubernetes object that describes the cluster, one that the cluster would take?

The shapes are those of the Kubernetes, Kueue and Volcano APIs as far as the compiler reads them; deep
structures that it never reads are let through.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from trainform.diagnostics import Diagnostic, Path, Severity
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.names import dns1123_label, dns1123_subdomain
from trainform.k8s.rules import fact as fact_rules
from trainform.k8s.rules.parts import Found, table, text
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.schema.shapes import (
    Shape,
    anything,
    boolean,
    fields,
    integer,
    list_of,
    map_of,
    name,
    one_of,
    quantity,
    string,
)
from trainform.k8s.tree import Tree
from trainform.source import Document

WARNINGS = frozenset({"TF101", "TF563"})
"""Codes of problems that leave a fact usable: a newer API may know the field; a fact may come later."""

_KUEUE = ("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
_STOP = one_of("None", "Hold", "HoldAndDrain")
_AMOUNTS = map_of(quantity)
_LABELS = map_of(string)
_SELECTOR = fields(
    {
        "matchLabels": _LABELS,
        "matchExpressions": list_of(
            fields(
                {
                    "key": name,
                    "operator": one_of("In", "NotIn", "Exists", "DoesNotExist"),
                    "values": list_of(string),
                },
                ("key", "operator"),
            )
        ),
    }
)
_EFFECT = one_of("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINT = fields({"key": name, "value": string, "effect": _EFFECT, "timeAdded": anything}, ("key", "effect"))
_TOLERATION = fields(
    {
        "key": string,
        "operator": one_of("Equal", "Exists"),
        "value": string,
        "effect": _EFFECT,
        "tolerationSeconds": integer(-(2**63), 2**63 - 1),
    }
)
_RESOURCE_QUOTA = fields(
    {"name": name, "nominalQuota": quantity, "borrowingLimit": quantity, "lendingLimit": quantity},
    ("name", "nominalQuota"),
)
_FLAVOR_QUOTAS = fields(
    {"name": name, "resources": list_of(_RESOURCE_QUOTA, may_be_empty=False, most=64, key="name")},
    ("name", "resources"),
)
_RESOURCE_GROUPS = list_of(
    fields(
        {
            "coveredResources": list_of(name, may_be_empty=False, most=64),
            "flavors": list_of(_FLAVOR_QUOTAS, may_be_empty=False, most=64, key="name"),
        },
        ("coveredResources", "flavors"),
    ),
    most=16,
)
_CHECKS = fields({"admissionChecks": list_of(fields({"name": name, "onFlavors": list_of(name)}, ("name",)))})


class _Kind(NamedTuple):
    """What is known of one kind: its API versions, its own fields beside the head, and its rules."""

    versions: tuple[str, ...]
    shapes: dict[str, Shape]
    required: tuple[str, ...] = ()
    rules: Callable[[Tree, Found], None] | None = None


def check(fact: Tree) -> list[SchemaProblem]:
    """All problems of one fact, of any kind that the compiler knows; codes of `WARNINGS` are warnings.

    Rules that need a sound tree are checked only when the shape is right.
    """
    found: Found = []
    kind = _kinds()[fact["kind"]]
    if fact["apiVersion"] not in kind.versions:
        return [_other_version(fact, kind.versions)]
    shapes = {"apiVersion": name, "kind": name, "metadata": _metadata, "status": anything, **kind.shapes}
    fields(shapes, ("metadata", *kind.required))(fact, (), found)
    _check_name(fact, found)
    if kind.rules and all(problem.code in WARNINGS for problem in found):
        kind.rules(fact, found)
    return found


def diagnose(document: Document) -> list[Diagnostic]:
    """The problems of a fact as diagnostics of its document."""
    return [as_diagnostic(problem, document) for problem in check(document.tree)]


def as_diagnostic(problem: SchemaProblem, document: Document) -> Diagnostic:
    """The problem at its place; of an unknown field that is the key, whatever its value."""
    code, path = problem.code, problem.path
    severity: Severity = "warning" if code in WARNINGS else "error"
    at = document.key_position(path) if code == "TF101" else None
    return Diagnostic(code, severity, problem.message, problem.hint, path, document, at)


def _other_version(fact: Tree, versions: tuple[str, ...]) -> SchemaProblem:
    message = f'apiVersion "{fact["apiVersion"]}" has no kind {fact["kind"]}'
    hint = did_you_mean(fact["apiVersion"], versions) or f"write apiVersion: {versions[0]}"
    return SchemaProblem(("apiVersion",), "TF104", message, hint)


def _metadata(value: Any, path: Path, found: Found) -> None:
    """Only what the compiler reads of it: an object pulled from a cluster has a lot more."""
    if not isinstance(value, dict):
        fields({})(value, path, found)
        return
    read = {"name": name, "namespace": name, "labels": _LABELS}
    fields(read, ("name",))({key: value[key] for key in read if key in value}, path, found)


def _check_name(fact: Tree, found: Found) -> None:
    given = text(table(fact, "metadata"), "name")
    rule = dns1123_label if fact["kind"] == "Namespace" else dns1123_subdomain
    if given and (reason := rule(given)):
        found.append(SchemaProblem(("metadata", "name"), "TF104", f'"{given}" {reason}'))


@cache
def _kinds() -> dict[str, _Kind]:
    return {**_kubernetes_kinds(), **_kueue_kinds(), "Queue": _volcano_queue()}


def _kubernetes_kinds() -> dict[str, _Kind]:
    preemption = one_of("PreemptLowerPriority", "Never")
    scheduling = fields({"nodeSelector": _LABELS, "tolerations": list_of(_TOLERATION)})
    limits = dict.fromkeys(("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"), _AMOUNTS)
    limit = fields({"type": one_of("Container", "Pod", "PersistentVolumeClaim"), **limits}, ("type",))
    limit_range = fields({"limits": list_of(limit)}, ("limits",))
    priority = {"value": integer(-(2**31)), "description": string}
    return {
        "Namespace": _Kind(("v1",), {"spec": anything}),
        "LimitRange": _Kind(("v1",), {"spec": limit_range}, ("spec",), fact_rules.limit_range),
        "PriorityClass": _Kind(
            ("scheduling.k8s.io/v1",),
            {**priority, "globalDefault": boolean, "preemptionPolicy": preemption},
            ("value",),
            fact_rules.priority_class,
        ),
        "RuntimeClass": _Kind(
            ("node.k8s.io/v1",),
            {"handler": name, "overhead": fields({"podFixed": _AMOUNTS}), "scheduling": scheduling},
            ("handler",),
        ),
        "WorkloadPriorityClass": _Kind(_KUEUE, priority, ("value",)),
    }


def _kueue_kinds() -> dict[str, _Kind]:
    others = ("flavorFungibility", "preemption", "fairSharing", "admissionScope", "concurrentAdmissionPolicy")
    cluster_queue = {
        "resourceGroups": _RESOURCE_GROUPS,
        "cohort": string,
        "cohortName": string,
        "queueingStrategy": one_of("StrictFIFO", "BestEffortFIFO"),
        "namespaceSelector": _SELECTOR,
        "stopPolicy": _STOP,
        "admissionChecks": list_of(name),
        "admissionChecksStrategy": _CHECKS,
        **dict.fromkeys(others, anything),
    }
    cohort = {
        "parent": string,
        "parentName": string,
        "resourceGroups": _RESOURCE_GROUPS,
        "fairSharing": anything,
    }
    local_queue = {
        "clusterQueue": name,
        "stopPolicy": _STOP,
        "fairSharing": anything,
        "wallTimePolicy": anything,
    }
    flavor = {
        "nodeLabels": _LABELS,
        "nodeTaints": list_of(_TAINT, most=8),
        "tolerations": list_of(_TOLERATION, most=8),
        "topologyName": name,
        "resourceWeights": anything,
    }
    levels = list_of(fields({"nodeLabel": name}, ("nodeLabel",)), may_be_empty=False, most=16, key="nodeLabel")
    alpha = (*_KUEUE, "kueue.x-k8s.io/v1alpha1")
    return {
        "ClusterQueue": _Kind(_KUEUE, {"spec": fields(cluster_queue)}, (), fact_rules.cluster_queue),
        "Cohort": _Kind(alpha, {"spec": fields(cohort)}, (), fact_rules.cohort),
        "LocalQueue": _Kind(_KUEUE, {"spec": fields(local_queue, ("clusterQueue",))}, ("spec",)),
        "ResourceFlavor": _Kind(_KUEUE, {"spec": fields(flavor)}, (), fact_rules.resource_flavor),
        "Topology": _Kind(alpha, {"spec": fields({"levels": levels}, ("levels",))}, ("spec",), fact_rules.topology),
    }


def _volcano_queue() -> _Kind:
    others = ("affinity", "extendClusters", "dequeueStrategy", "type")
    spec = {
        "weight": integer(1, 65535),
        "capability": _AMOUNTS,
        "deserved": _AMOUNTS,
        "guarantee": fields({"resource": _AMOUNTS}),
        "reclaimable": boolean,
        "parent": string,
        "priority": integer(0),
        **dict.fromkeys(others, anything),
    }
    return _Kind(("scheduling.volcano.sh/v1beta1",), {"spec": fields(spec)})
