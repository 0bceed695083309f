"""`trainform capacity`: would Kueue ever admit these jobs?"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from trainform.cli import DIFFERS, FAULTY, OK
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.review.capacity.verdicts import Capacity


@command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def capacity(form: str, root: str | None, env: tuple[str, ...]) -> int:
    """Check resource requests against Kueue quotas.

    Each job fits, waits (if all jobs start at once), is never admitted, or is unknown (because a cluster fact
    is not declared). The exit code is 1 if any job is never admitted. Admission checks and preemption are not
    taken into account, nodes only if they are declared.
    """
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_diagnostics
    from trainform.workspace.discovery import discover
    from trainform.workspace.review.capacity import hold

    held = hold(discover(chosen_root(root), env))
    errors = held.outcome.errors()
    facts = [each for each in held.outcome.diagnostics if each.severity == "warning"]
    print_diagnostics([*errors, *facts], sys.stderr)
    _print(held.environments, form)
    return report_failures(held.outcome.failures) or (FAULTY if errors else _exit_code(held.environments))


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
