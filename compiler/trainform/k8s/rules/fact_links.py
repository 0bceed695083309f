"""References between facts: undeclared ones, and cycles of cohorts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainform.diagnostics import Diagnostic, Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.rules.fact import parent_of
from trainform.k8s.schema.facts import as_diagnostic
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, name_of, table, tables, text
from trainform.source import Document

Named = Mapping[tuple[str, str], Tree]
"""Cluster-wide facts by kind and name."""


def diagnose_links(documents: Iterable[Document]) -> list[Diagnostic]:
    """Problems in the references between valid facts; each missing fact is reported once."""
    facts = list(documents)
    declared = {(document.tree["kind"], name_of(document.tree)): document.tree for document in facts}
    told: dict[str, Diagnostic] = {}
    for document in facts:
        for problem in (*_missing(document.tree, declared), *_circle(document.tree, declared)):
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
        if (kind, name) not in declared:
            known = [other for k, other in declared if k == kind]
            hint = did_you_mean(name, known) or f"declare the {kind}, so that jobs can be checked against it"
            yield SchemaProblem(path, "TF563", f"{kind} {name} is not declared", hint)


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


def _circle(fact: Tree, declared: Named) -> Iterator[SchemaProblem]:
    if fact["kind"] != "Cohort":
        return
    parents = {name: parent_of(tree) for (kind, name), tree in declared.items() if kind == "Cohort"}
    way = circle(name_of(fact), parents)
    if way and way[-1] == way[0] == min(way):
        field = "parentName" if fact["apiVersion"].endswith("/v1beta2") else "parent"
        message = f"cohorts form a cycle: {' → '.join(way)}"
        hint = "remove a parent: Kueue admits nothing in a cycle"
        yield SchemaProblem(("spec", field), "TF562", message, hint)
