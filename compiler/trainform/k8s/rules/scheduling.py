"""The API server's rules for pod placement."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.k8s.names import label_value, qualified_name
from trainform.k8s.rules.metadata import check_expression, check_labels, check_selector
from trainform.k8s.rules.parts import Found, check_at_least, check_between, check_name
from trainform.k8s.tree import Tree, sequence, table, tables, text

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHTS = (1, 100)


def check(spec: Tree, path: Path, found: Found) -> None:
    """Tolerations, node selector, affinity, topology spread and scheduling gates of a pod spec."""
    if "nodeSelector" in spec:
        check_labels(table(spec, "nodeSelector"), (*path, "nodeSelector"), "TF534", found)
    for index, toleration in enumerate(tables(spec, "tolerations")):
        _check_toleration(toleration, (*path, "tolerations", index), found)
    if "affinity" in spec:
        _check_affinity(table(spec, "affinity"), (*path, "affinity"), found)
    for index, constraint in enumerate(tables(spec, "topologySpreadConstraints")):
        _check_spread(constraint, (*path, "topologySpreadConstraints", index), found)
    if "schedulingGates" in spec:
        _check_gates(spec, path, found)


def _check_toleration(toleration: Tree, path: Path, found: Found) -> None:
    key, operator = text(toleration, "key"), text(toleration, "operator") or "Equal"
    check_name(toleration, "key", qualified_name, "TF534", path, found)
    if not key and operator != "Exists":
        found.tell((*path, "operator"), "TF534", "must be Exists if there is no key", "or write the key of a taint")
    value = text(toleration, "value")
    if operator == "Exists" and value:
        message, hint = "must not be set with operator Exists", "remove the value, or write operator: Equal"
        found.tell((*path, "value"), "TF534", message, hint)
    elif operator == "Equal":
        check_name(toleration, "value", label_value, "TF534", path, found)
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        message = "must be NoExecute if tolerationSeconds is set"
        found.tell((*path, "effect"), "TF534", message, "or remove tolerationSeconds")


def _check_affinity(affinity: Tree, path: Path, found: Found) -> None:
    if node := table(affinity, "nodeAffinity"):
        _check_node_affinity(node, (*path, "nodeAffinity"), found)
    for kind in ("podAffinity", "podAntiAffinity"):
        if pods := table(affinity, kind):
            _check_pod_affinity(pods, (*path, kind), found)


def _check_node_affinity(affinity: Tree, path: Path, found: Found) -> None:
    at = (*path, _REQUIRED, "nodeSelectorTerms")
    required = table(affinity, _REQUIRED)
    if required.get("nodeSelectorTerms") == []:
        found.tell(at, "TF534", "must have at least one term", f"or remove {_REQUIRED}")
    for index, term in enumerate(tables(required, "nodeSelectorTerms")):
        _check_node_term(term, (*at, index), found)
    for index, preferred in enumerate(tables(affinity, _PREFERRED)):
        check_between(preferred, *_WEIGHTS, ("weight",), "TF534", (*path, _PREFERRED, index), found)
        _check_node_term(table(preferred, "preference"), (*path, _PREFERRED, index, "preference"), found)


def _check_node_term(term: Tree, path: Path, found: Found) -> None:
    for index, expression in enumerate(tables(term, "matchExpressions")):
        check_expression(expression, (*path, "matchExpressions", index), "TF534", found)
    for index, field in enumerate(tables(term, "matchFields")):
        at = (*path, "matchFields", index)
        if text(field, "key") != "metadata.name":
            found.tell((*at, "key"), "TF534", "must be metadata.name, the only supported field")
        if len(sequence(field.get("values"))) != 1 or text(field, "operator") not in ("In", "NotIn"):
            found.tell(at, "TF534", "must have operator In or NotIn and exactly one value")


def _check_pod_affinity(affinity: Tree, path: Path, found: Found) -> None:
    for index, term in enumerate(tables(affinity, _REQUIRED)):
        _check_pod_term(term, (*path, _REQUIRED, index), found)
    for index, preferred in enumerate(tables(affinity, _PREFERRED)):
        at = (*path, _PREFERRED, index)
        check_between(preferred, *_WEIGHTS, ("weight",), "TF534", at, found)
        _check_pod_term(table(preferred, "podAffinityTerm"), (*at, "podAffinityTerm"), found)


def _check_pod_term(term: Tree, path: Path, found: Found) -> None:
    _check_topology_key(term, path, found)
    for key in ("labelSelector", "namespaceSelector"):
        check_selector(table(term, key), (*path, key), "TF534", found)


def _check_topology_key(tree: Tree, path: Path, found: Found) -> None:
    if "topologyKey" in tree and (reason := qualified_name(text(tree, "topologyKey"))):
        found.tell((*path, "topologyKey"), "TF534", reason, "such as kubernetes.io/hostname")


def _check_spread(constraint: Tree, path: Path, found: Found) -> None:
    check_at_least(constraint, 1, ("maxSkew", "minDomains"), "TF534", path, found)
    _check_topology_key(constraint, path, found)
    check_selector(table(constraint, "labelSelector"), (*path, "labelSelector"), "TF534", found)
    if constraint.get("minDomains") is not None and constraint.get("whenUnsatisfiable") == "ScheduleAnyway":
        found.tell((*path, "minDomains"), "TF534", "requires whenUnsatisfiable: DoNotSchedule", "remove minDomains")


def _check_gates(spec: Tree, path: Path, found: Found) -> None:
    gates = tables(spec, "schedulingGates")
    for index, gate in enumerate(gates):
        check_name(gate, "name", qualified_name, "TF534", (*path, "schedulingGates", index), found)
    if gates and text(spec, "nodeName"):
        message, hint = "must not be set together with schedulingGates", "use nodeSelector"
        found.tell((*path, "nodeName"), "TF534", message, hint)
