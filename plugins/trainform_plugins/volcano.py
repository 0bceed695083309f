"""Gang scheduling with Volcano: a PodGroup, and an annotation on every pod."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.plugin import (
    GANG_QUEUE,
    Path,
    Plan,
    Plugin,
    PodSet,
    Source,
    Stage,
    Tree,
    did_you_mean,
    gang_demand,
    listed,
    number,
    send_to_scheduler,
    table,
    tell_undeclared,
    tell_waiting_steps,
    text,
)

GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"
QUEUE_PATH: Path = ("metadata", "annotations", QUEUE_ANNOTATION)
QUEUE_OF_GROUP: Path = ("spec", "queue")
RUNTIMES_TOPOLOGY: Source = ("runtime", ("spec", "podGroupPolicy", "volcano", "networkTopology"))
CHOSEN_TOPOLOGY: Source = ("environment", ("spec", "scheduling", "gang", "networkTopology"))

BUILT_IN_QUEUES = ("default", "root")
"""Queues that Volcano creates itself."""

BUILT_IN_PRIORITIES = ("system-cluster-critical", "system-node-critical")
"""Priority classes that every cluster has."""


class Volcano(Plugin):
    """One PodGroup for all pods of the job, or for each stage, in the queue of the TrainJob, else the Environment, else
    the template. Source: kubeflow/trainer `pkg/runtime/framework/plugins/volcano`."""

    name = "volcano"

    def applies(self, plan: Plan) -> bool:
        return plan.gang.scheduler == "volcano"

    def validate(self, plan: Plan) -> None:
        _queue_is_named(plan)
        for pods in plan.pod_sets:
            _priority_class_is_declared(plan, pods)

    def enforce_pod_group_policy(self, plan: Plan) -> None:
        send_to_scheduler(plan)
        for gang in plan.gangs:
            plan.annotate_pods(GROUP_ANNOTATION, gang.name, steps=gang.steps)
        _take_over_queue(plan)

    def build(self, plan: Plan) -> Iterable[Tree]:
        return [_pod_group(plan, gang) for gang in plan.gangs]

    def check(self, plan: Plan) -> None:
        tell_waiting_steps(plan)
        groups = [tree for tree in plan.objects if tree["kind"] == "PodGroup"]
        for tree in groups[:1]:  # all stages have the same queue and topology
            _queue_is_declared(plan, tree)
            _tier_exists(plan, tree)


def _pod_group(plan: Plan, gang: Stage) -> Tree:
    members, resources = gang_demand(plan, gang.steps)
    spec: Tree = {"minMember": members, **({"minResources": resources} if resources else {})}
    topology, topology_source = _network_topology(plan)
    optional = (
        ("queue", _templates_queue(plan)),
        ("priorityClassName", _priority_class(gang)),
        ("networkTopology", topology),
    )
    spec.update((key, value) for key, value in optional if value)
    pod_group = plan.new_object("scheduling.volcano.sh/v1beta1", "PodGroup", gang.name, spec=spec)
    plan.record_source(_queue_source(plan, spec.get("queue")), "spec", "queue", object=pod_group)
    plan.record_source(topology_source, "spec", "networkTopology", object=pod_group)
    return pod_group


def _jobs_queue(plan: Plan) -> str | None:
    """The queue in the TrainJob's annotation, which beats the template's (D12)."""
    return (plan.job.metadata.annotations or {}).get(QUEUE_ANNOTATION)


def _templates_queue(plan: Plan) -> str | None:
    """The queue in the annotation of the JobSet's template, or by now the JobSet."""
    queue: str | None = (plan.metadata.get("annotations") or {}).get(QUEUE_ANNOTATION)
    return queue


def _queue_is_named(plan: Plan) -> None:
    of_job, of_template = _jobs_queue(plan), plan.gang.queue or _templates_queue(plan)
    if of_job == "" or (of_job is None and of_template == ""):
        plan.report(
            "TF331",
            "must name a queue",
            hint="remove the annotation to use the default queue",
            path=QUEUE_PATH if of_job == "" else ("spec", "template", *QUEUE_PATH),
            place=None if of_job == "" else plan.runtime_document,
        )


def _take_over_queue(plan: Plan) -> None:
    of_template, of_job = _templates_queue(plan), _jobs_queue(plan)
    queue = of_job or plan.gang.queue
    if not queue:
        return
    plan.annotate_jobset(QUEUE_ANNOTATION, queue, _queue_source(plan, queue))
    if of_job and queue != of_template:
        plan.deviates_each(
            "D12",
            f"the controller would leave {QUEUE_ANNOTATION} on the TrainJob; trainform sets it as the PodGroup's queue",
            path=QUEUE_PATH,
        )


def _queue_is_declared(plan: Plan, pod_group: Tree) -> None:
    queue = (pod_group.get("spec") or {}).get("queue")
    declared = plan.facts.names("Queue")
    if not queue or queue in BUILT_IN_QUEUES or queue in declared:
        return
    source, jobset = _queue_source(plan, queue), plan.jobset
    tree, path = pod_group, QUEUE_OF_GROUP
    if source and source[0] == "runtime" and jobset:  # or a runtimePatch: the JobSet knows which
        tree, path, source = jobset.tree, QUEUE_PATH, None
    if not declared:
        tell_undeclared(plan, f"Volcano Queue {queue}", "gangs in it cannot be checked", (tree, path), source)
        return
    hint = did_you_mean(queue, declared) or f"declared: {listed(declared)}"
    plan.report_object(tree, path, "TF362", f"there is no Volcano Queue {queue!r}", hint=hint, source=source)


def _queue_source(plan: Plan, queue: str | None) -> Source | None:
    """Where the queue is set; None if a patch changed it."""
    if queue == _jobs_queue(plan):
        return "trainjob", QUEUE_PATH
    if queue == plan.gang.queue:
        return GANG_QUEUE
    return ("runtime", ("spec", "template", *QUEUE_PATH)) if queue == _templates_queue(plan) else None


def _priority_class_is_declared(plan: Plan, pods: PodSet) -> None:
    """The controller looks it up; here, if none is declared, nothing is known (D15)."""
    name = pods.pod_spec.get("priorityClassName")
    if name and name not in BUILT_IN_PRIORITIES and not plan.facts.names("PriorityClass"):
        path: Path = (*pods.path, "template", "spec", "template", "spec", "priorityClassName")
        message = f"the controller would look up PriorityClass {name!r} in the cluster; here none is declared"
        plan.deviates("D15", message, source=("runtime", path))


def _priority_class(gang: Stage) -> str:
    """That of the last replicated job that has one: a PodGroup has only one."""
    names = [pods.pod_spec.get("priorityClassName") for pods in gang.steps]
    return next((str(name) for name in reversed(names) if name), "")


def _network_topology(plan: Plan) -> tuple[Tree, Source]:
    """The Environment's, else the runtime's, with the API's default mode; and where it is set."""
    choice = plan.environment.spec.scheduling.gang if plan.gang.chosen else None
    if choice and choice.network_topology:
        given = choice.network_topology.model_dump(by_alias=True, exclude_none=True)
        return given, CHOSEN_TOPOLOGY
    policy = plan.runtime.spec.pod_group_policy
    topology = policy.volcano.network_topology if policy and policy.volcano else None
    if topology is None:
        return {}, RUNTIMES_TOPOLOGY
    return {"mode": "hard", **{key: value for key, value in topology.items() if value is not None}}, RUNTIMES_TOPOLOGY


def _tier_exists(plan: Plan, pod_group: Tree) -> None:
    """The highest tier is that of some declared HyperNode; below the lowest, no HyperNode could hold the gang."""
    topology = table(table(pod_group, "spec"), "networkTopology")
    highest = number(topology, "highestTierAllowed")
    declared = (plan.facts.get("HyperNode", name) or {} for name in plan.facts.names("HyperNode"))
    tiers = sorted({tier for each in declared if (tier := number(table(each, "spec"), "tier")) is not None})
    if highest is None or not tiers or highest in tiers or text(topology, "mode") == "soft":
        return
    known = ", ".join(map(str, tiers))
    given, source = _network_topology(plan)
    plan.report_object(
        pod_group,
        ("spec", "networkTopology", "highestTierAllowed"),
        "TF353",
        f"no HyperNode has tier {highest}"
        + ("" if highest > tiers[0] else f": the lowest is {tiers[0]}, so the gang would wait forever"),
        severity="warning" if highest > tiers[0] else "error",
        hint=f"tiers of the declared HyperNodes: {known}",
        source=(source[0], (*source[1], "highestTierAllowed")) if given == topology else None,
    )
