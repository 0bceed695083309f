"""Checks of topology: what Kueue's webhook rejects, and what Kueue could never place."""

from __future__ import annotations

from collections.abc import Iterator

from trainform.plugin import JobSetView, Plan, ReplicatedJob, Tree, did_you_mean, table, tables, tell_undeclared, text
from trainform_plugins.kueue.asked import (
    FAMILY,
    GROUP,
    LEVELS,
    PREFERRED,
    REQUIRED,
    SLICE,
    SLICE_SIZE,
    UNCONSTRAINED,
    report,
)
from trainform_plugins.kueue.multikueue import is_handed_on
from trainform_plugins.kueue.queues import cluster_queue_of

MAIN = (REQUIRED, PREFERRED, UNCONSTRAINED)

Levels = dict[str, list[str]]
"""Topologies by name, each with its levels, widest first."""


def one_of_each(plan: Plan, jobset: JobSetView) -> None:
    """Kueue's webhook: required, preferred and unconstrained exclude each other; a slice has a size."""
    for job in jobset.jobs:
        given = [key for key in MAIN if key in job.annotations]
        if len(given) > 1:
            message = f"pods of {job.name!r} must set only one of {' and '.join(given)}: Kueue rejects both together"
            report(plan, jobset, job, given[1], "TF359", message, hint="keep one of them")
        pair = [key for key in (SLICE, SLICE_SIZE) if key in job.annotations]
        if len(pair) == 1:
            other = SLICE_SIZE if pair[0] == SLICE else SLICE
            message = f"pods of {job.name!r} need {other} as well as {pair[0]}: Kueue rejects one without the other"
            report(plan, jobset, job, pair[0], "TF359", message)


def fits_the_pods(plan: Plan, jobset: JobSetView) -> None:
    """A slice is at most all pods of its step (Kueue's webhook), and should divide them: Kueue places whole slices, and
    leaves the remaining pods gated (kueue 15277)."""
    for job in jobset.jobs:
        size = job.annotations.get(SLICE_SIZE)
        if size is None:
            continue
        if not str(size).isdecimal() or int(size) < 1:
            message = f'{SLICE_SIZE} must be a number of pods (at least 1), not "{size}"'
            report(plan, jobset, job, SLICE_SIZE, "TF359", message)
        elif int(size) > job.pods:
            message = f"a slice of {size} pods is larger than step {job.name!r}, which has {_pods(job)}"
            hint = "use a smaller slice, or set a topology for this step in spec.scheduling.kueue.steps"
            report(plan, jobset, job, SLICE_SIZE, "TF354", message, hint=hint)
        elif job.pods % int(size):
            rest = job.pods % int(size)
            message = f"step {job.name!r} has {_pods(job)}, which is not a multiple of the slice size {size}"
            hint = f"the last {rest} would stay gated: change the slice size or the number of pods"
            report(plan, jobset, job, SLICE_SIZE, "TF354", message, severity="warning", hint=hint)


def groups_are_pairs(plan: Plan, jobset: JobSetView) -> None:
    """Kueue's webhook: a group joins two steps that request the same level, one of them a single pod."""
    steps = [job for job in jobset.jobs if GROUP in job.annotations]
    for name in dict.fromkeys(str(job.annotations[GROUP]) for job in steps):
        members = [job for job in steps if job.annotations[GROUP] == name]
        if problem := _no_pair(name, members):
            report(plan, jobset, members[0], GROUP, "TF354", problem)


def _no_pair(group: str, members: list[ReplicatedJob]) -> str:
    names = " and ".join(f"{job.name!r}" for job in members)
    if len(members) != 2:
        return f"group {group!r} must contain exactly two steps, but has {names}"
    if all(job.pods != 1 for job in members):
        return f"one of the two steps of group {group!r} must have a single pod, but {names} have more"
    asked = [[job.annotations.get(key) for key in (REQUIRED, PREFERRED)] for job in members]
    return f"the steps of group {group!r} must use the same level, but {names} differ" if asked[0] != asked[1] else ""


def levels_exist(plan: Plan, jobset: JobSetView) -> None:
    """Every level belongs to a Topology of the queue's flavors; a slice is no wider than the whole."""
    asking = [job for job in jobset.jobs if any(key in job.annotations for key in FAMILY)]
    if not asking or is_handed_on(jobset):  # the facts describe the manager cluster, not the worker
        return
    known = _topologies(plan, jobset)
    if known is None:
        levels = (text(job.annotations, key) for job in asking for key in LEVELS)
        if named := next(filter(None, levels), ""):
            tell_undeclared(plan, f"a Topology with level {named}", "Kueue never admits a job with an unknown level")
        return
    for job in asking:
        _levels_are_known(plan, jobset, job, known)
        _slice_is_within(plan, jobset, job, known)


def _topologies(plan: Plan, jobset: JobSetView) -> Levels | None:
    """The Topologies that the job may be placed in: those of its queue's flavors if all are declared, else every
    declared one. None if none are known."""
    flavors = list(_flavors(cluster_queue_of(plan, jobset)))
    declared = [plan.facts.get("ResourceFlavor", flavor) for flavor in flavors]
    names = plan.facts.names("Topology")
    if flavors and all(declared):
        used = [text(table(each or {}, "spec"), "topologyName") for each in declared]
        if any(name and name not in names for name in used):
            return None
        names = [name for name in dict.fromkeys(used) if name]
    elif not names:
        return None
    return {name: _levels(plan.facts.get("Topology", name) or {}) for name in names}


def _flavors(cluster_queue: Tree | None) -> Iterator[str]:
    for group in tables(table(cluster_queue or {}, "spec"), "resourceGroups"):
        yield from (text(flavor, "name") for flavor in tables(group, "flavors"))


def _levels(topology: Tree) -> list[str]:
    return [text(level, "nodeLabel") for level in tables(table(topology, "spec"), "levels")]


def _levels_are_known(plan: Plan, jobset: JobSetView, job: ReplicatedJob, known: Levels) -> None:
    if not known:
        key = next(key for key in FAMILY if key in job.annotations)
        message = "no flavor of the job's queue has a Topology, so Kueue cannot place its pods by topology"
        report(plan, jobset, job, key, "TF353", message, hint="set topologyName in a ResourceFlavor")
        return
    levels = list(dict.fromkeys(level for each in known.values() for level in each))
    for key in LEVELS:
        level = text(job.annotations, key)
        if level and level not in levels:
            message = f"{level} is not a level of Topology {' or '.join(known)}"
            hint = did_you_mean(level, levels) or f"its levels are {', '.join(levels)}"
            report(plan, jobset, job, key, "TF353", message, hint=hint)


def _slice_is_within(plan: Plan, jobset: JobSetView, job: ReplicatedJob, known: Levels) -> None:
    inner = text(job.annotations, SLICE)
    outer = text(job.annotations, REQUIRED) or text(job.annotations, PREFERRED)
    both = [levels for levels in known.values() if inner in levels and outer in levels]
    if both and all(levels.index(inner) < levels.index(outer) for levels in both):
        message = f"a slice in one {inner} does not fit into one {outer}, which is smaller"
        report(plan, jobset, job, SLICE, "TF354", message, hint="swap the two levels")


def shares_the_pods_with_a_gang(plan: Plan, jobset: JobSetView) -> None:
    """A gang scheduler and Kueue's topology both decide on placement, and may each hold what the other waits for."""
    asks = any(key in job.annotations for job in jobset.jobs for key in FAMILY)
    if asks and plan.gang.chosen:
        plan.warn(
            "TF364",
            f"Kueue chooses the nodes by topology before {plan.gang.scheduler} sees the pods: if the gang "
            "does not fit there, it waits while Kueue reserves its quota",
            hint="remove one of the two: Kueue also admits all pods of a job together",
            source=("environment", ("spec", "scheduling", "gang", "scheduler")),
        )


def _pods(job: ReplicatedJob) -> str:
    return "1 pod" if job.pods == 1 else f"{job.pods} pods"
