"""A difference for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

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

_RESET = "\x1b[0m"
_DIM = "\x1b[2m"
_COLOURS: dict[Change, str] = {
    "delete": "\x1b[1;31m",
    "restart": "\x1b[31m",
    "needs-suspend": "\x1b[33m",
    "new": "\x1b[32m",
    "in-place": "\x1b[36m",
    "behind": _DIM,
}

_WIDEST = max(map(len, _COLOURS))

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
    verb = _painted(change, _COLOURS[change], colour) + " " * (_WIDEST - len(change))
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
    return change + (_painted(f"  ({marked})", _DIM, colour) if marked else "")


def _painted(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{_RESET}" if colour else text


def _totals(diff: Diff) -> list[str]:
    head, rows = total_rows(diff)
    if not rows:
        return []
    return _aligned([[word if "/" in word else word.upper() for word in head], *rows])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
