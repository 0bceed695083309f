"""A difference as one page that needs nothing else: no script, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from trainform.review.diff import Diff, JobDiff, Reason
from trainform.review.diff_words import (
    VERBS,
    behind_lines,
    consequence,
    field_of,
    headline,
    in_order,
    marks,
    total_rows,
    values,
)

STYLE = """\
:root { color-scheme: light dark; --line: #8884; --delete: #c62828; --restart: #d84315;
  --needs-suspend: #a66f00; --new: #2e7d32; --in-place: #1565c0; }
@media (prefers-color-scheme: dark) { :root { --delete: #ff8a80; --restart: #ffab91;
  --needs-suspend: #ffd54f; --new: #a5d6a7; --in-place: #90caf9; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
details, .flat { border: 1px solid var(--line); border-radius: 6px; margin: 0.5rem 0; padding: 0.5rem 0.75rem; }
summary { cursor: pointer; }
.change { font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
"""


def render_html(diff: Diff) -> str:
    """The whole page."""
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>trainform: {escape(headline(diff))}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
            f"<h1>{escape(headline(diff))}</h1>\n",
            *render_section(diff),
            "</body>\n</html>\n",
        ]
    )


def render_section(diff: Diff) -> Iterator[str]:
    """The page without its frame and title, for a page that shows more than a difference; it needs `STYLE`."""
    for job in diff.jobs:
        if job.change != "behind":
            yield from _job(job)
    yield from (f'<p class="flat">{escape(line)}</p>\n' for line in behind_lines(diff))
    head, rows = total_rows(diff)
    if rows:
        yield "<h2>Totals</h2>\n"
        yield from _table(head, [[escape(cell) for cell in row] for row in rows])


def _job(job: JobDiff) -> Iterator[str]:
    told = consequence(job)
    title = (
        f'<span class="change" style="color: var(--{job.change})">{VERBS[job.change]}</span> '
        f"<code>{escape(job.full_name)}</code> in {escape(job.id[0])}" + (f": {escape(told)}" if told else "")
    )
    if not job.reasons:
        yield f'<div class="flat">{title}</div>\n'
        return
    yield f"<details><summary>{title}</summary>\n"
    reasons = in_order(job)
    for thing in dict.fromkeys(reason.object for reason in reasons):
        rows = [_row(reason) for reason in reasons if reason.object == thing]
        yield from _table([thing, "before", "after", ""], rows)
    yield "</details>\n"


def _row(reason: Reason) -> list[str]:
    before, after = values(reason) if reason.named else ("", "")
    cells = [f"<code>{escape(cell)}</code>" if cell else "" for cell in (field_of(reason), before, after)]
    return [*cells, escape(marks(reason))]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells of `rows` are HTML, those of `head` text."""
    yield '<div class="scroll"><table>\n<tr>' + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>\n"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n"
    yield "</table></div>\n"
