"""What a shell offers after the Tab key, by what an argument or an option names.

A repository that cannot be read offers nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _offering(what: str, *also: str) -> Complete:
    """Offer names that begin with what was typed: of `what`, and once something is typed, of `also`. Both are functions
    of `workspace.offers.names`."""

    def complete(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from trainform.io.repository import find_root, open_repository
        from trainform.workspace.offers import names

        root = ctx.params.get("root") or ctx.find_root().params.get("root") or find_root(".")
        repository = open_repository(root)[0]
        offers = [getattr(names, each)(repository) for each in (what, *(also if typed else ()))]
        found = {name for offer in offers for name in offer if name and name.startswith(typed)}
        return [CompletionItem(name) for name in sorted(found) if name.isprintable()]

    return complete


job = _offering("jobs")
explained = _offering("jobs", "codes", "variables")
environment = _offering("environments")
runtime = _offering("runtimes")
queue = _offering("queues")
fact_kind = _offering("fact_kinds")
