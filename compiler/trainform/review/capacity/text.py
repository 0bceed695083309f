"""Capacity as text: a table of the quotas, and one of the jobs."""

from __future__ import annotations

from collections.abc import Mapping

from trainform.diagnostics.console import Style, aligned, styled
from trainform.diagnostics.escape import one_line
from trainform.review.capacity.amounts import written
from trainform.review.capacity.kueue_facts import FlavorResource
from trainform.review.capacity.one_job import Verdict
from trainform.review.capacity.verdicts import Capacity, JobVerdict, QueueUse

_STYLES: dict[Verdict, Style] = {
    "fits": {"fg": "green"},
    "waits": {"fg": "yellow"},
    "never": {"fg": "red", "bold": True},
    "unknown": {"fg": "cyan"},
}
_OVER: Style = {"fg": "yellow"}
"""More is requested than available."""

_QUOTA_HEAD = ("QUEUE", "FLAVOR", "RESOURCE", "NOMINAL", "BORROWABLE", "ASKED")
_JOB_HEAD = ("JOB", "QUEUE", "VERDICT", "REASON")
_COSTS_HEAD = ("PER HOUR", "PER RUN, AT MOST")


def render_capacity(environments: Mapping[str, Capacity], *, colour: bool) -> str:
    """Each environment's tables, under its name if there are several. `colour` adds ANSI escapes."""
    several = len(environments) > 1
    parts = []
    for name, found in environments.items():
        head = f"environment {one_line(name)}\n\n" if several else ""
        parts.append(head + "\n".join(_tables(found, colour)))
    return "\n".join(parts)


def _tables(found: Capacity, colour: bool) -> list[str]:
    quotas = [_quota_row(queue, key, use, colour) for queue, uses in found.queues.items() for key, use in uses.items()]
    costs = found.costs
    job_head = (*_JOB_HEAD[:3], *(_COSTS_HEAD if costs else ()), *_JOB_HEAD[3:])
    tables = ((_QUOTA_HEAD, quotas), (job_head, [_job_row(job, colour) for job in found.jobs]))
    told = ["".join(f"{line}\n" for line in aligned([head, *rows])) for head, rows in tables if rows]
    return [*told, *([f"all jobs at once: {costs} per hour\n"] if costs else [])]


def _job_row(job: JobVerdict, colour: bool) -> tuple[str, ...]:
    verdict = styled(job.verdict, _STYLES[job.verdict], colour=colour)
    costs = job.cost.cells() if job.cost else ()
    return one_line(f"{job.namespace}/{job.name}"), one_line(job.queue), verdict, *costs, one_line(job.reason)


def _quota_row(queue: str, key: FlavorResource, use: QueueUse, colour: bool) -> tuple[str, ...]:
    nominal, borrowable, asked = (written(key.resource, each) for each in (use.nominal, use.borrowable, use.asked))
    style = _OVER if use.asked > use.nominal + use.borrowable else Style()
    return *map(one_line, (queue, key.flavor, key.resource)), nominal, borrowable, styled(asked, style, colour=colour)
