"""`trainform capacity`: would Kueue ever admit these jobs?"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from trainform.cli import DIFFERS, FAULTY, OK
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.core.compile import Compilation
    from trainform.review.capacity.verdicts import Capacity


@command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def capacity(form: str, root: str | None, env: tuple[str, ...]) -> int:
    """Check resource requests against Kueue quotas.

    Each job fits, waits (if all jobs start at once), is never admitted, or is unknown (because a cluster fact
    is not declared). The exit code is 1 if any job is never admitted. Nodes, admission checks and preemption
    are not taken into account.
    """
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import has_errors
    from trainform.workspace.compilation import compile_environments
    from trainform.workspace.discovery import discover

    workspace = discover(chosen_root(root), env)
    outcome = compile_environments(workspace.read(), workspace.problems)
    errors = outcome.errors()
    facts = [each for each in outcome.diagnostics if each.severity == "warning"]
    print_diagnostics([*errors, *facts], sys.stderr)
    # If a fact has an error, no verdict is reliable.
    sound = [each for each in outcome.compilations if not has_errors(each.diagnostics)]
    environments = {each.environment: _capacity(each) for each in sound}
    _print(environments, form)
    return report_failures(outcome.failures) or (FAULTY if errors else _exit_code(environments))


def _capacity(compilation: Compilation) -> Capacity:
    from trainform.review.capacity.demand import job_demand
    from trainform.review.capacity.verdicts import capacity as hold

    jobsets = [tree for job in compilation.jobs for tree in job.objects if tree["kind"] == "JobSet"]
    return hold([job_demand(tree, compilation.inputs.facts) for tree in jobsets], compilation.inputs.facts)


def _exit_code(environments: Mapping[str, Capacity]) -> int:
    return DIFFERS if any(each.has_never for each in environments.values()) else OK


def _print(environments: Mapping[str, Capacity], form: str) -> None:
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_result, print_text
    from trainform.review.capacity.text import render_capacity

    if form == "json":
        told = {name: each.to_json() for name, each in environments.items()}
        print_result("CapacityResult", environments=told)
    else:
        print_text(render_capacity(environments, colour=wants_colour(sys.stdout)))
