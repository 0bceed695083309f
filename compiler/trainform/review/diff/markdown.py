"""A diff as a pull request comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from trainform.diagnostics.escape import utf8
from trainform.diagnostics.order import counted
from trainform.review.diff.model import Diff
from trainform.review.diff.update_rules import ORDER, Change
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
)

LIMIT = 65_536
"""Forges' limit of a comment in characters. We count bytes, which are never fewer."""

_SPARE = 1_024
"""Reserved for text around the comment, and for the line that says what was omitted."""

_MOST_NAMES = 100
_MOST_REASONS = 25
_MOST_HIGHLIGHTS = 40
_MOST_ROWS = 40
_MOST_LINES = 20
_LONGEST = 800
"""Most bytes of a line of jobs that are behind, or of a row of totals."""

_TITLES: dict[Change, str] = {
    "delete": "🔴 Deleted",
    "orphan": "🔴 Left running: no longer in git, but not pruned",
    "restart": "🟠 Restarts",
    "needs-suspend": "🟡 Changes only while suspended",
    "new": "🟢 New",
    "in-place": "🔵 Changes in place, without a restart",
}
_ACTIVE = re.compile(r"[&<>|*_`\[\]@#~\\$]|:(?=//)|(?<=www)\.")
"""Characters with a meaning in markdown, HTML or a forge."""
_LINKING = frozenset("@#:.")
"""Those that make a mention or a link even where they are written as a character reference: a forge looks for these in
the finished page. A zero-width space behind them prevents that."""


def render_markdown(diff: Diff) -> str:
    """Markdown that fits in a comment: long lists are cut, with a count of what was omitted. Deletions and restarts
    come first, each collapsed; then jobs that are behind, the totals, and a glossary."""
    head = [f"### trainform: {escaped(headline(diff))}", ""]
    tail = [*_behind(diff), *_totals(diff), *_meanings(diff)]
    room = LIMIT - _SPARE - _size(head) - _size(tail)
    return "\n".join([*head, *_jobs(diff, room), *tail]).rstrip() + "\n"


def _jobs(diff: Diff, room: int) -> Iterator[str]:
    """The jobs under the title of their change, as many as fit. In each, jobs that get privileges come first, and the
    room that they need at least is kept for them: no crowd of other changes can push them out."""
    told = sorted(stories(diff), key=lambda story: not _grants(story))
    granting = [story for story in told if _grants(story)]
    shortest = _brief if sum(map(_size, map(_brief, granting))) <= room else _briefest
    kept = sum(map(_size, map(shortest, granting)))
    for change in ORDER:
        of_it = [story for story in told if story.change == change]
        if not of_it:
            continue
        head = [f"**{_TITLES[change]}** ({_count(of_it)})", ""]
        room -= _size(head)
        yield from head
        for index, story in enumerate(of_it):
            kept -= _size(shortest(story)) if _grants(story) else 0
            lines = next((form for form in _forms(story) if _size(form) <= room - kept), None)
            if lines is None:
                left = counted(_count(of_it[index:]), "more job")
                yield f"… and {left}: the comment is full, `trainform diff` lists all"
                yield ""
                break
            room -= _size(lines)
            yield from lines


def _forms(story: Story) -> Iterator[list[str]]:
    """How to tell a story, longest first. One that grants nothing is told as a whole or not at all."""
    yield _story(story)
    if _grants(story):
        yield _brief(story)
        yield _briefest(story)


def _count(told: Iterable[Story]) -> int:
    return sum(len(story.jobs) for story in told)


def _size(lines: Sequence[str]) -> int:
    return sum(len(utf8(line)) + 1 for line in lines)


def _grants(story: Story) -> bool:
    return any(each.privilege for each in story.highlights)


def _story(story: Story) -> list[str]:
    if story.highlights or not story.reasons:
        folded = _folded(story, counted(len(story.reasons), "changed field")) if story.reasons else []
        return [*_brief(story), *folded]
    return _folded(story, _title(story))


def _brief(story: Story) -> list[str]:
    """A story without what can be folded."""
    return [f"- {_title(story)}", *_highlights(story), ""]


def _briefest(story: Story) -> list[str]:
    """The title and the kinds of privileges, whose number is limited, unlike the author's names and values."""
    kinds = dict.fromkeys(f"**{escaped(each.kind)}**" for each in story.highlights if each.privilege)
    return [f"- {_title(story)}", f"  - {', '.join(kinds)}: too long to be shown, `trainform diff` lists all", ""]


def _title(story: Story) -> str:
    head = f"<b>{escaped(story.title)}</b> in {escaped(story.environment)}"
    told = f": {escaped(story.consequence)}" if story.consequence else ""
    return f"{head}{told}"


def _highlights(story: Story) -> Iterator[str]:
    """A list that nothing folds, privileges first."""
    for each in _most_varied(story.highlights)[:_MOST_HIGHLIGHTS]:
        label = f"**{escaped(each.label)}**" if each.privilege else escaped(each.label)
        before = f"{code(each.before)} → " if each.before else ""
        yield f"  - {label} ({escaped(each.places)}): {before}{code(each.after)}"
    if left := len(story.highlights[_MOST_HIGHLIGHTS:]):
        yield f"  - … and {left} more: `trainform diff` lists all"


def _most_varied(told: Sequence[HighlightWords]) -> Sequence[HighlightWords]:
    """One of each kind first where some must be left out: many harmless ones cannot hide the one of another kind."""
    if len(told) <= _MOST_HIGHLIGHTS:
        return told
    first = {each.kind: each for each in reversed(told)}
    return sorted(told, key=lambda each: (not each.privilege, first[each.kind] is not each))


def _folded(story: Story, title: str) -> list[str]:
    return [
        f"<details><summary>{title}</summary>",
        "",
        *([escaped(story.names(_MOST_NAMES)), ""] if story.is_long else []),
        *_reasons(story),
        "</details>",
        "",
    ]


def _reasons(story: Story) -> Iterator[str]:
    """A table per object."""
    for thing, reasons in story.tables(_MOST_REASONS):
        yield f"| {code(thing)} | before | after | |"
        yield "|---|---|---|---|"
        yield from map(_row, reasons)
        yield ""
    if left := len(story.reasons[_MOST_REASONS:]):
        yield f"… and {counted(left, 'more field')}"
        yield ""


def _row(reason: ReasonWords) -> str:
    before, after = (code(value) if value else "" for value in (reason.before, reason.after))
    return f"| {code(reason.field)} | {before} | {after} | {reason.marks} |"


def _behind(diff: Diff) -> list[str]:
    lines = list(behind_lines(diff))
    told = [escaped(line) for line in _bearable(lines[:_MOST_LINES])]
    if left := len(lines) - len(told):
        told.append(f"… and {counted(left, 'more reason')}")
    return ["> " + "\n>\n> ".join(told), ""] if told else []


def _bearable(lines: Iterable[str]) -> list[str]:
    """The lines that are not too long: names in edited files may have any length."""
    return [line for line in lines if len(utf8(line)) <= _LONGEST]


def _totals(diff: Diff) -> list[str]:
    """What the jobs of each queue request, and what those of each environment cost, if that changes."""
    queues = _table("**Totals of the queues that change, before → after**", "more queue", *total_rows(diff))
    return [*queues, *_table("**What all jobs cost, before → after**", "more environment", *cost_rows(diff))]


def _table(title: str, unit: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    head_line, *lines = (f"| {' | '.join(map(escaped, row))} |" for row in (head, *rows))
    shown = _bearable(lines[:_MOST_ROWS])
    told = [title, "", head_line, "|" + "---|" * len(head), *shown]
    if left := len(rows) - len(shown):
        told += ["", f"… and {counted(left, unit)}"]
    return [*told, ""]


def _meanings(diff: Diff) -> list[str]:
    told = [f"**{word}**: {meaning}" for word, meaning in meanings(diff).items()]
    return [f"<sub>{'<br>'.join(told)}</sub>"] if told else []


def code(text: str) -> str:
    """A code span for a table cell: nothing in it is parsed as markdown, HTML, mention or link."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


def escaped(text: str) -> str:
    """Escapes text outside of code for markdown and HTML."""
    return _ACTIVE.sub(lambda match: f"&#{ord(match[0])};" + "&#8203;" * (match[0] in _LINKING), text)
