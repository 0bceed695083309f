"""Capacity as a person reads it: a table of the quotas, and one of the jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trainform.review.capacity.amounts import written
from trainform.review.capacity.verdicts import Capacity, QueueUse

_RESET = "\x1b[0m"
_COLOURS = {"fits": "\x1b[32m", "waits": "\x1b[33m", "never": "\x1b[1;31m", "unknown": "\x1b[36m"}
_OVER = "\x1b[33m"

_QUOTA_HEAD = ("QUEUE", "FLAVOR", "RESOURCE", "NOMINAL", "BORROWABLE", "ASKED")
_JOB_HEAD = ("JOB", "QUEUE", "VERDICT", "REASON")


def render_capacity(environments: Mapping[str, Capacity], *, colour: bool) -> str:
    """The tables of each environment, under its name where there are several. `colour` adds ANSI escapes."""
    several = len(environments) > 1
    parts = []
    for name, found in environments.items():
        head = f"environment {name}\n\n" if several else ""
        parts.append(head + "\n".join(_tables(found, colour)))
    return "\n".join(parts)


def _tables(found: Capacity, colour: bool) -> list[str]:
    quotas = [
        ((queue, key.flavor, key.resource, *_amounts(key.resource, use)), _over(use))
        for queue, uses in found.queues.items()
        for key, use in uses.items()
    ]
    jobs = [
        ((f"{job.namespace}/{job.name}", job.queue, job.verdict, job.reason), _COLOURS[job.verdict])
        for job in found.jobs
    ]
    tables = [_table(_QUOTA_HEAD, quotas, 5, colour)] if quotas else []
    return [*tables, _table(_JOB_HEAD, jobs, 2, colour)] if jobs else tables


def _amounts(resource: str, use: QueueUse) -> tuple[str, str, str]:
    nominal, borrowable, asked = (written(resource, number) for number in (use.nominal, use.borrowable, use.asked))
    return nominal, borrowable, asked


def _over(use: QueueUse) -> str:
    return _OVER if use.asked > use.nominal + use.borrowable else ""


def _table(head: Sequence[str], rows: Iterable[tuple[Sequence[str], str]], marked: int, colour: bool) -> str:
    """Aligned columns; the cell `marked` of each row in the row's colour."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(head, *(cells for cells, _ in rows), strict=True)]
    lines = [_line(head, widths, marked, "")]
    lines += [_line(cells, widths, marked, style if colour else "") for cells, style in rows]
    return "".join(f"{line}\n" for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int], marked: int, style: str) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    if style:
        padded[marked] = f"{style}{cells[marked]}{_RESET}{padded[marked][len(cells[marked]) :]}"
    return "  ".join(padded).rstrip()
