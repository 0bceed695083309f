"""The wording of a diff, shared by text, markdown and HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from trainform.diagnostics.escape import one_line as plain
from trainform.diagnostics.order import counted
from trainform.review.behind import are_behind
from trainform.review.capacity.amounts import spelled
from trainform.review.cost.money import signed
from trainform.review.diff.grouping import (
    Group,
    consequence,
    cost,
    groups,
    reasons_of,
    represented,
    shared_object,
    template_of,
)
from trainform.review.diff.model import Diff, JobDiff, Reason
from trainform.review.diff.totals import CostBalance, Sum
from trainform.review.diff.update_rules import Change

VERBS: dict[Change, str] = {
    "delete": "deleted",
    "orphan": "left running",
    "restart": "restarts",
    "needs-suspend": "needs suspending",
    "new": "new",
    "in-place": "changes in place",
    "behind": "behind",
}

_PLURALS = {"restarts": "restart", "needs suspending": "need suspending", "changes in place": "change in place"}

MEANINGS = {
    "immutable": "the API never changes this field of an object that exists",
    "inherited": "comes from the runtime, the Environment or trainform, not from the job's own file",
    "behind": "rendered from an older runtime or Environment, and left as it is until its TrainJob changes "
    "or somebody runs trainform upgrade",
}
"""Glossary of terms that may be new to a reader."""

_LONGEST = 72
"""Most characters shown of a value."""

_LONGEST_HIGHLIGHT = 1_000
"""The same for what a reviewer must see: commands are long. How much is left out is told."""

_WHOLE = 1 << 40
"""More than any file may hold."""

_FEW = 3
"""Up to this many names are listed instead of counted."""


def headline(diff: Diff) -> str:
    """`1 job deleted, 2 restart, 500 behind`, most severe first."""
    counts = list(diff.counts().items())
    if not counts:
        return "no job changes"
    (change, count), *others = counts
    told = counted(count, "new job") if change == "new" else f"{counted(count, 'job')} {verb(change, count)}"
    return ", ".join([told, *(f"{count} {verb(change, count)}" for change, count in others)])


def verb(change: Change, count: int) -> str:
    """`restarts` for one job, `restart` for several."""
    told = VERBS[change]
    return told if count == 1 else _PLURALS.get(told, told)


def meanings(diff: Diff) -> dict[str, str]:
    """A glossary of the terms that occur in a diff."""
    reasons = [reason for job in diff.jobs if job.change != "behind" for reason in job.reasons]
    occur = {
        "immutable": any(reason.immutable for reason in reasons),
        "inherited": any(reason.inherited for reason in reasons),
        "behind": bool(diff.behind),
    }
    granted = {each.label: each.why for job in diff.jobs for each in job.highlights if each.privilege}
    return {word: told for word, told in MEANINGS.items() if occur[word]} | granted


def behind_lines(diff: Diff) -> Iterator[str]:
    """Notes; then a line per cause, however many jobs it has: what `render` says, and since when."""
    yield from map(plain, diff.notes)
    for why, count in sorted(diff.behind.items()):
        by = "by" if count.new == count.jobs else f"{count.new} by"
        since = f"{by} this change; nothing restarts" if count.new else "before this change"
        yield plain(f"{are_behind(count.jobs, why)} ({since})")


class ReasonWords(NamedTuple):
    """One changed field as text: object, field, shortened values (empty for a whole added or removed object), and marks
    (`immutable, inherited`)."""

    object: str
    field: str
    before: str
    after: str
    marks: str


class HighlightWords(NamedTuple):
    """A value that a reviewer must see: `host network (node, launcher)`. `before` is empty for a new job. `label`
    names the entry of a list, too, which the author chose; `kind` does not."""

    kind: str
    label: str
    places: str
    before: str
    after: str
    privilege: bool


class Story(NamedTuple):
    """Jobs of one environment that change alike; `template` made them, if there are several. All text is printable.
    `consequence` says what the cluster will do,
    what the user must do, and what that costs, or is empty. `highlights` are to be shown even where the reasons are
    folded. Reasons with immutable fields come first."""

    change: Change
    environment: str
    jobs: list[str]
    consequence: str
    highlights: list[HighlightWords]
    reasons: list[ReasonWords]
    template: str = ""

    @property
    def title(self) -> str:
        """`ml/llm`, or `500 jobs`, or `12 jobs of jobs/sweep.yaml.j2 (ml/lr-1 … ml/lr-12)`."""
        count, few = counted(len(self.jobs), "job"), ", ".join(self.jobs[:_FEW])
        if self.template:
            return f"{count} of {self.template} ({f'{self.jobs[0]} … {self.jobs[-1]}' if self.is_long else few})"
        return count if self.is_long else few

    @property
    def is_long(self) -> bool:
        """Whether the title is a count, so that names are listed separately."""
        return len(self.jobs) > _FEW

    def names(self, most: int | None = None) -> str:
        """The jobs' names: up to `most` of them, and the number of the others."""
        left = len(self.jobs[most:]) if most else 0
        return ", ".join(self.jobs[:most]) + (f" and {left} more" if left else "")

    def tables(self, most: int | None = None) -> Iterator[tuple[str, list[ReasonWords]]]:
        """The first reasons, by object."""
        shown = self.reasons[:most]
        for thing in dict.fromkeys(reason.object for reason in shown):
            yield thing, [reason for reason in shown if reason.object == thing]


def stories(diff: Diff, *, full: bool = False) -> list[Story]:
    """The changed jobs, grouped by change, without those that are behind. Long values are shortened, unless `full`."""
    return [_story(group, full) for group in groups(diff.jobs)]


def _story(group: Group, full: bool) -> Story:
    job = group[0]
    longest, longest_highlight = (_WHOLE, _WHOLE) if full else (_LONGEST, _LONGEST_HIGHLIGHT)
    names = [plain(each.full_name) for each in group]
    reasons = [_words(group, reason, longest) for reason in reasons_of(group)]
    told = plain("; ".join(filter(None, (consequence(group), cost(group)))))
    seen = _highlights(represented(group), longest_highlight)
    return Story(job.change, plain(job.id[0]), names, told, seen, reasons, plain(template_of(group)))


def _highlights(job: JobDiff, longest: int) -> list[HighlightWords]:
    """What a reviewer must see of a job; values that several pods or containers share once."""
    places: dict[HighlightWords, list[str]] = {}
    for each in job.highlights:
        before, after = _spelled(each.before, each.after, longest, " ({} more characters)")
        words = HighlightWords(
            each.label,
            plain(f"{each.label} {each.entry}".rstrip()),
            "",
            before if job.change != "new" else "",
            after,
            each.privilege,
        )
        places.setdefault(words, []).append(each.place)
    return [words._replace(places=plain(", ".join(dict.fromkeys(found)))) for words, found in places.items()]


def _words(group: Group, reason: Reason, longest: int) -> ReasonWords:
    thing = reason.object if len(group) == 1 else shared_object(group[0], reason)
    before, after = _spelled(reason.before, reason.after, longest) if reason.named else ("", "")
    marks = ", ".join(word for word in ("immutable", "inherited") if getattr(reason, word))
    return ReasonWords(plain(thing), _field(reason), before, after, marks)


def _written(given: Any) -> str:
    """A value on one line; strings as JSON if they would be hard to see otherwise."""
    if given is None:
        return _NONE
    is_clear = isinstance(given, str) and given and given == given.strip(" ") and given != _NONE
    return plain(given if is_clear else json.dumps(given, ensure_ascii=False))


_NONE = "(none)"


def _spelled(old: Any, new: Any, longest: int = _LONGEST, left_out: str = "") -> tuple[str, str]:
    """Before and after, shortened; for two long values, the part that differs. `left_out` tells how much follows."""
    before, after = _written(old), _written(new)
    shared = 0
    if max(len(before), len(after)) > longest:
        pairs = enumerate(zip(before, after, strict=False))
        shared = next((index for index, (old, new) in pairs if old != new), min(len(before), len(after)))
    start = max(0, shared - 12)
    return _cut(before, start, longest, left_out), _cut(after, start, longest, left_out)


def _cut(text: str, start: int, longest: int, left_out: str) -> str:
    told = f"…{text[start:]}" if start else text
    if len(told) <= longest:
        return told
    return f"{told[: longest - 1]}…{left_out.format(f'{len(told) - longest + 1:,}')}"


def _field(reason: Reason) -> str:
    """The path with names instead of indexes; a word if the whole object is added or removed."""
    if reason.named:
        return plain(reason.named)
    return "(new object)" if reason.before is None else "(removed)"


def total_rows(diff: Diff) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the totals table: a row per environment and queue, omitting unchanged queues. A cell is `8 →
    16` if the two sides differ."""
    resources = diff.totals.resources()
    rows = [
        [plain(environment), plain(queue) or "(none)", *_cells(balance.before, balance.after, resources)]
        for (environment, queue), balance in sorted(diff.totals.balances.items())
        if balance.before != balance.after
    ]
    return ["environment", "queue", "jobs", "pods", *map(plain, resources)], rows


def cost_rows(diff: Diff) -> tuple[list[str], list[list[str]]]:
    """Header and rows of what environments with prices cost for an hour, omitting unchanged ones."""
    rows = [
        [plain(environment), f"{_cell(str(each.before), str(each.after))} {each.currency}", _difference(each)]
        for environment, each in sorted(diff.costs.items())
        if each.before != each.after
    ]
    return ["environment", "cost per hour", "difference"], rows


def _difference(balance: CostBalance) -> str:
    return f"{signed(balance.after - balance.before)} {balance.currency}"


def _cells(before: Sum, after: Sum, resources: list[str]) -> Iterator[str]:
    yield _cell(str(before.jobs), str(after.jobs))
    yield _cell(str(before.pods), str(after.pods))
    for name in resources:
        yield _cell(*spelled(name, *(each.resources.get(name, 0) for each in (before, after))))


def _cell(before: str, after: str) -> str:
    return after if before == after else f"{before} → {after}"
