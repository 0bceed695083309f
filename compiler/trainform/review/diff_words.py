"""A difference in words: what text, markdown and HTML have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trainform.diagnostics import dotted
from trainform.diagnostics.order import counted
from trainform.review.amounts import spelled
from trainform.review.changes import RERUN_PATH, Change
from trainform.review.diff import Diff, JobDiff, Reason
from trainform.review.totals import Ask, Sum

VERBS: dict[Change, str] = {
    "delete": "deleted",
    "restart": "restarts",
    "needs-suspend": "needs suspend",
    "new": "new",
    "in-place": "changes in place",
    "behind": "behind",
}

_LONGEST = 72
"""Characters of a value that are shown."""


def headline(diff: Diff) -> str:
    """`1 delete, 2 restart, 500 behind`, the gravest first."""
    return ", ".join(f"{count} {change}" for change, count in diff.counts().items()) or "no job changes"


def behind_lines(diff: Diff) -> Iterator[str]:
    """One line for each cause, however many jobs there are."""
    for told, jobs in diff.behind().items():
        yield f"{counted(len(jobs), 'job')} {_are(len(jobs))} behind: {told} (inherited); nothing restarts"
    for told, count in sorted(diff.already_behind.items()):
        yield f"{counted(count, 'job')} {'was' if count == 1 else 'were'} behind before: {told}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def consequence(job: JobDiff) -> str:
    """What the cluster will do, and what somebody has to do for it; empty where nothing needs a word."""
    match job.change:
        case "restart":
            return _restart(job)
        case "needs-suspend":
            return f"the API takes this update only while JobSet {job.id[2]} is suspended"
        case "delete":
            return "stops and removes it" + (f"; it asked for {asked(job.before)}" if job.before else "")
        case "new":
            return f"asks for {asked(job.after)}" if job.after else ""
    return ""


def _restart(job: JobDiff) -> str:
    jobset = f"JobSet {job.id[2]}"
    if job.new_name:
        return f"new object {job.new_name}; the old one is pruned, and training starts anew"
    forcing = [reason for reason in job.reasons if reason.immutable]
    if forcing:
        told = f"the API refuses this update: delete {jobset} first, then it starts anew"
        inherited = all(reason.inherited for reason in forcing)
        return f"{told}; only what it inherits forces this" if inherited else told
    if any(reason.field == dotted(RERUN_PATH) for reason in job.reasons):
        return f"is to run again: delete the finished {jobset}, and it starts anew"
    return f"running pods have read what this changes: it takes effect when {jobset} is deleted and starts anew"


def asked(ask: Ask) -> str:
    """`8 pods, nvidia.com/gpu 64, cpu 256, memory 2Ti, queue team-a`."""
    amounts = sorted(ask.resources.items(), key=lambda item: ("/" not in item[0], item[0]))
    told = [f"{name} {spelled(name, number)[0]}" for name, number in amounts if number]
    queue = f"queue {ask.queue}" if ask.queue else ""
    return ", ".join([counted(ask.pods, "pod"), *told, *filter(None, [queue])])


def value(given: Any) -> str:
    """A value as it is shown: on one line, and of bearable length."""
    if given is None:
        return "(none)"
    text = given if isinstance(given, str) and given else json.dumps(given, ensure_ascii=False)
    text = text.replace("\n", "↵")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def values(reason: Reason) -> tuple[str, str]:
    """Before and after. Of two long texts what differs is shown, not what they begin with."""
    before, after = reason.before, reason.after
    if not (isinstance(before, str) and isinstance(after, str)):
        return value(before), value(after)
    shared = 0
    longest = max(len(before), len(after))
    while longest > _LONGEST and shared < min(len(before), len(after)) and before[shared] == after[shared]:
        shared += 1
    start = max(0, shared - 12)
    lead = "…" if start else ""
    return value(lead + before[start:]), value(lead + after[start:])


def marks(reason: Reason) -> str:
    """`immutable, inherited`, as far as they hold."""
    return ", ".join(word for word in ("immutable", "inherited") if getattr(reason, word))


def in_order(job: JobDiff) -> list[Reason]:
    """The reasons with what is immutable first."""
    return sorted(job.reasons, key=lambda reason: not reason.immutable)


def field_of(reason: Reason) -> str:
    """The path with names in place of indexes; a word where the object as a whole comes or goes."""
    if reason.named:
        return reason.named
    return "(new object)" if reason.before is None else "(removed)"


def total_rows(diff: Diff) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of totals: a row for each queue of each environment.

    A cell is `8 → 16` where the two sides differ. Queues of which nothing changes are left out.
    """
    resources = diff.totals.resources()
    rows = [
        [environment, queue or "(none)", *_cells(balance.before, balance.after, resources)]
        for (environment, queue), balance in sorted(diff.totals.balances.items())
        if balance.before != balance.after
    ]
    return ["environment", "queue", "jobs", "pods", *resources], rows


def _cells(before: Sum, after: Sum, resources: list[str]) -> Iterator[str]:
    yield _cell(str(before.jobs), str(after.jobs))
    yield _cell(str(before.pods), str(after.pods))
    for name in resources:
        yield _cell(*spelled(name, *(each.resources.get(name, 0) for each in (before, after))))


def _cell(before: str, after: str) -> str:
    return after if before == after else f"{before} → {after}"
