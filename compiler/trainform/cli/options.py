"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def repository_options(command: F) -> F:
    """`--root` and `--env`, which may stand before the command's name or after it."""
    root = click.option(
        "--root",
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="The repository. Default: the nearest folder above with trainform.yaml, else this one.",
    )
    env = click.option("--env", multiple=True, metavar="ENV", help="Only this environment; may repeat.")
    return root(env(command))


def chosen_root(root: str | None) -> str:
    """The repository of `--root`, wherever in the command line it stood."""
    from trainform.io.repository import find_root

    chosen = root or click.get_current_context().find_root().params.get("root")
    return str(chosen) if chosen else find_root(".")


def chosen_environments(env: tuple[str, ...]) -> tuple[str, ...]:
    """The environments of `--env`, wherever in the command line it stood; none means all."""
    return env or tuple(click.get_current_context().find_root().params.get("env") or ())
