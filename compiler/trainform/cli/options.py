"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from trainform.workspace.shards import Shard

F = TypeVar("F", bound=Callable[..., Any])


def repository_options(command: F) -> F:
    """`--root` and `--env`, which may stand before the command's name or after it."""
    root = click.option(
        "--root",
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="Repository root. Default: the current folder or its closest parent with a trainform.yaml.",
    )
    env = click.option(
        "--env",
        multiple=True,
        metavar="ENV",
        callback=_environments,
        help="Only this environment; can be repeated.",
    )
    return root(env(command))


def _environments(ctx: click.Context, _param: click.Parameter, env: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `--env`, wherever in the command line it stood; none means all."""
    return env or tuple(ctx.find_root().params.get("env") or ())


def scale_options(command: F) -> F:
    """`--shard` and `--workers`: for repositories of many thousand jobs. The result does not depend on them."""
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
    """`--no-cache`: the result does not depend on it."""
    return click.option("--no-cache", is_flag=True, help="Read every file, even if it did not change.")(command)


class Command(click.Command):
    """A command whose requests may turn out to be impossible: it says so as click says that an option is wrong."""

    def invoke(self, ctx: click.Context) -> Any:
        from trainform.workspace import InvocationError

        try:
            return super().invoke(ctx)
        except InvocationError as error:
            if error.option:
                raise click.BadParameter(str(error), ctx, param_hint=error.option) from error
            raise click.ClickException(str(error)) from error


command = partial(click.command, cls=Command)
"""`click.command` for commands that look at a repository."""


def chosen_root(root: str | None) -> str:
    """The repository of `--root`, wherever in the command line it stood."""
    from trainform.io.repository import find_root

    chosen = root or click.get_current_context().find_root().params.get("root")
    return str(chosen) if chosen else find_root(".")
