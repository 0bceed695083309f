"""Webhook and CEL rules for cluster facts of valid shape: Kueue's for quotas, Kubernetes' for the others."""

from __future__ import annotations

from collections.abc import Iterator

from trainform.diagnostics import Path
from trainform.k8s.quantity import NANO, parse
from trainform.k8s.rules.parts import Found
from trainform.k8s.schema.keywords import duplicates
from trainform.k8s.schema.messages import duplicate
from trainform.k8s.tree import Tree, name_of, table, tables, text, texts

HOSTNAME = "kubernetes.io/hostname"
HIGHEST_PRIORITY = 10**9
"""Highest value of a non-system PriorityClass."""

_BOUNDS = ("min", "defaultRequest", "default", "max")
"""Amounts of a LimitRange, in ascending order."""


def cluster_queue(fact: Tree, found: Found) -> None:
    """Quotas are consistent, borrowing and lending limits need a cohort, and fields match the API version."""
    message = "without a cohort, there is no one to borrow from or lend to"
    _check_quotas(fact, "cohort", cohort_of(fact), message, found)


def cohort(fact: Tree, found: Found) -> None:
    """Quotas are consistent; borrowing and lending limits need a parent."""
    message = "a cohort without a parent has no one to borrow from or lend to"
    _check_quotas(fact, "parent", parent_of(fact), message, found)


def cohort_of(cluster_queue: Tree) -> str:
    """The ClusterQueue's cohort, from either API version's field; empty if none."""
    spec = table(cluster_queue, "spec")
    return text(spec, "cohortName") or text(spec, "cohort")


def parent_of(cohort: Tree) -> str:
    """The Cohort's parent, from either API version's field; empty for a root."""
    spec = table(cohort, "spec")
    return text(spec, "parentName") or text(spec, "parent")


def resource_flavor(fact: Tree, found: Found) -> None:
    """A flavor with a topology has node labels; tolerations follow the pod rules."""
    spec = table(fact, "spec")
    if text(spec, "topologyName") and not table(spec, "nodeLabels"):
        message = "also needs nodeLabels to select the nodes of the topology"
        _refuse(found, ("spec", "topologyName"), message, "add nodeLabels")
    for index, toleration in enumerate(tables(spec, "tolerations")):
        if not text(toleration, "key") and text(toleration, "operator") != "Exists":
            path = ("spec", "tolerations", index, "operator")
            _refuse(found, path, "must be Exists if there is no key")


def topology(fact: Tree, found: Found) -> None:
    """The hostname level, if present, is the lowest."""
    levels = [text(level, "nodeLabel") for level in tables(table(fact, "spec"), "levels")]
    if HOSTNAME in levels[:-1]:
        path = ("spec", "levels", levels.index(HOSTNAME), "nodeLabel")
        _refuse(found, path, f"{HOSTNAME} must be the lowest level", "move it to the end")


def priority_class(fact: Tree, found: Found) -> None:
    """System names and values are reserved."""
    system = name_of(fact).startswith("system-")
    if fact["value"] > HIGHEST_PRIORITY and not system:
        _refuse(found, ("value",), f"must be at most {HIGHEST_PRIORITY}, not {fact['value']}")


def limit_range(fact: Tree, found: Found) -> None:
    """Bounds and defaults of each entry are in ascending order."""
    for index, item in enumerate(tables(table(fact, "spec"), "limits")):
        path = ("spec", "limits", index)
        if item["type"] == "Pod":
            for key in ("default", "defaultRequest"):
                if table(item, key):
                    _refuse(found, (*path, key), "limits of type Pod have no defaults")
        _check_ascending(item, path, found)
        for name, ratio in table(item, "maxLimitRequestRatio").items():
            if parse(ratio).nano < NANO:
                at = (*path, "maxLimitRequestRatio", name)
                _refuse(found, at, f"must be at least 1, not {ratio}")


def _check_ascending(item: Tree, path: Path, found: Found) -> None:
    for place, upper in enumerate(_BOUNDS):
        for name, amount in table(item, upper).items():
            below = [lower for lower in _BOUNDS[:place] if name in table(item, lower)]
            for lower in below:
                least = item[lower][name]
                if parse(amount) < parse(least):
                    message = f"must be at least {lower} ({least}), not {amount}"
                    _refuse(found, (*path, upper, name), message)


def _check_quotas(fact: Tree, older: str, lender: str, alone: str, found: Found) -> None:
    """Quotas of a ClusterQueue or Cohort. v1beta2 renamed `older`, the field with its `lender`; the API server drops
    the other version's field. `alone` is the message for limits without a lender."""
    spec, newer = table(fact, "spec"), f"{older}Name"
    wrong, right = (older, newer) if fact["apiVersion"].endswith("/v1beta2") else (newer, older)
    if text(spec, wrong):
        message = f"is not a field of {fact['apiVersion']}"
        _refuse(found, ("spec", wrong), message, f"write {right}")
    _check_groups(spec, found)
    for path, quota in _quotas(spec) if older == "cohort" else ():
        _check_lending_limit(quota, path, found)
    for path, quota in _quotas(spec) if not lender else ():
        for key in ("borrowingLimit", "lendingLimit"):
            if quota.get(key) is not None:
                _refuse(found, (*path, key), alone, f"add {newer}, or remove {key}")


def _check_lending_limit(quota: Tree, path: Path, found: Found) -> None:
    """Kueue's webhook: a ClusterQueue lends no more than it has. Cohorts may: they lend what is below them."""
    lending, nominal = quota.get("lendingLimit"), quota.get("nominalQuota")
    if lending is not None and nominal is not None and parse(nominal) < parse(lending):
        message = f"must be at most the nominalQuota ({nominal}), not {lending}"
        _refuse(found, (*path, "lendingLimit"), message)


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
    """A resource or flavor belongs to one resource group only."""
    for index, name in enumerate(names):
        if name in earlier:
            message = f"{what} {name} is already in an earlier resource group"
            _refuse(found, (*path, index), message, "a resource or flavor can be in only one group")
    earlier += names


def _check_covered(flavor: Tree, covered: list[str], path: Path, found: Found) -> None:
    names = [text(resource, "name") for resource in tables(flavor, "resources")]
    if names != covered:
        message = f"has quotas for {', '.join(names)}, but the group covers {', '.join(covered)}"
        hint = "list the resources in the order of coveredResources"
        _refuse(found, (*path, "resources"), message, hint)


def _quotas(spec: Tree) -> Iterator[tuple[Path, Tree]]:
    for i, group in enumerate(tables(spec, "resourceGroups")):
        for j, flavor in enumerate(tables(group, "flavors")):
            for k, quota in enumerate(tables(flavor, "resources")):
                yield ("spec", "resourceGroups", i, "flavors", j, "resources", k), quota


def _refuse(found: Found, path: Path, message: str, hint: str = "") -> None:
    found.tell(path, "TF561", message, hint)
