"""Gangs: which scheduler starts the pods of a job together, how many there are, what they request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.pod_requests import pod_requests, scaled_sum

if TYPE_CHECKING:
    from trainform.core.plan import Plan
    from trainform.diagnostics import Path

POLICY: Path = ("spec", "podGroupPolicy")
CHOICE: Path = ("spec", "scheduling", "gang", "scheduler")


class Gang(NamedTuple):
    """The gang of a job, in effect. `scheduler` is empty where there is none.

    `chosen` says that the Environment chose it: then pods are sent to that scheduler, while a policy
    of the runtime leaves that to the runtime's template, as the controller does.
    `timeout_seconds` is coscheduling's; `queue` Volcano's, KAI's or YuniKorn's, empty for the default.
    """

    scheduler: str = ""
    chosen: bool = False
    timeout_seconds: int = 60
    queue: str = ""
    queue_label: str = ""


NO_GANG = Gang()


def effective_gang(plan: Plan) -> Gang:
    """The Environment's choice, else the runtime's policy. Two that disagree are an error; an
    Environment that turns a runtime's gang off says so.
    """
    own = _runtimes_gang(plan)
    if plan.destination.is_default:
        return own
    choice = plan.environment.spec.scheduling.gang
    if choice is None or choice.scheduler is None:
        return own
    if choice.scheduler == "none":
        if own.scheduler:
            message = f"Environment {plan.environment.name} disables the runtime's {own.scheduler} gang"
            _tell(plan, message, "the pods of a job may then start one by one", error=False)
        return NO_GANG
    if own.scheduler and own.scheduler != choice.scheduler:
        message = (
            f"the runtime uses a {own.scheduler} gang, but Environment {plan.environment.name} "
            f"uses {choice.scheduler}: pods in two gangs stay Pending"
        )
        _tell(plan, message, "use a runtime without podGroupPolicy in this Environment", error=True)
        return own
    timeout = choice.schedule_timeout_seconds
    return Gang(
        choice.scheduler,
        True,
        own.timeout_seconds if timeout is None else timeout,
        choice.queue or "",
        choice.queue_label,
    )


def _runtimes_gang(plan: Plan) -> Gang:
    policy = plan.runtime.spec.pod_group_policy
    if policy is None:
        return NO_GANG
    if policy.coscheduling is not None:
        return Gang("coscheduling", timeout_seconds=policy.coscheduling.schedule_timeout_seconds)
    return Gang("volcano") if policy.volcano is not None else NO_GANG


def _tell(plan: Plan, message: str, hint: str, *, error: bool) -> None:
    place = plan.destination.document
    plan.report("TF164", message, severity="error" if error else "warning", hint=hint, path=CHOICE, place=place)


def gang_demand(plan: Plan) -> tuple[int, dict[str, str]]:
    """All pods of the job, and their requests by resource name, canonical and sorted.

    Replicas count (D19), limits without a request (D18), and what declared RuntimeClasses and
    LimitRanges will add (D15): each is told where the controller's numbers differ.
    Source: kubeflow/trainer `pkg/runtime/framework/plugins/coscheduling`.
    """
    members = sum(pods.count * pods.replicas for pods in plan.pod_sets)
    if any(pods.replicas > 1 for pods in plan.pod_sets):
        controllers = sum(pods.count for pods in plan.pod_sets)
        _deviates(plan, "D19", f"ignore replicas: a gang of {controllers} pods, not {members}")
    bare, defaulted = _requests(plan, limits=False), _requests(plan, limits=True)
    if bare != defaulted:
        _deviates(plan, "D18", "count only requests; here a limit without a request counts as the request")
    if not plan.facts.names("RuntimeClass") and not plan.facts.names("LimitRange", plan.namespace):
        return members, defaulted
    admitted = _requests(plan, limits=True, admitted=True)
    if admitted != defaulted:
        _deviates(plan, "D15", "ignore what RuntimeClass and LimitRange add to the pods")
    return members, admitted


def _deviates(plan: Plan, code: str, message: str) -> None:
    plan.deviates(code, f"the controller would {message}", path=POLICY, place=plan.runtime_document)


def _requests(plan: Plan, *, limits: bool, admitted: bool = False) -> dict[str, str]:
    specs = [pods.pod_spec for pods in plan.pod_sets]
    if admitted:
        from trainform.k8s.admission import admitted_pod_spec

        specs = [admitted_pod_spec(spec, plan.namespace, plan.facts) for spec in specs]
    return scaled_sum(
        (pod_requests(spec, limits_default_requests=limits), pods.count * pods.replicas)
        for spec, pods in zip(specs, plan.pod_sets, strict=True)
    )
