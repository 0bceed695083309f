"""Checks cluster facts against what the compiler reads of the Kubernetes, Kueue, Volcano and KAI APIs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainform.diagnostics import Diagnostic, Severity
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.fact_kinds import FACT_VERSIONS, KAI_TOPOLOGY, fact_kind
from trainform.k8s.names import dns1123_label, dns1123_subdomain
from trainform.k8s.rules import fact as fact_rules
from trainform.k8s.rules.parts import Found
from trainform.k8s.schema import validate as schema
from trainform.k8s.schema.definitions import schema_at
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, name_of
from trainform.source import Document

WARNINGS = frozenset({"TF101", "TF563"})
"""Codes that leave a fact usable: a newer API may know the field, or the fact may be declared later."""


_RULES: dict[str, Callable[[Tree, Found], None]] = {
    "LimitRange": fact_rules.limit_range,
    "PriorityClass": fact_rules.priority_class,
    "ClusterQueue": fact_rules.cluster_queue,
    "Cohort": fact_rules.cohort,
    "ResourceFlavor": fact_rules.resource_flavor,
    "Topology": fact_rules.topology,
    KAI_TOPOLOGY: fact_rules.topology,
}
"""Rules beyond the schemas."""


def check(fact: Tree) -> list[SchemaProblem]:
    """Problems of one fact of a known kind; codes in `WARNINGS` are warnings. Other rules need a tree that fits its
    schema."""
    kind, version, name = fact_kind(fact), fact["apiVersion"], name_of(fact)
    versions = FACT_VERSIONS[kind]
    if version not in versions:
        hint = did_you_mean(version, versions) or f"write apiVersion: {versions[0]}"
        return [SchemaProblem(("apiVersion",), "TF104", f'apiVersion "{version}" has no kind {fact["kind"]}', hint)]
    found = Found(_as_of_a_fact(kind, schema.check(kind, fact)))
    rule = dns1123_label if kind == "Namespace" else dns1123_subdomain
    if name and (reason := rule(name)):
        found.tell(("metadata", "name"), "TF104", f'"{name}" {reason}')
    if kind in _RULES and all(problem.code in WARNINGS for problem in found):
        _RULES[kind](fact, found)
    return found


def _as_of_a_fact(kind: str, problems: list[SchemaProblem]) -> Iterator[SchemaProblem]:
    """The same in the codes of facts: a value that is no amount, or none of a few choices, is TF104 whatever its type,
    and fields of a mapping that stands in a wrong place are no problems of their own."""
    misplaced = {problem.path for problem in problems if problem.code == "TF102"}
    for problem in problems:
        if problem.code == "TF102" and schema_at(kind, problem.path).keys() & {"enum", "pattern"}:
            yield problem._replace(code="TF104")
        elif problem.code != "TF101" or problem.path[:-1] not in misplaced:
            yield problem


def diagnose(document: Document) -> list[Diagnostic]:
    """A fact's problems as diagnostics of its document."""
    return [as_diagnostic(problem, document) for problem in check(document.tree)]


def as_diagnostic(problem: SchemaProblem, document: Document) -> Diagnostic:
    """The diagnostic of a problem; an unknown field is shown at its key."""
    code, path = problem.code, problem.path
    severity: Severity = "warning" if code in WARNINGS else "error"
    at = document.key_position(path) if code == "TF101" else None
    return Diagnostic(code, severity, problem.message, problem.hint, path, document, at)
