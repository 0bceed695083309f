"""Which jobs are behind what they would be rendered from today, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from trainform import __version__
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.workspace.compiling import Outcome
    from trainform.workspace.fingerprint import Cause, Present
    from trainform.workspace.lockfile import Pins
    from trainform.workspace.state import State
    from trainform.workspace.target import Target

Groups = dict["Cause", list["JobId"]]
"""The jobs that are behind, by cause: one that has two causes stands in two groups."""


def presents_of(targets: Sequence[Target], outcome: Outcome) -> dict[str, Present]:
    """What each target's jobs are rendered from today, by the name of its environment."""
    from trainform.workspace.fingerprint import Present

    catalogue = outcome.catalogue
    if catalogue is None:
        return {}
    plugins = third_party()
    return {
        target.name: Present(__version__, plugins, compilation.inputs, catalogue)
        for target, compilation in zip(targets, outcome.compilations, strict=True)
    }


def third_party() -> dict[str, str]:
    """The versions of other packages that bring plugins, by name."""
    from trainform.installed import declared_plugins

    return {each.package: each.version for each in declared_plugins() if each.package not in ("", "trainform")}


def group(jobs: Iterable[tuple[JobId, Pins]], presents: Mapping[str, Present]) -> Groups:
    """The frozen `jobs` that are behind."""
    groups: Groups = {}
    for job, pins in jobs:
        for cause in presents[job[0]].causes(pins, job[1]):
            groups.setdefault(cause, []).append(job)
    return {cause: groups[cause] for cause in sorted(groups)}


def merge(groups: Iterable[Groups]) -> Groups:
    """The same of several parts of the jobs."""
    merged: Groups = {}
    for group in groups:
        for cause, jobs in group.items():
            merged.setdefault(cause, []).extend(jobs)
    return {cause: merged[cause] for cause in sorted(merged)}


def behind(targets: Sequence[Target], outcome: Outcome, state: State) -> Groups:
    """The frozen jobs of the targets that are behind."""
    from trainform.workspace.uptodate import unchanged_jobs

    frozen = [(job.id, job.lock.pins) for target in targets for job in unchanged_jobs(target, state)]
    return group(frozen, presents_of(targets, outcome))


def tell_behind(groups: Groups) -> list[Diagnostic]:
    """An info for each cause for which jobs are behind (TF715)."""
    return [Diagnostic("TF715", "info", message(*each), _remedy(each[0])) for each in groups.items()]


def message(cause: Cause, jobs: Sequence[JobId]) -> str:
    """`12 jobs are behind: runtime torch-distributed changed`."""
    return f"{counted(len(jobs), 'job')} {'is' if len(jobs) == 1 else 'are'} behind: {cause.message}"


def _remedy(cause: Cause) -> str:
    chosen = {"runtime": f"--runtime {cause.what}", "environment": f"--env {cause.what}"}.get(cause.kind, "--all")
    return f"they do not change until you run `trainform upgrade {chosen}`; add --dry-run to preview"
