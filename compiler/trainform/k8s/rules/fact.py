"""Rules that webhooks and CEL expressions of the cluster put on facts, beyond the shape.

Each takes an object of the right shape. The rules of quotas are Kueue's, those of the others Kubernetes'.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainform.diagnostics import Path
from trainform.k8s.quantity import NANO, parse
from trainform.k8s.rules.parts import Found
from trainform.k8s.schema.keywords import duplicates
from trainform.k8s.schema.messages import SchemaProblem, duplicate
from trainform.k8s.tree import Tree, name_of, table, tables, text, texts

HOSTNAME = "kubernetes.io/hostname"
HIGHEST_PRIORITY = 10**9
"""The highest value of a PriorityClass that is none of the system's."""

_BOUNDS = ("min", "defaultRequest", "default", "max")
"""The amounts of a LimitRange in ascending order."""


def cluster_queue(fact: Tree, found: Found) -> None:
    """Quotas in order; limits of borrowing and lending only in a cohort; the fields of its API version."""
    spec = table(fact, "spec")
    _check_version(fact, "cohort", "cohortName", found)
    _check_groups(spec, found)
    if not cohort_of(fact):
        _check_no_limits(spec, "without a cohort, there is no one to borrow from or lend to", "add cohortName", found)


def cohort(fact: Tree, found: Found) -> None:
    """Quotas in order; limits of borrowing and lending only below a parent."""
    spec = table(fact, "spec")
    _check_version(fact, "parent", "parentName", found)
    _check_groups(spec, found)
    if not parent_of(fact):
        message = "a cohort without a parent has no one to borrow from or lend to"
        _check_no_limits(spec, message, "add parentName", found)


def cohort_of(cluster_queue: Tree) -> str:
    """The cohort that a ClusterQueue names, in the field of either API version; empty for none."""
    spec = table(cluster_queue, "spec")
    return text(spec, "cohortName") or text(spec, "cohort")


def parent_of(cohort: Tree) -> str:
    """The parent that a Cohort names, in the field of either API version; empty for a root."""
    spec = table(cohort, "spec")
    return text(spec, "parentName") or text(spec, "parent")


def resource_flavor(fact: Tree, found: Found) -> None:
    """A flavor of a topology names its nodes; tolerations are those of a pod."""
    spec = table(fact, "spec")
    if text(spec, "topologyName") and not table(spec, "nodeLabels"):
        message = "also needs nodeLabels to select the nodes of the topology"
        found.append(_refused(("spec", "topologyName"), message, "add nodeLabels"))
    for index, toleration in enumerate(tables(spec, "tolerations")):
        if not text(toleration, "key") and text(toleration, "operator") != "Exists":
            path = ("spec", "tolerations", index, "operator")
            found.append(_refused(path, "must be Exists if there is no key"))


def topology(fact: Tree, found: Found) -> None:
    """The name of the host, if a level at all, is the lowest."""
    levels = [text(level, "nodeLabel") for level in tables(table(fact, "spec"), "levels")]
    if HOSTNAME in levels[:-1]:
        path = ("spec", "levels", levels.index(HOSTNAME), "nodeLabel")
        found.append(_refused(path, f"{HOSTNAME} must be the lowest level", "move it to the end"))


def priority_class(fact: Tree, found: Found) -> None:
    """Names and values of the system's own classes are the system's."""
    system = name_of(fact).startswith("system-")
    if fact["value"] > HIGHEST_PRIORITY and not system:
        found.append(_refused(("value",), f"must be at most {HIGHEST_PRIORITY}, not {fact['value']}"))


def limit_range(fact: Tree, found: Found) -> None:
    """The bounds and defaults of each entry are in ascending order."""
    for index, item in enumerate(tables(table(fact, "spec"), "limits")):
        path = ("spec", "limits", index)
        if item["type"] == "Pod":
            for key in ("default", "defaultRequest"):
                if table(item, key):
                    found.append(_refused((*path, key), "limits of type Pod have no defaults"))
        _check_ascending(item, path, found)
        for name, ratio in table(item, "maxLimitRequestRatio").items():
            if parse(ratio).nano < NANO:
                at = (*path, "maxLimitRequestRatio", name)
                found.append(_refused(at, f"must be at least 1, not {ratio}"))


def _check_ascending(item: Tree, path: Path, found: Found) -> None:
    for place, upper in enumerate(_BOUNDS):
        for name, amount in table(item, upper).items():
            below = [lower for lower in _BOUNDS[:place] if name in table(item, lower)]
            for lower in below:
                least = item[lower][name]
                if parse(amount) < parse(least):
                    message = f"must be at least {lower} ({least}), not {amount}"
                    found.append(_refused((*path, upper, name), message))


def _check_version(fact: Tree, older: str, newer: str, found: Found) -> None:
    """v1beta2 renamed the fields that name a cohort; the API server drops the other one."""
    wrong, right = (older, newer) if fact["apiVersion"].endswith("/v1beta2") else (newer, older)
    if text(table(fact, "spec"), wrong):
        message = f"is not a field of {fact['apiVersion']}"
        found.append(_refused(("spec", wrong), message, f"write {right}"))


def _check_groups(spec: Tree, found: Found) -> None:
    groups = tables(spec, "resourceGroups")
    resources: list[str] = []
    flavors: list[str] = []
    for index, group in enumerate(groups):
        path = ("spec", "resourceGroups", index)
        covered = texts(group, "coveredResources")
        names = [text(flavor, "name") for flavor in tables(group, "flavors")]
        for place, before, values in duplicates((), covered):
            found.append(duplicate((*path, "coveredResources", place), (), values, before))
        _check_apart(covered, resources, "resource", (*path, "coveredResources"), found)
        _check_apart(names, flavors, "flavor", (*path, "flavors"), found)
        for place, flavor in enumerate(tables(group, "flavors")):
            _check_covered(flavor, covered, (*path, "flavors", place), found)


def _check_apart(names: list[str], earlier: list[str], what: str, path: Path, found: Found) -> None:
    """A resource, and a flavor, can be part of one resource group only."""
    for index, name in enumerate(names):
        if name in earlier:
            message = f"{what} {name} is already in an earlier resource group"
            found.append(_refused((*path, index), message, "a resource or flavor can be in only one group"))
    earlier += names


def _check_covered(flavor: Tree, covered: list[str], path: Path, found: Found) -> None:
    names = [text(resource, "name") for resource in tables(flavor, "resources")]
    if names != covered:
        message = f"has quotas for {', '.join(names)}, but the group covers {', '.join(covered)}"
        hint = "list the resources in the order of coveredResources"
        found.append(_refused((*path, "resources"), message, hint))


def _check_no_limits(spec: Tree, message: str, hint: str, found: Found) -> None:
    for path, quota in _quotas(spec):
        for key in ("borrowingLimit", "lendingLimit"):
            if quota.get(key) is not None:
                found.append(_refused((*path, key), message, f"{hint}, or remove {key}"))


def _quotas(spec: Tree) -> Iterator[tuple[Path, Tree]]:
    for i, group in enumerate(tables(spec, "resourceGroups")):
        for j, flavor in enumerate(tables(group, "flavors")):
            for k, quota in enumerate(tables(flavor, "resources")):
                yield ("spec", "resourceGroups", i, "flavors", j, "resources", k), quota


def _refused(path: Path, message: str, hint: str = "") -> SchemaProblem:
    return SchemaProblem(path, "TF561", message, hint)
