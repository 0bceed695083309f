"""Gangs: which scheduler starts a job's pods together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic

if TYPE_CHECKING:
    from trainform.api import Runtime
    from trainform.core.destination import Destination
    from trainform.core.provenance import Source
    from trainform.diagnostics import Path, Severity

POLICY: Path = ("spec", "podGroupPolicy")
CHOICE: Path = ("spec", "scheduling", "gang", "scheduler")
GANG_QUEUE: Source = ("environment", ("spec", "scheduling", "gang", "queue"))
PER_STAGE: Source = ("environment", ("spec", "scheduling", "gang", "perStage"))
CHOSEN_TIMEOUT: Source = ("environment", ("spec", "scheduling", "gang", "scheduleTimeoutSeconds"))
RUNTIMES_TIMEOUT: Source = ("runtime", (*POLICY, "coscheduling", "scheduleTimeoutSeconds"))


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
