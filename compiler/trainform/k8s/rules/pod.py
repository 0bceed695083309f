"""The API server's `core/v1` rules for a whole pod template; containers, resources and scheduling have modules."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.k8s.names import dns1123_label, dns1123_subdomain, qualified_name
from trainform.k8s.rules import container as container_rules
from trainform.k8s.rules import resource as resource_rules
from trainform.k8s.rules import scheduling as scheduling_rules
from trainform.k8s.rules import volume as volume_rules
from trainform.k8s.rules.metadata import check_metadata
from trainform.k8s.rules.parts import LARGEST_ID, Found, check_between, check_count, check_name, check_one_of
from trainform.k8s.tree import Tree, metadata_of, sequence, table, tables, text

_NAMES = {
    "serviceAccountName": dns1123_subdomain,
    "priorityClassName": dns1123_subdomain,
    "runtimeClassName": dns1123_subdomain,
    "nodeName": dns1123_subdomain,
    "hostname": dns1123_label,
    "subdomain": dns1123_label,
}
_IDS = ("runAsUser", "runAsGroup", "fsGroup")
_MOST_NAMESERVERS = 3


def check(template: Tree, path: Path, claims: frozenset[str], found: Found) -> None:
    """Problems of pods made from `template`, a `PodTemplateSpec`; `claims` are names of additional volumes of the
    pods."""
    check_metadata(metadata_of(template), (*path, "metadata"), found)
    spec, path = table(template, "spec"), (*path, "spec")
    volumes = volume_rules.check(spec, path, found)
    _check_container_lists(spec, path, found)
    container_rules.check(spec, volumes | claims, path, found)
    resource_rules.check(spec, path, found)
    scheduling_rules.check(spec, path, found)
    _check_own_fields(spec, path, found)


def _check_container_lists(spec: Tree, path: Path, found: Found) -> None:
    if spec.get("containers") == []:
        found.tell((*path, "containers"), "TF521", "must have at least one container")
    if spec.get("ephemeralContainers"):
        message, hint = "must not be set: they are only for running pods", "use a container or an init container"
        found.tell((*path, "ephemeralContainers"), "TF521", message, hint)
    if "initContainers" not in spec:
        return
    names = [text(container, "name") for container in tables(spec, "containers")]
    for index, container in enumerate(tables(spec, "initContainers")):
        if (name := text(container, "name")) and name in names:
            message = f'"{name}" is also the name of a container'
            found.tell((*path, "initContainers", index, "name"), "TF521", message, "give one of the two another name")


def _check_own_fields(spec: Tree, path: Path, found: Found) -> None:
    for key in () if _NAMES.keys().isdisjoint(spec) else _NAMES:
        check_name(spec, key, _NAMES[key], "TF536", path, found)
    check_between(spec, 1, LARGEST_ID, ("activeDeadlineSeconds",), "TF536", path, found)
    if "securityContext" in spec:
        _check_security(table(spec, "securityContext"), (*path, "securityContext"), found)
    if "dnsPolicy" in spec or "dnsConfig" in spec:
        _check_dns(spec, path, found)
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        message, hint = "must not be true with hostPID", "remove one of the two"
        found.tell((*path, "shareProcessNamespace"), "TF536", message, hint)
    for index, gate in enumerate(tables(spec, "readinessGates")):
        at = (*path, "readinessGates", index)
        check_name(gate, "conditionType", qualified_name, "TF536", at, found)
    if "resourceClaims" in spec:
        _check_claims(spec, path, found)


def _check_security(context: Tree, path: Path, found: Found) -> None:
    check_between(context, 0, LARGEST_ID, _IDS, "TF535", path, found)
    for index, group in enumerate(sequence(context.get("supplementalGroups"))):
        at = (*path, "supplementalGroups", index)
        check_between({"group": group}, 0, LARGEST_ID, ("group",), "TF535", at, found)


def _check_dns(spec: Tree, path: Path, found: Found) -> None:
    servers = sequence(table(spec, "dnsConfig").get("nameservers"))
    at = (*path, "dnsConfig", "nameservers")
    if spec.get("dnsPolicy") == "None" and not servers:
        hint = "list a nameserver, or remove dnsPolicy"
        found.tell(at, "TF536", "dnsPolicy: None requires at least one nameserver", hint)
    check_count(len(servers), _MOST_NAMESERVERS, "entries", "TF536", at, found)


def _check_claims(spec: Tree, path: Path, found: Found) -> None:
    for index, claim in enumerate(tables(spec, "resourceClaims")):
        at = (*path, "resourceClaims", index)
        check_name(claim, "name", dns1123_label, "TF531", at, found)
        keys = ("resourceClaimName", "resourceClaimTemplateName")
        if source := check_one_of(claim, keys, "source", "TF531", at, found):
            check_name(claim, source, dns1123_subdomain, "TF531", at, found)
