"""Features that need a minimum Kueue version: older ones silently ignore them, or reject them."""

from __future__ import annotations

from trainform.plugin import ClusterVersion, JobSetView, Plan, ReplicatedJob
from trainform_plugins.kueue.asked import FAMILY, GROUP, PREFERRED, REQUIRED, SLICE, SLICES, UNCONSTRAINED
from trainform_plugins.kueue.asked import report as report_annotation
from trainform_plugins.kueue.labels import MAX_TIME, source_of

Minor = tuple[int, int]

SINCE: dict[str, Minor] = {
    REQUIRED: (0, 9),
    PREFERRED: (0, 9),
    UNCONSTRAINED: (0, 11),
    SLICE: (0, 13),
    GROUP: (0, 13),
    SLICES: (0, 19),
    MAX_TIME: (0, 9),
}
"""Source: the changelogs of kubernetes-sigs/kueue."""

ON_BY_DEFAULT: Minor = (0, 14)
"""From this version on, TopologyAwareScheduling needs no feature gate."""


def needs_newer_kueue(plan: Plan, jobset: JobSetView) -> None:
    """Checked only if the Environment declares its Kueue version."""
    version = plan.facts.versions.kueue
    if version is None:
        return
    _check_label(plan, jobset, version)
    for job in jobset.jobs:
        for key in (key for key in FAMILY if key in job.annotations):
            _check_annotation(plan, jobset, job, key, version)


def _check_label(plan: Plan, jobset: JobSetView, version: ClusterVersion) -> None:
    value = jobset.labels.get(MAX_TIME)
    if value is not None and version[:2] < SINCE[MAX_TIME]:
        source = source_of(plan, MAX_TIME, str(value))
        path = ("metadata", "labels", MAX_TIME)
        plan.report_object(jobset.tree, path, "TF356", _too_old(MAX_TIME, version), source=source)


def _check_annotation(plan: Plan, jobset: JobSetView, job: ReplicatedJob, key: str, version: ClusterVersion) -> None:
    since = SINCE.get(key)
    if since is None:  # always set together with another annotation
        return
    if version[:2] < since:
        report_annotation(plan, jobset, job, key, "TF356", _too_old(key, version))
    elif version[:2] < ON_BY_DEFAULT:
        message = f"Kueue {version} disables TopologyAwareScheduling by default and would ignore {key}"
        hint = "enable the feature gate, or use Kueue 0.14 or later, where it is on by default"
        report_annotation(plan, jobset, job, key, "TF356", message, severity="warning", hint=hint)


def _too_old(key: str, known: ClusterVersion) -> str:
    major, minor = SINCE[key]
    return f"{key} needs Kueue {major}.{minor}, but the Environment's spec.cluster says {known}"
