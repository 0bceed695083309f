"""Objects that pods name in their own namespace: ServiceAccounts, Secrets, ConfigMaps and PersistentVolumeClaims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainform.diagnostics import Path
from trainform.k8s.tree import Tree, table, tables, text

EVERYWHERE = frozenset((("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")))
"""What Kubernetes creates in every namespace."""

CONTAINERS = ("initContainers", "containers")


class Reference(NamedTuple):
    """An object of a `kind` and name. `is_needed`: pods of this spec do not start without it, and without its `keys`,
    each with its path."""

    kind: str
    name: str
    path: Path
    is_needed: bool = True
    keys: tuple[tuple[str, Path], ...] = ()


def references(pod_spec: Tree) -> Iterator[Reference]:
    """Those with a name. Paths count from the pod spec."""
    found = (*_of_the_pod(pod_spec), *_of_volumes(pod_spec), *_of_containers(pod_spec))
    yield from (each for each in found if each.name)


def _of_the_pod(pod_spec: Tree) -> Iterator[Reference]:
    yield Reference("ServiceAccount", text(pod_spec, "serviceAccountName"), ("serviceAccountName",))
    for index, secret in enumerate(tables(pod_spec, "imagePullSecrets")):
        yield Reference("Secret", text(secret, "name"), ("imagePullSecrets", index, "name"))


def _of_volumes(pod_spec: Tree) -> Iterator[Reference]:
    """The kubelet skips a volume that no container mounts. A claim is needed even then: the scheduler looks for it."""
    found = [(volume, each) for index, volume in enumerate(tables(pod_spec, "volumes")) for each in _of(volume, index)]
    if not found:
        return
    containers = [each for key in CONTAINERS for each in tables(pod_spec, key)]
    mounted = {text(mount, "name") for each in containers for mount in tables(each, "volumeMounts")}
    for volume, each in found:
        is_mounted = text(volume, "name") in mounted
        yield each._replace(is_needed=each.is_needed and (is_mounted or each.kind == "PersistentVolumeClaim"))


def _of(volume: Tree, index: int) -> Iterator[Reference]:
    path: Path = ("volumes", index)
    if "persistentVolumeClaim" in volume:
        claim = text(table(volume, "persistentVolumeClaim"), "claimName")
        yield Reference("PersistentVolumeClaim", claim, (*path, "persistentVolumeClaim", "claimName"))
    if "secret" in volume:
        yield _mounted(table(volume, "secret"), "Secret", "secretName", (*path, "secret"))
    if "configMap" in volume:
        yield _mounted(table(volume, "configMap"), "ConfigMap", "name", (*path, "configMap"))
    for place, source in enumerate(tables(table(volume, "projected"), "sources")):
        for key, kind in (("secret", "Secret"), ("configMap", "ConfigMap")):
            yield _mounted(table(source, key), kind, "name", (*path, "projected", "sources", place, key))


def _of_containers(pod_spec: Tree) -> Iterator[Reference]:
    for key in CONTAINERS:
        for index, container in enumerate(tables(pod_spec, key)):
            for place, variable in enumerate(tables(container, "env")):
                if "valueFrom" in variable:  # most variables name nothing
                    yield from _of_a_variable(table(variable, "valueFrom"), (key, index, "env", place, "valueFrom"))
            for place, source in enumerate(tables(container, "envFrom")):
                for field, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
                    yield _named(table(source, field), kind, "name", (key, index, "envFrom", place, field))


def _of_a_variable(source: Tree, path: Path) -> Iterator[Reference]:
    for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
        if field in source:
            yield _of_one_key(table(source, field), kind, (*path, field))


def _named(tree: Tree, kind: str, field: str, path: Path) -> Reference:
    return Reference(kind, text(tree, field), (*path, field), tree.get("optional") is not True)


def _mounted(tree: Tree, kind: str, field: str, path: Path) -> Reference:
    keys = ((text(item, "key"), (*path, "items", index, "key")) for index, item in enumerate(tables(tree, "items")))
    return _named(tree, kind, field, path)._replace(keys=tuple(keys))


def _of_one_key(tree: Tree, kind: str, path: Path) -> Reference:
    return _named(tree, kind, "name", path)._replace(keys=((text(tree, "key"), (*path, "key")),))
