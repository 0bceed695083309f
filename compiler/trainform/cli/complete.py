"""What a shell offers after the Tab key: names of jobs, environments, runtimes and files of the repository.

A repository that cannot be read offers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from trainform.io.repository import Repository

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _offering(names: Callable[[Repository], Iterable[str]]) -> Complete:
    """Offer those `names` of the repository that begin with what was typed."""

    def complete(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from trainform.io.repository import find_root, open_repository

        root = ctx.params.get("root") or ctx.find_root().params.get("root") or find_root(".")
        found = {name for name in names(open_repository(root)[0]) if name.startswith(typed)}
        return [CompletionItem(name) for name in sorted(found) if name.isprintable()]

    return complete


def _jobs(repository: Repository) -> Iterable[str]:
    from trainform.workspace.selection import names_to_offer

    return names_to_offer(repository)


def _environments(repository: Repository) -> Iterable[str]:
    return (folder.rpartition("/")[2] for folder in repository.environments())


def _runtimes(repository: Repository) -> Iterable[str]:
    from trainform.workspace.runtimes import known_runtimes

    return known_runtimes(repository).by_name()


job = _offering(_jobs)
environment = _offering(_environments)
runtime = _offering(_runtimes)
