"""Options that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trainform.cli import complete

if TYPE_CHECKING:
    from trainform.workspace.shards import Shard

F = TypeVar("F", bound=Callable[..., Any])


def root_option(command: F) -> F:
    """`--root`, before or after the command's name."""
    return click.option(
        "--root",
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="Repository root. Default: the current folder or its closest parent with a trainform.yaml.",
    )(command)


def repository_options(command: F) -> F:
    """`--root` and `--env`, before or after the command's name."""
    env = click.option(
        "--env",
        multiple=True,
        metavar="ENV",
        callback=_environments,
        shell_complete=complete.environment,
        help="Only this environment; can be repeated.",
    )
    return root_option(env(command))


def _environments(ctx: click.Context, _param: click.Parameter, env: tuple[str, ...]) -> tuple[str, ...]:
    """The values of `--env`, before or after the command's name; empty means all."""
    return env or tuple(ctx.find_root().params.get("env") or ())


def scale_options(command: F) -> F:
    """`--shard` and `--workers`, for repositories of many thousand jobs. They do not change the result."""
    shard = click.option(
        "--shard",
        metavar="K/N",
        help="Process shard K of N; jobs are assigned by a hash of their name.",
    )
    workers = click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        callback=lambda ctx, param, workers: workers or 0,
        help="Number of processes. Default: one per processor.",
    )
    return shard(workers(command))


def chosen_shard(shard: str | None) -> Shard:
    """The shard of `--shard`; all jobs without it."""
    from trainform.workspace.shards import ALL, parse

    return parse(shard) if shard else ALL


def cache_option(command: F) -> F:
    """`--no-cache`, which does not change the result."""
    return click.option("--no-cache", is_flag=True, help="Read every file, even if it did not change.")(command)


_VOLUME = "trainform.volume"


def _set_volume(ctx: click.Context, param: click.Parameter, given: bool) -> None:
    if given and ctx.meta.setdefault(_VOLUME, param.name) != param.name:
        raise click.UsageError("--quiet and --verbose exclude each other", ctx)


def _volume(name: str, text: str) -> click.Option:
    flags = [f"-{name[0]}", f"--{name}"]
    return click.Option(flags, is_flag=True, expose_value=False, callback=_set_volume, help=text)


QUIET = _volume("quiet", "Print only problems and results: no progress, and not what was written.")
VERBOSE = _volume("verbose", "Print every problem and file, where otherwise the rest is counted.")


def is_quiet() -> bool:
    """Whether only problems and results are wanted."""
    return click.get_current_context().meta.get(_VOLUME) == QUIET.name


def is_verbose() -> bool:
    """Whether every problem and file is wanted."""
    return click.get_current_context().meta.get(_VOLUME) == VERBOSE.name


class Command(click.Command):
    """A command with `--quiet` and `--verbose`, whose progress is shown on a terminal. It reports InvocationError as a
    usage error of click, and plugins that do not load."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *own, help_option = super().get_params(ctx)
        return [*own, QUIET, VERBOSE, help_option]

    def invoke(self, ctx: click.Context) -> Any:
        from trainform.cli.streams import is_terminal

        if is_quiet() or os.environ.get("CI") or not is_terminal(sys.stderr):
            return self._invoked(ctx)
        from trainform.cli.progress import shown

        with shown():
            return self._invoked(ctx)

    def _invoked(self, ctx: click.Context) -> Any:
        from trainform.core.registry import PluginError
        from trainform.workspace import InvocationError

        try:
            return super().invoke(ctx)
        except PluginError as error:
            raise click.ClickException(str(error)) from error
        except InvocationError as error:
            if error.option:
                raise click.BadParameter(str(error), ctx, param_hint=error.option) from error
            raise click.ClickException(str(error)) from error


command = partial(click.command, cls=Command)
"""`click.command` for commands that use a repository."""


def chosen_root(root: str | None) -> str:
    """The value of `--root`, before or after the command's name; else found from the current folder."""
    from trainform.io.repository import find_root

    chosen = root or click.get_current_context().find_root().params.get("root")
    return str(chosen) if chosen else find_root(".")
