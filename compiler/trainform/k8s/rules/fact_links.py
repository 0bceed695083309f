"""References between facts: undeclared ones, and cycles of cohorts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainform.diagnostics import Diagnostic, Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.fact_kinds import KAI_QUEUE, fact_kind
from trainform.k8s.rules.fact import parent_of
from trainform.k8s.schema.facts import as_diagnostic
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, name_of, table, tables, text
from trainform.source import Document

Named = Mapping[str, Mapping[str, Tree]]
"""Cluster-wide facts by name, by kind."""


def diagnose_links(documents: Iterable[Document]) -> list[Diagnostic]:
    """Problems in the references between valid facts; each missing fact is reported once."""
    facts = list(documents)
    declared: dict[str, dict[str, Tree]] = {}
    for document in facts:
        declared.setdefault(fact_kind(document.tree), {})[name_of(document.tree)] = document.tree
    cycles = _cycles({name: parent_of(tree) for name, tree in declared.get("Cohort", {}).items()})
    told: dict[str, Diagnostic] = {}
    for document in facts:
        for problem in (*_missing(document.tree, declared), *_circle(document.tree, cycles)):
            told.setdefault(problem.message, as_diagnostic(problem, document))
    return list(told.values())


def circle(start: str, parents: Mapping[str, str]) -> list[str]:
    """The cohorts of a cycle above `start`, with the repeated one last, or nothing. Kueue admits nothing in a
    ClusterQueue below a cycle."""
    way = {start: None}  # an ordered set
    here = start
    while parent := parents.get(here):
        if parent in way:
            return [*way, parent]
        way[parent] = None
        here = parent
    return []


def _missing(fact: Tree, declared: Named) -> Iterator[SchemaProblem]:
    for kind, name, path in _named(fact):
        known = declared.get(kind, {})
        if name not in known:
            what = kind.partition(".")[0]
            hint = did_you_mean(name, known) or f"declare the {what}, so that jobs can be checked against it"
            yield SchemaProblem(path, "TF563", f"{what} {name} is not declared", hint)


def _named(fact: Tree) -> Iterator[tuple[str, str, Path]]:
    """Kind, name and path of each fact that `fact` references; cohorts need no object."""
    spec = table(fact, "spec")
    if fact["kind"] == "LocalQueue":
        yield "ClusterQueue", text(spec, "clusterQueue"), ("spec", "clusterQueue")
    elif fact["kind"] == "ResourceFlavor" and (topology := text(spec, "topologyName")):
        yield "Topology", topology, ("spec", "topologyName")
    elif fact["kind"] == "ClusterQueue":
        for i, group in enumerate(tables(spec, "resourceGroups")):
            for j, flavor in enumerate(tables(group, "flavors")):
                path = ("spec", "resourceGroups", i, "flavors", j, "name")
                yield "ResourceFlavor", text(flavor, "name"), path
    elif fact_kind(fact) == KAI_QUEUE and (parent := text(spec, "parentQueue")):
        yield KAI_QUEUE, parent, ("spec", "parentQueue")


def _cycles(parents: Mapping[str, str]) -> dict[str, list[str]]:
    """Each cycle, by the first of its cohorts in the alphabet. Looks at each cohort once."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for start in parents:
        way: dict[str, None] = {}  # an ordered set
        here = start
        while here and here not in seen:
            seen.add(here)
            way[here] = None
            here = parents.get(here, "")
        if here in way:
            members = list(way)[list(way).index(here) :]
            first = members.index(min(members))
            found[min(members)] = [*members[first:], *members[:first], min(members)]
    return found


def _circle(fact: Tree, cycles: Mapping[str, list[str]]) -> Iterator[SchemaProblem]:
    if fact["kind"] == "Cohort" and (way := cycles.get(name_of(fact))):
        field = "parentName" if fact["apiVersion"].endswith("/v1beta2") else "parent"
        message = f"cohorts form a cycle: {' → '.join(way)}"
        hint = "remove a parent: Kueue admits nothing in a cycle"
        yield SchemaProblem(("spec", field), "TF562", message, hint)
