"""The status of jobs as text for a terminal, and as markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from trainform.diagnostics.console import Style, aligned, styled
from trainform.diagnostics.escape import one_line
from trainform.diagnostics.order import counted
from trainform.review.diff.markdown import code, escaped
from trainform.review.live.model import STATES, LiveJob, LiveState, LiveStatus

_STYLES: dict[LiveState, Style] = {
    "not created": {"fg": "yellow"},
    "queued": {"fg": "cyan"},
    "suspended": {"dim": True},
    "running": {"fg": "blue"},
    "finished": {"fg": "green"},
    "failed": {"fg": "red", "bold": True},
    "orphaned": {"fg": "magenta"},
}
_MOST_FIELDS = 10
_LONGEST_VALUE = 80


def render_status(found: LiveStatus, *, colour: bool) -> str:
    """A table of the jobs; below a job, what drifted and how it failed. `colour` adds ANSI escapes."""
    notes = [f"note: {one_line(note)}" for note in _notes(found)]
    return "\n".join([*_table(found, colour), *notes, headline(found)]) + "\n"


def render_changes(before: LiveStatus, after: LiveStatus, *, colour: bool) -> str:
    """A line for each job whose state is another one, and for what cannot be asked any more; empty if there is none."""
    old = {(job.namespace, job.name): job for job in before.jobs}
    new = {(job.namespace, job.name): job for job in after.jobs}
    lines = [line for key, job in new.items() for line in _change(old.get(key), job, colour)]
    lines += [f"{one_line(job.full_name)}: {job.told} → gone" for key, job in old.items() if key not in new]
    lines += [f"note: {one_line(note)}" for note in after.notes if note not in before.notes]
    return "".join(f"{line}\n" for line in lines)


def _change(before: LiveJob | None, after: LiveJob, colour: bool) -> Iterator[str]:
    if before and before.told == after.told:
        return
    was = f"{before.told} → " if before else ""
    reason = f" ({one_line(after.reason)})" if after.reason else ""
    yield f"{one_line(after.full_name)}: {was}{styled(after.told, _STYLES[after.state], colour=colour)}{reason}"
    yield from (f"  {each}" for each in _details(after))


def _notes(found: LiveStatus) -> list[str]:
    missing = "its rendered JobSet is missing or not valid: run `trainform check`"
    return [*found.notes, *(f"{job}: {missing}" for job in found.unreadable)]


def _table(found: LiveStatus, colour: bool) -> Iterator[str]:
    if not found.jobs:
        return
    head, *lines = aligned([("JOB", "STATE", "REASON"), *(_row(job, colour) for job in found.jobs)])
    yield head
    for job, line in zip(found.jobs, lines, strict=True):
        yield line
        yield from (f"  {each}" for each in _details(job))
    yield ""


def headline(found: LiveStatus) -> str:
    """`3 jobs: 1 queued, 2 running; 1 drifted`."""
    counts = Counter(job.state for job in found.jobs)
    states = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    drifted = sum(bool(job.drift) for job in found.jobs)
    told = f"{counted(len(found.jobs), 'job')} in {one_line(found.environment)}"
    told += f": {states}" if states else ""
    return told + (f"; {drifted} drifted" if drifted else "")


def _row(job: LiveJob, colour: bool) -> tuple[str, str, str]:
    return one_line(job.full_name), styled(job.told, _STYLES[job.state], colour=colour), one_line(job.reason)


def _details(job: LiveJob) -> Iterator[str]:
    for change in job.drift[:_MOST_FIELDS]:
        yield f"{one_line(change.field)}: git has {_value(change.git)}, the cluster {_value(change.live)}"
    if len(job.drift) > _MOST_FIELDS:
        yield f"and {counted(len(job.drift) - _MOST_FIELDS, 'more field')}"
    if job.pod:
        yield one_line(str(job.pod))
        yield from (f"| {one_line(line)}" for line in job.pod.log)


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    told = one_line(json.dumps(value, ensure_ascii=False))
    return told if len(told) <= _LONGEST_VALUE else f"{told[:_LONGEST_VALUE]}…"


def render_status_markdown(found: LiveStatus) -> str:
    """The same for a comment or a job summary."""
    lines = [f"**{escaped(headline(found))}**", ""]
    if found.jobs:
        lines += ["| job | state | reason |", "|---|---|---|"]
        lines += [
            f"| {code(one_line(job.full_name))} | {job.told} | {escaped(one_line(job.reason))} |" for job in found.jobs
        ]
    for job in found.jobs:
        if details := [*_details(job)]:
            lines += ["", f"{code(one_line(job.full_name))}", "", *(f"    {line}" for line in details)]
    lines += ["", *(f"{escaped(one_line(note))}  " for note in _notes(found))]
    return "\n".join(lines).rstrip("\n") + "\n"
