"""`trainform krm`: the compiler as a KRM function, for kustomize, kpt and others."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainform.cli import FAULTY, OK
from trainform.cli.options import command

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.k8s.tree import Tree
    from trainform.output.krm.resource_list import ResourceList
    from trainform.output.krm.rewrite import Replacement
    from trainform.source import Document
    from trainform.workspace.compilation import Outcome

LOCAL = "config.kubernetes.io/local-config"
"""Annotation of objects that are for tools only: orchestrators do not apply them."""

OURS = ("job", "runtime", "environment")

NOT_TOLD = ("TF204",)
"""Codes not reported here: a function receives all kinds, and ignores those that are not its own."""


@command()
def krm() -> int:
    """Run as a kustomize or kpt function.

    Reads a ResourceList from stdin and writes one to stdout. TrainJobs are replaced by their rendered objects.
    Runtimes, their companions and Environments are removed, unless they are annotated with
    config.kubernetes.io/local-config: "true". All other items are left unchanged. The functionConfig is an
    Environment, or a ConfigMap whose keys are fields of an Environment's spec; it is optional.

    On an error, the items are left unchanged, `results` lists the problems, and the exit code is 2.
    """
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_bytes, print_diagnostics
    from trainform.diagnostics.order import has_errors
    from trainform.output.krm.config import environment_of
    from trainform.output.krm.resource_list import read_list
    from trainform.output.krm.results import function_results
    from trainform.output.krm.rewrite import Replacement, rewrite
    from trainform.workspace.compilation import compile_environments
    from trainform.workspace.inputs import STDIN, EnvironmentInputs, SourceDocuments

    found = read_list(sys.stdin.buffer.read(), STDIN)
    environment, problems = environment_of(found.config)
    documents = [*found.documents, *filter(None, [environment])]
    inputs = EnvironmentInputs(sources=SourceDocuments(documents, found.diagnostics))
    outcome = compile_environments([inputs], problems, wants_job=False)
    diagnostics = [each for each in outcome.all_diagnostics() if each.code not in NOT_TOLD]
    failed = has_errors(diagnostics)
    places = [Replacement()] * len(found.items) if failed else _places(found, outcome)
    print_diagnostics(_for_people(diagnostics), sys.stderr)
    print_bytes(rewrite(found, places, function_results(diagnostics)).encode())
    return report_failures(outcome.failures) or (FAULTY if failed else OK)


def _for_people(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """What to print on stderr, which an orchestrator mixes with other output: no infos."""
    return [each for each in diagnostics if each.severity != "info"]


def _places(found: ResourceList, outcome: Outcome) -> list[Replacement]:
    """The replacement of each item. Objects from an earlier run are replaced in place."""
    from trainform.output.krm.resource_list import orchestrated
    from trainform.output.krm.rewrite import Replacement

    rendered = {id(job.document): job.objects for job in outcome.jobs}
    by_name = {_name(tree): tree for objects in rendered.values() for tree in objects}
    there = {_name(item.tree) for item in found.items}
    companions = _companions(outcome)
    places = []
    for item in found.items:
        if renewed := by_name.get(_name(item.tree)):
            places.append(Replacement(False, [orchestrated(renewed, item.tree)]))
            continue
        made = [tree for tree in rendered.get(id(item), []) if _name(tree) not in there]
        places.append(Replacement(not _is_consumed(item, companions), made))
    return places


def _companions(outcome: Outcome) -> set[int]:
    """The companion objects of runtimes; each job gets its own copies."""
    runtimes = [runtime for each in outcome.compilations for runtime in each.inputs.runtimes.values()]
    return {id(tree) for runtime in runtimes for tree in runtime.companions}


def _is_consumed(item: Document, companions: set[int]) -> bool:
    from trainform.api.kinds import subject
    from trainform.k8s.labels import annotations_of

    ours = subject(item.tree)[0] in OURS or id(item.tree) in companions
    return ours and annotations_of(item.tree).get(LOCAL) != "true"


def _name(tree: Tree) -> tuple[str, ...]:
    from trainform.k8s.tree import metadata_of

    named = metadata_of(tree)
    return tuple(str(value) for value in (
        tree.get("apiVersion"), tree.get("kind"), named.get("namespace") or "default", named.get("name"),
    ))  # fmt: skip
