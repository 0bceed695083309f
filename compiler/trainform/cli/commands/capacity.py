"""`trainform capacity`: would Kueue ever admit these jobs?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from trainform.cli import DIFFERS, FAULTY, OK
from trainform.cli.options import check_environments, chosen_root, repository_options

if TYPE_CHECKING:
    from trainform.cli.compiling import Inputs, Outcome
    from trainform.core.facts import Facts
    from trainform.diagnostics import Diagnostic
    from trainform.review.capacity import Capacity
    from trainform.source import Document


@click.command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def capacity(form: str, root: str | None, env: tuple[str, ...]) -> int:
    """Hold what the jobs ask for against the quotas of the declared ClusterQueues.

    A job fits, or waits when all jobs start at once, or is never admitted, or is unknown for want of a
    declared fact. The exit code is 1 when a job is never admitted. Nodes, admission checks and preemption
    are left out of account.
    """
    from trainform.cli.bug import report_failures
    from trainform.cli.compiling import compile_inputs
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import has_errors

    check_environments(env)
    inputs = _inputs(chosen_root(root))
    outcome = compile_inputs(inputs, wants_job=not has_errors(inputs.diagnostics))
    wrong = _fact_problems(inputs.documents)
    errors = [each for each in outcome.all_diagnostics() if each.severity == "error"]
    problems = [*errors, *wrong]
    print_diagnostics(problems, sys.stderr)
    environments = {} if has_errors(wrong) else _by_environment(outcome, inputs)
    _print(environments, form)
    code = FAULTY if has_errors(problems) else _exit_code(environments)
    return report_failures(outcome.failures) or code


def _inputs(root: str) -> Inputs:
    from trainform.cli.compiling import read_repository
    from trainform.io.repository import open_repository

    repository, problems = open_repository(root)
    inputs = read_repository(repository)
    inputs.diagnostics[:0] = problems
    return inputs


def _fact_documents(documents: Iterable[Document]) -> list[Document]:
    from trainform.api.kinds import subject

    return [document for document in documents if subject(document.tree)[0] == "fact"]


def _fact_problems(documents: Iterable[Document]) -> list[Diagnostic]:
    """What is wrong with the cluster facts: with errors among them no verdict would be worth anything."""
    from trainform.diagnostics.order import has_errors
    from trainform.k8s.fact_links import diagnose_links
    from trainform.k8s.facts import diagnose

    facts = _fact_documents(documents)
    found = [problem for document in facts for problem in diagnose(document)]
    return found if has_errors(found) else [*found, *diagnose_links(facts)]


def _by_environment(outcome: Outcome, inputs: Inputs) -> dict[str, Capacity]:
    """The capacity of each environment that has a job, in order of its first one."""
    from trainform.core.inputs import sort
    from trainform.review.capacity import capacity as hold
    from trainform.review.demand import JobDemand, job_demand

    facts: Facts = sort(_fact_documents(inputs.documents)).facts
    demands: dict[str, list[JobDemand]] = {}
    for job in outcome.jobs:
        jobsets = [tree for tree in job.objects if tree["kind"] == "JobSet"]
        demands.setdefault(job.environment, []).extend(job_demand(tree, facts) for tree in jobsets)
    return {environment: hold(jobs, facts) for environment, jobs in demands.items()}


def _exit_code(environments: Mapping[str, Capacity]) -> int:
    return DIFFERS if any(each.has_never for each in environments.values()) else OK


def _print(environments: Mapping[str, Capacity], form: str) -> None:
    from trainform.cli.terminal import print_json, wants_colour
    from trainform.diagnostics.documents import API_VERSION
    from trainform.review.capacity_text import render_capacity

    if form == "json":
        told = {name: each.to_json() for name, each in environments.items()}
        print_json({"apiVersion": API_VERSION, "kind": "CapacityResult", "environments": told})
    else:
        sys.stdout.write(render_capacity(environments, colour=wants_colour(sys.stdout)))
