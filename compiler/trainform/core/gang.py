"""Gangs: which scheduler starts a job's pods together, and which pods: all of a job, or those of each stage, the steps
whose pods are created at the same moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.k8s.tree import Tree, table, tables, text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from trainform.api import Runtime
    from trainform.core.destination import Destination
    from trainform.core.pod_set import PodSet
    from trainform.core.provenance import Source
    from trainform.diagnostics import Path, Severity

POLICY: Path = ("spec", "podGroupPolicy")
CHOICE: Path = ("spec", "scheduling", "gang", "scheduler")
GANG_QUEUE: Source = ("environment", ("spec", "scheduling", "gang", "queue"))
CHOSEN_TIMEOUT: Source = ("environment", ("spec", "scheduling", "gang", "scheduleTimeoutSeconds"))
RUNTIMES_TIMEOUT: Source = ("runtime", (*POLICY, "coscheduling", "scheduleTimeoutSeconds"))
IN_ORDER = "InOrder"
"""The startup policy under which JobSet creates a step once the one before it is ready."""


class Gang(NamedTuple):
    """The effective gang of a job. `scheduler` is empty if there is none.

    `chosen`: set by the Environment, so pods are sent to that scheduler. A runtime's policy leaves `schedulerName` to
    the runtime's template, as the controller does. `timeout_seconds` applies to coscheduling; `queue` to Volcano, KAI
    and YuniKorn, empty for the default. `per_stage`: steps that start together are a gang of their own.
    """

    scheduler: str = ""
    chosen: bool = False
    timeout_seconds: int = 60
    queue: str = ""
    queue_label: str = ""
    timeout_source: Source = RUNTIMES_TIMEOUT
    per_stage: bool = False


NO_GANG = Gang()


def effective_gang(runtime: Runtime, destination: Destination) -> tuple[Gang, list[Diagnostic]]:
    """The Environment's choice, else the runtime's policy. Disagreement is an error; turning a runtime's gang off is a
    warning."""
    own = _runtimes_gang(runtime)
    choice = None if destination.is_default else destination.environment.spec.scheduling.gang
    if choice is None or choice.scheduler is None:
        return own, []
    if choice.scheduler == "none":
        if not own.scheduler:
            return NO_GANG, []
        message = f"Environment {destination.name} disables the runtime's {own.scheduler} gang"
        return NO_GANG, [_problem(destination, "warning", message, "the pods of a job may then start one by one")]
    if own.scheduler and own.scheduler != choice.scheduler:
        message = (
            f"the runtime uses a {own.scheduler} gang, but Environment {destination.name} "
            f"uses {choice.scheduler}: pods in two gangs stay Pending"
        )
        return own, [
            _problem(destination, "error", message, "use a runtime without podGroupPolicy in this Environment")
        ]
    timeout = choice.schedule_timeout_seconds
    gang = Gang(
        choice.scheduler,
        True,
        own.timeout_seconds if timeout is None else timeout,
        choice.queue or "",
        choice.queue_label,
        RUNTIMES_TIMEOUT if timeout is None else CHOSEN_TIMEOUT,
        choice.per_stage,
    )
    return gang, []


def _runtimes_gang(runtime: Runtime) -> Gang:
    policy = runtime.spec.pod_group_policy
    if policy is None:
        return NO_GANG
    if policy.coscheduling is not None:
        return Gang("coscheduling", timeout_seconds=policy.coscheduling.schedule_timeout_seconds)
    return Gang("volcano") if policy.volcano is not None else NO_GANG


def _problem(destination: Destination, severity: Severity, message: str, hint: str) -> Diagnostic:
    return Diagnostic("TF164", severity, message, hint, CHOICE, destination.document)


class Stage(NamedTuple):
    """The steps of one gang. `name` is that of the gang, which no other job's can have: names of TrainJobs have no
    dot."""

    name: str
    steps: tuple[PodSet, ...]


def gangs_of(name: str, steps: Iterable[PodSet], jobset_spec: Tree, *, per_stage: bool) -> list[Stage]:
    """All steps as one gang, called like the job; with `per_stage`, a gang for each stage, called `<job>.<first
    step>`."""
    steps, in_order = tuple(steps), starts_in_order(jobset_spec)
    stages: dict[Hashable, list[PodSet]] = {}
    for pods in steps if per_stage else ():
        stages.setdefault(pods.name if in_order else _awaited(pods.job), []).append(pods)
    if len(stages) < 2:
        return [Stage(name, steps)]
    return [Stage(f"{name}.{stage[0].name}", tuple(stage)) for stage in stages.values()]


def _awaited(replicated_job: Tree) -> Hashable:
    """What a step waits for; steps that wait for the same are created at the same moment."""
    return frozenset((text(each, "name"), text(each, "status")) for each in tables(replicated_job, "dependsOn"))


def starts_in_order(jobset_spec: Tree) -> bool:
    """Whether the steps of a JobSet start one after the other."""
    return text(table(jobset_spec, "startupPolicy"), "startupPolicyOrder") == IN_ORDER


def first_that_waits(replicated_jobs: Iterable[Tree]) -> Tree | None:
    """The first replicated job that is only created after others."""
    return next((each for each in replicated_jobs if tables(each, "dependsOn")), None)
