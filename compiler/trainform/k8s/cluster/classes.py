"""Classes that pods name and that must exist: as soon as classes of a kind are declared, those are all there are."""

from __future__ import annotations

from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.admission import ClusterFacts
from trainform.k8s.rules.parts import Found
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, table, tables, text

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Priority classes that every cluster has."""

BUILT_IN = {"PriorityClass": frozenset(SYSTEM_PRIORITIES)}


def check(pod_spec: Tree, facts: ClusterFacts) -> list[SchemaProblem]:
    """Paths count from the pod spec."""
    found = Found()
    _exists(pod_spec, "priorityClassName", "PriorityClass", "TF330", facts, found)
    _exists(pod_spec, "runtimeClassName", "RuntimeClass", "TF332", facts, found)
    for index, volume in enumerate(tables(pod_spec, "volumes")):
        claim = table(table(table(volume, "ephemeral"), "volumeClaimTemplate"), "spec")
        within = Found()
        _exists(claim, "storageClassName", "StorageClass", "TF333", facts, within)
        path = ("volumes", index, "ephemeral", "volumeClaimTemplate", "spec")
        found += [problem._replace(path=(*path, *problem.path)) for problem in within]
    return found


def priority_problem(name: str, facts: ClusterFacts) -> tuple[str, str] | None:
    """Message and hint if no PriorityClass is called `name`, which a gang scheduler reads elsewhere than in pods."""
    found = Found()
    _exists({"priorityClassName": name}, "priorityClassName", "PriorityClass", "TF330", facts, found)
    return (found[0].message, found[0].hint) if found else None


def _exists(tree: Tree, field: str, kind: str, code: str, facts: ClusterFacts, found: Found) -> None:
    name = text(tree, field)
    if not name or name in BUILT_IN.get(kind, ()) or facts.get(kind, name):
        return
    declared = facts.names(kind)
    if declared:
        hint = did_you_mean(name, declared) or f"declared: {', '.join(declared)}"
        found.tell((field,), code, f"{kind} {name!r} does not exist", hint)
