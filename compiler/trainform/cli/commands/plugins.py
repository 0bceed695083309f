"""`trainform plugins`: list the plugins in execution order."""

from __future__ import annotations

import click

from trainform.cli import OK
from trainform.cli.options import command


@command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def plugins(form: str) -> int:
    """List the plugins in execution order."""
    from trainform.cli.terminal import print_result, print_table
    from trainform.workspace.compilation import installed

    rows = [(each.plugin.name, each.package, each.version) for each in installed()]
    if form == "json":
        entries = [{"name": name, "package": package, "version": version} for name, package, version in rows]
        print_result("PluginList", plugins=entries)
    else:
        print_table(("NAME", "PACKAGE", "VERSION"), rows)
    return OK
