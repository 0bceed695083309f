"""`trainform plugins`: list the plugins in execution order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.workspace.discovery import Workspace

FIELDS = ("name", "package", "version", "state")


@command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def plugins(form: str, root: str | None, env: tuple[str, ...]) -> int:  # noqa: ARG001 - shared
    """List the plugins, in the order in which they run.

    A plugin is "disabled" if trainform.yaml says so, and "not required" if trainform.yaml lists the packages
    that it requires without this one. Neither is loaded.
    """
    from trainform.cli.terminal import print_diagnostics, print_result, print_table
    from trainform.diagnostics.order import has_errors
    from trainform.workspace.discovery import discover

    workspace = discover(chosen_root(root))
    rows = list(_rows(workspace))
    if form == "json":
        print_result("PluginList", plugins=[dict(zip(FIELDS, row, strict=True)) for row in rows])
    else:
        print_table(tuple(map(str.upper, FIELDS)), rows)
    print_diagnostics(workspace.problems, sys.stderr)
    return FAULTY if has_errors(workspace.problems) else OK


def _rows(workspace: Workspace) -> Iterator[tuple[str, str, str, str]]:
    """The plugins in use, as they run; then the others by name."""
    from trainform.installed import PluginSet

    for each in workspace.plugins.load():
        yield each.plugin.name, each.package, each.version, "in use"
    disabled = {each.plugin for each in workspace.repository.settings.plugins.disabled}
    left_out = {*PluginSet.installed().entry_points} - {*workspace.plugins.entry_points}
    for other in sorted(left_out):
        yield other.name, other.package, other.version, "disabled" if other.name in disabled else "not required"
