"""Which frozen jobs are behind their current inputs, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from trainform import __version__
from trainform.diagnostics import Diagnostic
from trainform.review.behind import are_behind
from trainform.workspace.fingerprint import Cause, CurrentInputs

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.workspace.compilation import Outcome
    from trainform.workspace.inputs import EnvironmentInputs
    from trainform.workspace.lockfile import Pins

Behind = dict[Cause, "list[JobId]"]
"""Jobs that are behind, by cause; a job with two causes is listed twice."""


def current_inputs(environments: Sequence[EnvironmentInputs], outcome: Outcome) -> dict[str, CurrentInputs]:
    """The current inputs of jobs, by environment name."""
    return {
        each.name: CurrentInputs(
            __version__, each.plugins.versions, each.plugins.code, compilation.inputs, outcome.catalogue
        )
        for each, compilation in zip(environments, outcome.compilations, strict=True)
    }


def behind(jobs: Iterable[tuple[JobId, Pins]], current: Mapping[str, CurrentInputs]) -> Behind:
    """The frozen `jobs` that are behind, by cause."""
    found: Behind = {}
    for job, pins in jobs:
        for cause in current[job[0]].causes(pins, job[1]):
            found.setdefault(cause, []).append(job)
    return {cause: found[cause] for cause in sorted(found)}


def merge(parts: Iterable[Behind]) -> Behind:
    """Combine the results of several chunks."""
    merged: Behind = {}
    for part in parts:
        for cause, jobs in part.items():
            merged.setdefault(cause, []).extend(jobs)
    return {cause: merged[cause] for cause in sorted(merged)}


def behind_diagnostics(found: Behind) -> list[Diagnostic]:
    """One info (TF715) per cause."""
    return [Diagnostic("TF715", "info", message(*each), _remedy(each[0])) for each in found.items()]


def message(cause: Cause, jobs: Sequence[JobId]) -> str:
    return are_behind(len(jobs), cause.message)


def _remedy(cause: Cause) -> str:
    chosen = {"runtime": f"--runtime {cause.what}", "environment": f"--env {cause.what}"}.get(cause.kind, "--all")
    return f"nothing changes until you run `trainform upgrade {chosen}`; add --dry-run to preview"
