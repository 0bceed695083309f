"""A diff as terminal text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainform.diagnostics.console import MOST_LINES, Style, aligned, styled
from trainform.diagnostics.escape import one_line as plain
from trainform.diagnostics.order import counted
from trainform.review.diff.model import Diff
from trainform.review.diff.update_rules import Change
from trainform.review.diff.wording import (
    HighlightWords,
    ReasonWords,
    Story,
    behind_lines,
    cost_rows,
    headline,
    stories,
    total_rows,
)

_DIM: Style = {"dim": True}
_PRIVILEGE: Style = {"bold": True}
_STYLES: dict[Change, Style] = {
    "delete": {"fg": "red", "bold": True},
    "orphan": {"fg": "red"},
    "restart": {"fg": "red"},
    "needs-suspend": {"fg": "yellow"},
    "new": {"fg": "green"},
    "in-place": {"fg": "cyan"},
    "behind": _DIM,
}

_WIDEST = max(map(len, _STYLES))

_NAMES = textwrap.TextWrapper(
    100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
)


def render_text(diff: Diff, *, colour: bool, full: bool = False) -> str:
    """Jobs with their reasons, jobs that are behind, the table of totals, and a summary line. `full`: long values are
    not shortened."""
    several = _tells_environments(diff)
    blocks = ["\n".join(_story(story, several, colour)) for story in stories(diff, full=full)]
    blocks += ["\n".join(lines) for lines in (list(behind_lines(diff)), *_tables(diff)) if lines]
    return "\n\n".join([*blocks, headline(diff)]) + "\n"


def render_news(diff: Diff, earlier: Diff | None, base: str, *, colour: bool, brief: bool) -> str:
    """What an earlier diff did not tell: jobs that change otherwise now, jobs that are as in `base` again, causes of
    jobs being behind, and the summary line of all. Empty without news. `brief`: about a screen of it,
    and how much more there is."""
    known = {job.id: job for job in earlier.jobs} if earlier else {}
    new = [job for job in diff.jobs if job != known.get(job.id)]
    settled = sorted(known.keys() - {job.id for job in diff.jobs})
    told = {*behind_lines(earlier)} if earlier else set()
    behind = [line for line in behind_lines(diff) if line not in told]
    if earlier and not (new or settled or behind):
        return ""
    most = MOST_LINES if brief else None
    several = _tells_environments(diff)
    lines = [f"{plain('/'.join(job[1:]))}{_where(job[0], several)} is as in {base}" for job in settled[:most]]
    if left := len(settled) - len(lines):
        lines.append(f"and {counted(left, 'more job')}")
    blocks = [*_news(stories(replace(diff, jobs=new)), several, colour, most), "\n".join(lines), "\n".join(behind)]
    return "\n\n".join([*filter(None, blocks), headline(diff)]) + "\n"


def _news(told: Sequence[Story], with_environment: bool, colour: bool, most: int | None) -> Iterator[str]:
    """Whole stories, the gravest first, until there are more than `most` lines; then the number of the other jobs."""
    lines = 0
    for number, story in enumerate(told):
        if most is not None and lines > most:
            left = sum(len(each.jobs) for each in told[number:])
            yield f"and {counted(left, 'more job')}: `trainform diff` shows all"
            return
        block = [*_story(story, with_environment, colour, most)]
        lines += len(block)
        yield "\n".join(block)


def _tells_environments(diff: Diff) -> bool:
    has_several = len({job.id[0] for job in diff.jobs}) > 1
    return has_several or any(environment != "default" for environment, _ in diff.totals.balances)


def _where(environment: str, with_environment: bool) -> str:
    return f" in {plain(environment)}" if with_environment else ""


def _story(story: Story, with_environment: bool, colour: bool, most_names: int | None = None) -> Iterator[str]:
    verb = styled(story.change, _STYLES[story.change], colour=colour) + " " * (_WIDEST - len(story.change))
    where = _where(story.environment, with_environment)
    yield f"{verb}  {story.title}{where}" + (f": {story.consequence}" if story.consequence else "")
    if story.is_long:
        yield from _NAMES.wrap(story.names(most_names))
    yield from _highlights(story.highlights, colour)
    shown = story.reasons[:MOST_LINES]
    several = len({reason.object for reason in story.reasons}) > 1
    whats = [f"{reason.object} {reason.field}" if several else reason.field for reason in shown]
    width = max(map(len, whats), default=0)
    for reason, what in zip(shown, whats, strict=True):
        yield f"  {what.ljust(width)}{_change(reason, colour)}".rstrip()
    if len(shown) < len(story.reasons):
        yield f"  and {len(story.reasons) - len(shown)} more"


def _highlights(told: Sequence[HighlightWords], colour: bool) -> Iterator[str]:
    whats = [f"{each.label} ({each.places})" for each in told]
    width = max(map(len, whats), default=0)
    for each, what in zip(told, whats, strict=True):
        change = f"{each.before} → {each.after}" if each.before else each.after
        yield f"  {styled(what.ljust(width), _PRIVILEGE if each.privilege else {}, colour=colour)}  {change}"


def _change(reason: ReasonWords, colour: bool) -> str:
    change = f"  {reason.before} → {reason.after}" if reason.before else ""
    return change + styled(f"  ({reason.marks})" if reason.marks else "", _DIM, colour=colour)


def _tables(diff: Diff) -> Iterator[list[str]]:
    for head, rows in (total_rows(diff), cost_rows(diff)):
        yield aligned([[word if "/" in word else word.upper() for word in head], *rows]) if rows else []
