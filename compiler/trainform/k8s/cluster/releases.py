"""Fields that older releases of Kubernetes or JobSet drop or refuse. Each entry of the tables is told only if the
cluster's version is known and older."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from trainform.diagnostics import Path
from trainform.k8s.tree import Tree, table, tables, text
from trainform.k8s.versions import ClusterVersion, Release, Versions, has_change

_PLAIN_VARIABLE = re.compile("[-._a-zA-Z][-._a-zA-Z0-9]*")

Find = Callable[[Tree], Iterator[Path]]


class Feature(NamedTuple):
    """What came with a release, and where it is used in a tree."""

    since: Release
    what: str
    find: Find


class TooNew(NamedTuple):
    path: Path
    message: str


def of_jobset(spec: Tree, versions: Versions) -> Iterator[TooNew]:
    """What a JobSet's spec needs. Paths count from the spec."""
    return _needs(_newer("JobSet", versions.jobset), spec)


def of_pod(pod_spec: Tree, versions: Versions) -> Iterator[TooNew]:
    """What a pod's spec needs. Paths count from the spec."""
    return _needs(_newer("Kubernetes", versions.kubernetes), pod_spec)


def _needs(newer: Iterable[tuple[Find, str]], tree: Tree) -> Iterator[TooNew]:
    return (TooNew(path, message) for find, message in newer for path in find(tree))


@lru_cache
def _newer(name: str, version: ClusterVersion | None) -> list[tuple[Find, str]]:
    """Finds what came after a version of Kubernetes or JobSet, each with its message."""
    return [
        (find, f"{what} {name} {since[0]}.{since[1]}, but spec.cluster says {version}")
        for since, what, find in (JOBSET if name == "JobSet" else POD)
        if has_change(version, since) is False
    ]


def _steps(spec: Tree) -> Iterator[tuple[Path, Tree]]:
    for index, job in enumerate(tables(spec, "replicatedJobs")):
        yield ("replicatedJobs", index), job


def _dependencies(spec: Tree, least: int) -> Iterator[Path]:
    return ((*path, "dependsOn") for path, job in _steps(spec) if len(tables(job, "dependsOn")) >= least)


def _groups(spec: Tree) -> Iterator[Path]:
    return ((*path, "groupName") for path, job in _steps(spec) if text(job, "groupName") not in ("", "default"))


def _field(*path: str) -> Find:
    """The field at this path, if it is set."""

    def find(tree: Tree) -> Iterator[Path]:
        *above, last = path
        for key in above:
            tree = table(tree, key)
        if tree.get(last):
            yield path

    return find


def _containers(pod_spec: Tree) -> Iterator[tuple[Path, Tree]]:
    for key in ("initContainers", "containers"):
        for index, container in enumerate(tables(pod_spec, key)):
            yield (key, index), container


def _sidecars(pod_spec: Tree) -> Iterator[Path]:
    for index, container in enumerate(tables(pod_spec, "initContainers")):
        if text(container, "restartPolicy") == "Always":
            yield "initContainers", index, "restartPolicy"


def _variables(pod_spec: Tree) -> Iterator[Path]:
    for path, container in _containers(pod_spec):
        for index, variable in enumerate(tables(container, "env")):
            if (name := text(variable, "name")) and not _PLAIN_VARIABLE.fullmatch(name):
                yield (*path, "env", index, "name")


def _restart_rules(pod_spec: Tree) -> Iterator[Path]:
    return ((*path, "restartPolicyRules") for path, each in _containers(pod_spec) if each.get("restartPolicyRules"))


def _image_volumes(pod_spec: Tree) -> Iterator[Path]:
    return (("volumes", i, "image") for i, volume in enumerate(tables(pod_spec, "volumes")) if volume.get("image"))


JOBSET: tuple[Feature, ...] = (
    Feature((0, 8, 0), "dependsOn needs", lambda spec: _dependencies(spec, 1)),
    Feature((0, 9, 0), "more than one dependsOn needs", lambda spec: _dependencies(spec, 2)),
    Feature((0, 9, 0), "a group of replicated jobs needs", _groups),
    Feature((0, 11, 0), "volumeClaimPolicies need", _field("volumeClaimPolicies")),
)
"""Source: the changelogs of kubernetes-sigs/jobset."""

POD: tuple[Feature, ...] = (
    Feature((1, 29, 0), "a sidecar (an init container with restartPolicy: Always) needs", _sidecars),
    Feature((1, 34, 0), "this name of an environment variable needs", _variables),
    Feature((1, 34, 0), "resources of a whole pod need", _field("resources")),
    Feature((1, 35, 0), "restartPolicyRules need", _restart_rules),
    Feature((1, 35, 0), "image volumes need", _image_volumes),
)
"""When each became available without a feature gate. Source: the feature gates of Kubernetes."""
