"""The API server's rules for container environments."""

from __future__ import annotations

import re

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.names import config_key, dns1123_subdomain, env_var_name, qualified_name
from trainform.k8s.rules.parts import Found, check_name, check_one_of
from trainform.k8s.tree import Tree, table, tables, text

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]")
_RESOURCE = "(?:limits|requests)[.](?:cpu|memory|ephemeral-storage|hugepages-.+)"


def check(container: Tree, path: Path, found: Found) -> None:
    """`env` and `envFrom` of a container."""
    for index, variable in enumerate(tables(container, "env")):
        at = (*path, "env", index)
        check_name(variable, "name", env_var_name, "TF523", at, found, may_be_empty=False)
        if "valueFrom" in variable:
            _check_source(variable, at, found)
    for index, source in enumerate(tables(container, "envFrom")):
        _check_env_from(source, (*path, "envFrom", index), found)


def _check_source(variable: Tree, path: Path, found: Found) -> None:
    source = variable["valueFrom"]
    if text(variable, "value") and source is not None:
        found.tell(path, "TF524", f'"{text(variable, "name")}" has both value and valueFrom', "remove one of the two")
    if type(source) is not dict:
        return
    path = (*path, "valueFrom")
    kind = check_one_of(source, _SOURCES, "source", "TF523", path, found)
    reference, path = table(source, kind), (*path, kind)
    if kind == "fieldRef":
        _check_field(text(reference, "fieldPath"), (*path, "fieldPath"), found)
    elif kind == "resourceFieldRef":
        if (resource := text(reference, "resource")) and not re.fullmatch(_RESOURCE, resource):
            message = f'"{resource}" is not a resource that a variable can use'
            hint = "such as limits.cpu, limits.memory or requests.memory"
            found.tell((*path, "resource"), "TF523", message, hint)
    elif kind in ("configMapKeyRef", "secretKeyRef"):
        _check_reference(reference, path, found)
        check_name(reference, "key", config_key, "TF523", path, found)


def _check_field(field: str, path: Path, found: Found) -> None:
    subscript = _SUBSCRIPT.fullmatch(field)
    if subscript:
        if reason := qualified_name(subscript[2]):
            found.tell(path, "TF523", f'the key "{subscript[2]}" {reason}')
    elif field and field not in _FIELDS:
        message = f'"{field}" is not a pod field that a variable can use'
        hint = did_you_mean(field, _FIELDS) or f"fields: {', '.join(_FIELDS)}, metadata.labels['key']"
        found.tell(path, "TF523", message, hint)


def _check_reference(reference: Tree, path: Path, found: Found) -> None:
    """A ConfigMap or Secret by name."""
    if not text(reference, "name"):
        found.tell((*path, "name"), "TF523", "is required but missing")
    check_name(reference, "name", dns1123_subdomain, "TF523", path, found)


def _check_env_from(source: Tree, path: Path, found: Found) -> None:
    kind = check_one_of(source, ("configMapRef", "secretRef"), "source", "TF523", path, found)
    if kind:
        _check_reference(table(source, kind), (*path, kind), found)
    check_name(source, "prefix", env_var_name, "TF523", path, found)
