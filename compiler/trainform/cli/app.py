"""The command group. Each command is a module, imported when it is called."""

from __future__ import annotations

from importlib import import_module

import click

from trainform import __version__
from trainform.cli.options import repository_options
from trainform.diagnostics.suggest import did_you_mean

COMMANDS = (
    "capacity",
    "check",
    "ci",
    "cmp",
    "completion",
    "diff",
    "explain",
    "facts",
    "init",
    "job",
    "keys",
    "krm",
    "lsp",
    "migrate",
    "plugins",
    "render",
    "report",
    "rerun",
    "retire",
    "run",
    "runtimes",
    "schema",
    "status",
    "upgrade",
    "validate",
)
"""The command `x` is the function `x` in `trainform.cli.commands.x`."""


class LazyGroup(click.Group):
    """A group that imports a command only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"trainform.cli.commands.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            hint = did_you_mean(name, COMMANDS) or f"the commands are {', '.join(COMMANDS)}"
            ctx.fail(f'no command "{name}": {hint}')
        return super().resolve_command(ctx, args)


SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyGroup, context_settings=SETTINGS)
@click.version_option(__version__, message="trainform %(version)s")
@repository_options
def app(root: str | None, env: tuple[str, ...]) -> None:
    """Compile the Kubeflow TrainJobs in a git repository into Kubernetes manifests.

    Exit codes: 0 success; 1 the command found what it checks for; 2 an error in the input or the
    command line; 70 a bug in trainform.
    """
