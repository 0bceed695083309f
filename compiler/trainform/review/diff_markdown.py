"""A difference as a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainform.diagnostics.order import counted
from trainform.review.changes import ORDER, Change
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

LIMIT = 65_536
"""Characters of a comment that forges take. Bytes are counted, which are never fewer."""

_SPARE = 1_024
"""Kept free for what others put around it, and for the line that says what was left out."""

_MOST_REASONS = 25
_MOST_ROWS = 40
_MOST_LINES = 20

_TITLES: dict[Change, str] = {
    "delete": "🔴 Deleted",
    "restart": "🟠 Restarts",
    "needs-suspend": "🟡 Needs suspend",
    "new": "🟢 New",
    "in-place": "🔵 Changes in place",
}
_ACTIVE = re.compile(r"[&<>|*_`\[\]@#~\\$]")
"""Characters that markdown, HTML or a forge would take for something."""


def render_markdown(diff: Diff) -> str:
    """Fits a comment whatever the size of the change: lists are cut, with a count of what was left out.

    Deletions and restarts come first, each job collapsed; then who is behind, and the totals.
    """
    head = [f"### trainform: {_escaped(headline(diff))}", ""]
    tail = [*_behind(diff), *_totals(diff)]
    room = LIMIT - _SPARE - _size(head) - _size(tail)
    return "\n".join([*head, *_jobs(diff, room), *tail]).rstrip() + "\n"


def _jobs(diff: Diff, room: int) -> Iterator[str]:
    """The jobs of each change under its title, as long as there is room; names alone need less of it."""
    for change in ORDER:
        jobs = [job for job in diff.jobs if job.change == change]
        if change not in _TITLES or not jobs:
            continue
        title = [f"**{_TITLES[change]}** ({len(jobs)})", ""]
        room -= _size(title)
        yield from title
        for index, job in enumerate(jobs):
            lines = _job(job)
            if _size(lines) > room:
                yield f"… and {counted(len(jobs) - index, 'more job')}: the comment is full, `trainform diff` lists all"
                yield ""
                break
            room -= _size(lines)
            yield from lines


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _job(job: JobDiff) -> list[str]:
    title = f"<b>{_escaped(job.full_name)}</b> in {_escaped(job.id[0])}"
    told = f": {_escaped(consequence(job))}" if consequence(job) else ""
    if not job.reasons:
        return [f"- {title}{told}", ""]
    return [
        f"<details><summary>{title}{told}</summary>",
        "",
        *_reasons(in_order(job)),
        "</details>",
        "",
    ]


def _reasons(reasons: Sequence[Reason]) -> Iterator[str]:
    """A table for each object."""
    shown = reasons[:_MOST_REASONS]
    for thing in dict.fromkeys(reason.object for reason in shown):
        yield f"| {_code(thing)} | before | after | |"
        yield "|---|---|---|---|"
        yield from (_row(reason) for reason in shown if reason.object == thing)
        yield ""
    if len(shown) < len(reasons):
        yield f"… and {counted(len(reasons) - len(shown), 'more field')}"
        yield ""


def _row(reason: Reason) -> str:
    before, after = map(_code, values(reason)) if reason.named else ("", "")
    return f"| {_code(field_of(reason))} | {before} | {after} | {marks(reason)} |"


def _behind(diff: Diff) -> list[str]:
    lines = list(behind_lines(diff))
    told = [_escaped(line) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        told.append(f"… and {counted(len(lines) - _MOST_LINES, 'more reason')}")
    return ["> " + "\n>\n> ".join(told), ""] if told else []


def _totals(diff: Diff) -> list[str]:
    head, rows = total_rows(diff)
    if not rows:
        return []
    table = [f"| {' | '.join(map(_escaped, row))} |" for row in (head, *rows[:_MOST_ROWS])]
    table.insert(1, "|" + "---|" * len(head))
    left = len(rows) - _MOST_ROWS
    return [*table, *([f"… and {counted(left, 'more queue')}"] if left > 0 else [])]


def _code(text: str) -> str:
    """A code span for a cell of a table. Nothing in it is taken for markdown, HTML, a mention or a link."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


def _escaped(text: str) -> str:
    """Text outside of code, in markdown or in HTML."""
    return _ACTIVE.sub(lambda match: f"&#{ord(match[0])};", text)
