"""A difference for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from trainform.diagnostics.console import Style, aligned, styled
from trainform.review.diff.grouping import Group, groups, reasons_of
from trainform.review.diff.model import Diff, Reason
from trainform.review.diff.update_rules import Change
from trainform.review.diff.wording import (
    are_listed,
    behind_lines,
    consequence,
    field_of,
    headline,
    marks,
    names,
    object_of,
    plain,
    title,
    total_rows,
    values,
)

_DIM: Style = {"dim": True}
_STYLES: dict[Change, Style] = {
    "delete": {"fg": "red", "bold": True},
    "restart": {"fg": "red"},
    "needs-suspend": {"fg": "yellow"},
    "new": {"fg": "green"},
    "in-place": {"fg": "cyan"},
    "behind": _DIM,
}

_WIDEST = max(map(len, _STYLES))

_MOST_REASONS = 20
"""Reasons that are shown: the first ones, which are the gravest."""


_NAMES = textwrap.TextWrapper(
    100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
)


def render_text(diff: Diff, *, colour: bool) -> str:
    """Jobs with their reasons, who is behind, the table of totals, and a line that counts it all."""
    told = groups(diff.jobs)
    several = len({jobs[0].id[0] for jobs in told}) > 1 or any(env != "default" for env, _ in diff.totals.balances)
    blocks = ["\n".join(_group(jobs, several, colour)) for jobs in told]
    blocks += ["\n".join(lines)] if (lines := list(behind_lines(diff))) else []
    blocks += ["\n".join(table)] if (table := _totals(diff)) else []
    return "\n\n".join([*blocks, headline(diff)]) + "\n"


def _group(jobs: Group, with_environment: bool, colour: bool) -> Iterator[str]:
    environment, change = jobs[0].id[0], jobs[0].change
    where = f"{title(jobs)} in {plain(environment)}" if with_environment else title(jobs)
    told = consequence(jobs)
    verb = styled(change, _STYLES[change], colour=colour) + " " * (_WIDEST - len(change))
    yield f"{verb}  {where}" + (f": {told}" if told else "")
    if are_listed(jobs):
        yield from _NAMES.wrap(names(jobs))
    reasons = reasons_of(jobs)
    shown = reasons[:_MOST_REASONS]
    several = len({reason.object for reason in reasons}) > 1
    whats = [f"{object_of(jobs, reason)} {field_of(reason)}" if several else field_of(reason) for reason in shown]
    width = max(map(len, whats), default=0)
    for reason, what in zip(shown, whats, strict=True):
        yield f"  {what.ljust(width)}{_change(reason, colour)}".rstrip()
    if len(shown) < len(reasons):
        yield f"  and {len(reasons) - len(shown)} more"


def _change(reason: Reason, colour: bool) -> str:
    before, after = values(reason)
    change = f"  {before} → {after}" if reason.named else ""
    marked = marks(reason)
    return change + styled(f"  ({marked})" if marked else "", _DIM, colour=colour)


def _totals(diff: Diff) -> list[str]:
    head, rows = total_rows(diff)
    if not rows:
        return []
    return aligned([[word if "/" in word else word.upper() for word in head], *rows])
