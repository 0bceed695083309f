"""A difference for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainform.review.changes import Change
from trainform.review.diff import Diff, JobDiff, Reason
from trainform.review.diff_words import (
    behind_lines,
    consequence,
    field_of,
    headline,
    in_order,
    marks,
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
"""Reasons of one job that are shown: the first ones, which are the gravest."""


def render_text(diff: Diff, *, colour: bool) -> str:
    """Jobs with their reasons, who is behind, the table of totals, and a line that counts it all."""
    jobs = [job for job in diff.jobs if job.change != "behind"]
    several = len({job.id[0] for job in jobs}) > 1 or any(env != "default" for env, _ in diff.totals.balances)
    blocks = ["\n".join(_job(job, several, colour)) for job in jobs]
    blocks += ["\n".join(lines)] if (lines := list(behind_lines(diff))) else []
    blocks += ["\n".join(table)] if (table := _totals(diff)) else []
    return "\n\n".join([*blocks, headline(diff)]) + "\n"


def _job(job: JobDiff, with_environment: bool, colour: bool) -> Iterator[str]:
    where = f"{job.full_name} in {job.id[0]}" if with_environment else job.full_name
    told = consequence(job)
    verb = _painted(job.change, _COLOURS[job.change], colour) + " " * (_WIDEST - len(job.change))
    yield f"{verb}  {where}" + (f": {told}" if told else "")
    reasons = in_order(job)
    shown = reasons[:_MOST_REASONS]
    whats = [_what(reason, reasons) for reason in shown]
    width = max(map(len, whats), default=0)
    for reason, what in zip(shown, whats, strict=True):
        yield f"  {what.ljust(width)}{_change(reason, colour)}".rstrip()
    if len(shown) < len(reasons):
        yield f"  and {len(reasons) - len(shown)} more"


def _what(reason: Reason, among: Sequence[Reason]) -> str:
    """The field; with its object where the reasons are of several."""
    several = any(each.object != reason.object for each in among)
    return f"{reason.object} {field_of(reason)}" if several else field_of(reason)


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
