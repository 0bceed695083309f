"""A TrainJob that no Environment selects: nothing renders it, which is nearly always a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import UNSELECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.api.environment import Jobs
    from trainform.diagnostics.diagnostic import Path, Place

_FEW = 3
"""Environments that a hint names."""


class JobSelection(NamedTuple):
    """What an Environment selects, and what it is called: by its file, or by its name. `takes_file`: its paths include
    the job's file, so its label selector leaves the job out."""

    environment: str
    jobs: Jobs
    takes_file: bool


def unselected(place: Place, selections: Sequence[JobSelection], path: Path = ("metadata", "name")) -> Diagnostic:
    """The warning for a TrainJob that none of these select."""
    near = sorted(selections, key=lambda each: not each.takes_file)
    ways = [_way(each, place.file) for each in near[:_FEW]]
    if (more := len(near) - _FEW) > 0:
        ways.append(f"select it in one of {more} other Environments")
    message = "no Environment selects this job, so nothing renders it"
    return Diagnostic(UNSELECTED, "warning", message, "\nor ".join(ways), path, place)


def _way(selection: JobSelection, file: str) -> str:
    """How this Environment would select the job."""
    if selection.takes_file:
        from trainform.api.selectors import selector_text

        wanted = selector_text(selection.jobs.selector)
        return f"give it labels that match spec.jobs.selector of {selection.environment}: {wanted}"
    return f"add {file} to spec.jobs.paths of {selection.environment}, now [{', '.join(selection.jobs.paths)}]"
