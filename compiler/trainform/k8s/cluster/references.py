"""Objects that pods name in their own namespace: ServiceAccounts, Secrets, ConfigMaps and PersistentVolumeClaims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainform.diagnostics import Path
from trainform.k8s.tree import Tree, table, tables, text

EVERYWHERE = frozenset((("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")))
"""What Kubernetes creates in every namespace."""

_CONTAINERS = ("initContainers", "containers")


class Reference(NamedTuple):
    """An object of a `kind` and name, without which pods of this spec do not start unless it is optional."""

    kind: str
    name: str
    path: Path
    is_optional: bool = False


def references(pod_spec: Tree) -> Iterator[Reference]:
    """Those with a name. Paths count from the pod spec."""
    found = (
        *_of_the_pod(pod_spec),
        *(each for index, volume in enumerate(tables(pod_spec, "volumes")) for each in _of_volume(volume, index)),
        *_of_containers(pod_spec),
    )
    yield from (each for each in found if each.name)


def _of_the_pod(pod_spec: Tree) -> Iterator[Reference]:
    yield Reference("ServiceAccount", text(pod_spec, "serviceAccountName"), ("serviceAccountName",))
    for index, secret in enumerate(tables(pod_spec, "imagePullSecrets")):
        yield Reference("Secret", text(secret, "name"), ("imagePullSecrets", index, "name"))


def _of_volume(volume: Tree, index: int) -> Iterator[Reference]:
    path: Path = ("volumes", index)
    claim = table(volume, "persistentVolumeClaim")
    yield Reference("PersistentVolumeClaim", text(claim, "claimName"), (*path, "persistentVolumeClaim", "claimName"))
    yield from _named(table(volume, "secret"), "Secret", "secretName", (*path, "secret"))
    yield from _named(table(volume, "configMap"), "ConfigMap", "name", (*path, "configMap"))
    for place, source in enumerate(tables(table(volume, "projected"), "sources")):
        for key, kind in (("secret", "Secret"), ("configMap", "ConfigMap")):
            yield from _named(table(source, key), kind, "name", (*path, "projected", "sources", place, key))


def _of_containers(pod_spec: Tree) -> Iterator[Reference]:
    for key in _CONTAINERS:
        for index, container in enumerate(tables(pod_spec, key)):
            for place, variable in enumerate(tables(container, "env")):
                source, path = table(variable, "valueFrom"), (key, index, "env", place, "valueFrom")
                for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
                    yield from _named(table(source, field), kind, "name", (*path, field))
            for place, source in enumerate(tables(container, "envFrom")):
                for field, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
                    yield from _named(table(source, field), kind, "name", (key, index, "envFrom", place, field))


def _named(tree: Tree, kind: str, field: str, path: Path) -> Iterator[Reference]:
    yield Reference(kind, text(tree, field), (*path, field), tree.get("optional") is True)
