"""A diff as one self-contained HTML page, without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from trainform.diagnostics.order import counted
from trainform.review.diff.model import Diff
from trainform.review.diff.wording import (
    HighlightWords,
    ReasonWords,
    Story,
    behind_lines,
    cost_rows,
    headline,
    meanings,
    stories,
    total_rows,
    verb,
)

STYLE = """\
:root { color-scheme: light dark; --line: #8884; --delete: #c62828; --orphan: var(--delete); --restart: #d84315;
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
.totals :is(th, td) { white-space: nowrap; }
.words { font-size: 0.85em; margin: 1.5rem 0; }
.words dt { float: left; clear: left; margin-right: 0.5em; font-weight: 600; }
.words dd { margin: 0; }
@media (max-width: 46rem) {
  h1 { font-size: 1.4rem; }
  .fields :is(tr, th, td), .fields tbody { display: block; border: 0; padding: 0; }
  .fields tr { border-bottom: 1px solid var(--line); padding: 0.3rem 0; }
  .fields th:nth-child(n + 2), .fields td:empty { display: none; }
  .fields td:nth-child(2)::before { content: "before "; opacity: 0.7; }
  .fields td:nth-child(3)::before { content: "after "; opacity: 0.7; }
}
"""

_MOST_NAMES = 1_000


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
    """The page's body without its title, for embedding in a page that includes `STYLE`."""
    for story in stories(diff):
        yield from _story(story)
    yield from (f'<p class="flat">{escape(line)}</p>\n' for line in behind_lines(diff))
    yield from _totals("Totals of the queues that change, before → after", *total_rows(diff))
    yield from _totals("What all jobs cost, before → after", *cost_rows(diff))
    if words := meanings(diff):
        told = (f"<dt>{word}</dt><dd>{escape(meaning)}</dd>" for word, meaning in words.items())
        yield f'<dl class="words">{"".join(told)}</dl>\n'


def _totals(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield f"<h2>{title}</h2>\n"
        yield from _table(head, [[escape(cell) for cell in row] for row in rows], "totals")


def _story(story: Story) -> Iterator[str]:
    effect = f": {escape(story.consequence)}" if story.consequence else ""
    head = (
        f'<span class="change" style="color: var(--{story.change})">{verb(story.change, len(story.jobs))}</span> '
        f"<code>{escape(story.title)}</code> in {escape(story.environment)}{effect}"
    )
    told = "".join(map(_highlight, story.highlights))
    if told or not story.reasons:
        yield f'<div class="flat">{head}{f"<ul>{told}</ul>" if told else ""}</div>\n'
        head = counted(len(story.reasons), "changed field")
    if not story.reasons:
        return
    yield f"<details><summary>{head}</summary>\n"
    if story.is_long:
        yield f"<p>{escape(story.names(_MOST_NAMES))}</p>\n"
    for thing, reasons in story.tables():
        yield from _table([thing, "before", "after", ""], [_row(reason) for reason in reasons])
    yield "</details>\n"


def _highlight(words: HighlightWords) -> str:
    label = f"<strong>{escape(words.label)}</strong>" if words.privilege else escape(words.label)
    before = f"<code>{escape(words.before)}</code> → " if words.before else ""
    return f"<li>{label} ({escape(words.places)}): {before}<code>{escape(words.after)}</code></li>"


def _row(reason: ReasonWords) -> list[str]:
    cells = [f"<code>{escape(cell)}</code>" if cell else "" for cell in reason[1:4]]
    return [*cells, escape(reason.marks)]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], name: str = "fields") -> Iterator[str]:
    """Cells of `rows` are HTML, those of `head` text."""
    yield f'<div class="scroll"><table class="{name}">\n<tr>'
    yield "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>\n"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n"
    yield "</table></div>\n"
