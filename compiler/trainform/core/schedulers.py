"""Gang schedulers: what a job's pods request of them, and whether the cluster has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.core.gang import CHOICE, POLICY, first_that_waits, starts_in_order
from trainform.k8s.pod_requests import pod_requests, scaled_sum
from trainform.k8s.tree import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.core.jobset_view import JobSetView, ReplicatedJob
    from trainform.core.plan import Plan
    from trainform.core.pod_set import PodSet
    from trainform.core.provenance import Source
    from trainform.diagnostics import Path, Severity
    from trainform.k8s.tree import Tree

SCHEDULER_NAMES = {
    "coscheduling": "scheduler-plugins-scheduler",
    "volcano": "volcano",
    "kai": "kai-scheduler",
    "yunikorn": "yunikorn",
}
"""`schedulerName` by gang scheduler, as installed by each project's own charts."""

OWNERS = {name: scheduler for scheduler, name in SCHEDULER_NAMES.items()}


def send_to_scheduler(plan: Plan) -> None:
    """Set the chosen gang's scheduler in every pod template that names none. A runtime's gang leaves that to the
    runtime, as the controller does."""
    if plan.gang.chosen:
        for pods in plan.pod_sets:
            if not pods.pod_spec.get("schedulerName"):
                pods.pod_spec["schedulerName"] = SCHEDULER_NAMES[plan.gang.scheduler]


def check_schedulers(plan: Plan) -> None:
    """Report pods that use another scheduler than their gang's, or one that is not installed."""
    if _installed(plan) is None and not plan.gang.scheduler:
        return  # schedulers unknown, and no gang
    _gang_is_installed(plan)
    jobset = plan.jobset
    for job in jobset.jobs if jobset else ():
        name = job.pod_spec.get("schedulerName")
        if plan.gang.scheduler and not _holds_gang(plan.gang.scheduler, name):
            _other_scheduler(plan, job, name)
        elif name in OWNERS and OWNERS[name] != plan.gang.scheduler:
            _pods_are_served(plan, job, name)


def _holds_gang(scheduler: str, name: object) -> bool:
    """Whether scheduler `name` can run the gang. Coscheduling is a plugin that any scheduler may run, even the
    default."""
    if scheduler == "coscheduling":
        return OWNERS.get(str(name), scheduler) == scheduler
    return name == SCHEDULER_NAMES[scheduler]


def _other_scheduler(plan: Plan, job: ReplicatedJob, name: object) -> None:
    """An error if the Environment chose the gang; the controller leaves a runtime's to the runtime."""
    gang, wanted, chosen = plan.gang.scheduler, SCHEDULER_NAMES[plan.gang.scheduler], plan.gang.chosen
    by = f"that Environment {plan.environment.name} chose" if chosen else "of the runtime"
    _report(
        plan,
        job,
        "TF360",
        f"pods of {job.name!r} use scheduler {name or 'default-scheduler'}, but the {gang} gang {by} needs {wanted}",
        f"remove schedulerName, or set it to {wanted}" if chosen else f"set schedulerName: {wanted} in the runtime",
        "error" if chosen else "warning",
    )


def _gang_is_installed(plan: Plan) -> None:
    """Check the runtime's gang. One chosen by the Environment is checked when the Environment is read."""
    installed, scheduler = _installed(plan), plan.gang.scheduler
    if installed is None or not scheduler or scheduler in installed or _chooses(plan):
        return
    plan.report(
        "TF153",
        f"the runtime needs {scheduler}, which is not installed in Environment {plan.environment.name}",
        hint=f"{_known(installed)}; if it is installed, add it to spec.cluster.schedulers, "
        "or choose another gang in spec.scheduling.gang",
        source=("runtime", POLICY),
    )


def _pods_are_served(plan: Plan, job: ReplicatedJob, name: str) -> None:
    installed = _installed(plan)
    if installed is None or OWNERS[name] in installed:
        return
    _report(
        plan,
        job,
        "TF153",
        f"pods of {job.name!r} use scheduler {name}, which is not installed in Environment "
        f"{plan.environment.name}: they would stay Pending",
        f"{_known(installed)}; remove schedulerName, "
        f"or, if it is installed, add {OWNERS[name]} to spec.cluster.schedulers",
    )


def _report(plan: Plan, job: ReplicatedJob, code: str, message: str, hint: str, severity: Severity = "error") -> None:
    assert plan.jobset is not None
    path = (*job.pod_path, "spec", "schedulerName")
    plan.report_object(plan.jobset.tree, path, code, message, hint=hint, severity=severity)


def _chooses(plan: Plan) -> bool:
    choice = plan.environment.spec.scheduling.gang
    return choice is not None and choice.scheduler is not None


def _installed(plan: Plan) -> Sequence[str] | None:
    """The cluster's gang schedulers; None if unknown."""
    given = plan.destination.given
    return given.spec.cluster.schedulers if given else None


def _known(installed: Sequence[str]) -> str:
    return f"installed: {', '.join(installed) or 'no gang scheduler'}"


def gang_demand(plan: Plan, steps: Sequence[PodSet]) -> tuple[int, dict[str, str]]:
    """Number of pods of the steps of a gang, and their total requests by resource name, canonical and sorted.

    Includes replicas (D19), limits without a request (D18), and what declared RuntimeClasses and LimitRanges will add
    (D15); each is reported if the controller's numbers differ. Source: kubeflow/trainer
    `pkg/runtime/framework/plugins/coscheduling`.
    """
    members = sum(pods.count * pods.replicas for pods in steps)
    if any(pods.replicas > 1 for pods in steps):
        controllers = sum(pods.count for pods in steps)
        _deviates(plan, "D19", f"ignore replicas: a gang of {controllers} pods, not {members}")
    bare, defaulted = _requests(plan, steps, limits=False), _requests(plan, steps, limits=True)
    if bare != defaulted:
        _deviates(plan, "D18", "count only requests; here a limit without a request counts as the request")
    if not plan.facts.names("RuntimeClass") and not plan.facts.names("LimitRange", plan.namespace):
        return members, defaulted
    admitted = _requests(plan, steps, limits=True, admitted=True)
    if admitted != defaulted:
        _deviates(plan, "D15", "ignore what RuntimeClass and LimitRange add to the pods")
    return members, admitted


def _deviates(plan: Plan, code: str, message: str) -> None:
    plan.deviates(code, f"the controller would {message}", source=("runtime", POLICY))


def _requests(plan: Plan, steps: Sequence[PodSet], *, limits: bool, admitted: bool = False) -> dict[str, str]:
    specs = [pods.pod_spec for pods in steps]
    if admitted:
        from trainform.k8s.admission import admitted_pod_spec

        specs = [admitted_pod_spec(spec, plan.namespace, plan.facts) for spec in specs]
    return scaled_sum(
        (pod_requests(spec, limits_default_requests=limits), pods.count * pods.replicas)
        for spec, pods in zip(specs, steps, strict=True)
    )


def per_stage_remedy(scheduler: str) -> str:
    """What to write where the steps of one gang wait for each other."""
    return (
        f"write scheduling.gang: {{scheduler: {scheduler}, perStage: true}} in the Environment, "
        "so that steps that start together are a gang of their own"
    )


def steps_that_wait(jobset: JobSetView) -> str:
    """Which step of a JobSet is only created after others, in words; empty if all are created at once."""
    if waiting := first_that_waits(job.tree for job in jobset.jobs):
        return f"{text(waiting, 'name')!r} waits for other steps"
    return "steps start one after another" if starts_in_order(jobset.spec) and len(jobset.jobs) > 1 else ""


def tell_waiting_steps(plan: Plan, remedy: str = "") -> None:
    """Warn, at whatever asked for the gang, of one gang for steps that start one after the other: the first step waits
    in the gang for pods that are created only after it is done. `remedy`: what to write instead, if the scheduler has
    another than `per_stage_remedy`."""
    jobset, scheduler = plan.jobset, plan.gang.scheduler
    what = steps_that_wait(jobset) if jobset and not plan.gang.per_stage else ""
    if what:
        message = f"{what}, but the {scheduler} gang waits for the pods of all steps: the job may never start"
        tell_at_the_gang(plan, "TF361", message, remedy or per_stage_remedy(scheduler))


def tell_at_the_gang(plan: Plan, code: str, message: str, hint: str, severity: Severity = "warning") -> None:
    """Report at the Environment or the runtime, whichever asked for the gang."""
    source: Source = ("environment", CHOICE) if plan.gang.chosen else ("runtime", POLICY)
    plan.report(code, message, hint=hint, severity=severity, source=source)


def tell_undeclared(
    plan: Plan, fact: str, consequence: str, named: tuple[Tree, Path] | None = None, source: Source | None = None
) -> None:
    """Warn about a fact that jobs need and that is not declared. `named` is the object and path with its name, reported
    at `source` if that set it; without, it is reported at the Environment. Without an Environment there are no facts,
    and no warning."""
    if plan.destination.document is None:
        return
    message = f"{fact} is not declared: {consequence}"
    hint = "add it to the Environment's folder, so that jobs can be checked against it"
    if named:
        plan.report_object(*named, "TF563", message, severity="warning", hint=hint, source=source)
    else:
        plan.warn("TF563", message, hint=hint, source=("environment", ("spec", "cluster")))
