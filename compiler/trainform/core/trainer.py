"""What ML plugins need from the trainer step: nodes, resources, variables, host names."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from trainform.core.jobset_view import NODE_CONTAINER, TRAINER_STEP
from trainform.core.pod_set import upsert
from trainform.core.resources import cpu_count, gpu_count, gpu_names, merge_resources
from trainform.k8s.devices import is_gpu
from trainform.k8s.quantity import whole_units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainform.core.plan import Plan
    from trainform.core.pod_set import PodSet
    from trainform.core.provenance import Source
    from trainform.k8s.tree import Tree

TRAINER_PORT = 29500
"""The port of master, coordinator and tracker. Source: kubeflow/trainer `pkg/constants`."""

NUM_NODES: Source = ("trainjob", ("spec", "trainer", "numNodes"))
RESOURCES: Source = ("trainjob", ("spec", "trainer", "resourcesPerNode"))
VARIABLES: Source = ("trainjob", ("spec", "trainer", "env"))
RUNTIMES_NODES: Source = ("runtime", ("spec", "mlPolicy", "numNodes"))

Count = TypeVar("Count")

COMPLETION_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""The field path of a pod's rank."""


def merge_resources_per_node(plan: Plan) -> None:
    """Merge `trainer.resourcesPerNode` into the `node` container of each trainer step, and set the trainer's node count
    to the runtime's `numNodes`; both only if there is an mlPolicy. Source: kubeflow/trainer
    `pkg/runtime/core/trainingruntime.go`."""
    policy = plan.runtime.spec.ml_policy
    for pods in plan.pod_sets if policy else ():
        if policy and pods.step == TRAINER_STEP:
            pods.set_count(max(policy.num_nodes or 1, 1), RUNTIMES_NODES)
            merge_trainer_resources(plan, pods)


def merge_trainer_resources(plan: Plan, pods: PodSet) -> None:
    """Merge `trainer.resourcesPerNode` into the `node` container of `pods`, including claims (D21)."""
    node, trainer = pods.container(NODE_CONTAINER), plan.job.spec.trainer
    if node is None or trainer is None or not trainer.resources_per_node:
        return
    runtimes = node.get("resources") or {}
    node["resources"] = merge_resources(runtimes, trainer.resources_per_node)
    pods.record_source(RESOURCES, "resources", container=node)
    if trainer.resources_per_node.get("claims"):
        plan.deviates("D21", "the controller would drop resourcesPerNode.claims", path=(*RESOURCES[1], "claims"))
    elif runtimes.get("claims"):
        plan.deviates("D21", "the controller would drop the runtime's resource claims", path=RESOURCES[1])


def no_reserved_variables(plan: Plan, reserved: Sequence[str], hint: str) -> None:
    """Report TrainJob variables that the framework's plugin sets; `hint` says what to use instead. Source: Validate of
    each framework in kubeflow/trainer `pkg/runtime/framework/plugins`."""
    for index, variable in enumerate(plan.trainer.env):
        if variable.get("name") in reserved:
            plan.report(
                "TF312",
                f"{variable['name']} is set by trainform for the framework; a job cannot set it",
                hint=f"remove it; {hint}",
                path=("spec", "trainer", "env"),
                point=("spec", "trainer", "env", index, "name"),
            )


def set_nodes(plan: Plan) -> None:
    """Set the trainer step's node count to `trainer.numNodes`, if set."""
    pods = plan.trainer_pod_set
    if pods is not None and plan.num_nodes is not None:
        pods.set_count(plan.num_nodes, NUM_NODES)


def set_trainer_env(plan: Plan, pods: PodSet | None = None) -> None:
    """Upsert `trainer.env` into the `node` container of `pods`, by default the trainer step's. The user's value always
    wins."""
    pods = pods or plan.trainer_pod_set
    node = pods.container(NODE_CONTAINER) if pods else None
    if pods is not None and node is not None:
        upsert(node, "env", map(env_var, plan.trainer.env))
        pods.record_source(VARIABLES, "env", container=node)


def set_trainer_fields(plan: Plan, pods: PodSet) -> None:
    """Set the trainer's image, command, arguments and variables on the `node` container of a trainer step."""
    node = pods.container(NODE_CONTAINER)
    if node is None:
        return
    wanted = plan.trainer
    for field, value in (("image", wanted.image), ("command", wanted.command), ("args", wanted.args)):
        if value is not None:
            node[field] = value
    set_trainer_env(plan, pods)


def record_trainer_fields(plan: Plan) -> None:
    """Record that the trainer steps' fields come from the TrainJob, unless a plugin changes them first."""
    for pods in plan.pod_sets if plan.ledger.copies is not None else ():
        node = pods.container(NODE_CONTAINER) if pods.step == TRAINER_STEP else None
        for field in ("image", "command", "args", "env") if node else ():
            pods.record_source(("trainjob", ("spec", "trainer", field)), field, container=node)


def env_var(variable: Tree) -> Tree:
    """A TrainJob variable as the controller copies it: a source beats a value, and a field reference loses its
    `apiVersion`. Source: kubeflow/trainer `pkg/apply/apply.go`, EnvVar."""
    source = variable.get("valueFrom")
    if source is None:
        return variable
    if source.get("fieldRef"):
        source = {**source, "fieldRef": {"fieldPath": source["fieldRef"].get("fieldPath", "")}}
    return {"name": variable["name"], "valueFrom": source}


def count_per_node(
    plan: Plan,
    resources: Tree | None,
    count: Callable[[int, int], Count],
    what: str,
    *,
    counts_always: bool = False,
) -> Count:
    """`count(gpus, cpus)`, such as a number of processes, for a node with the merged `resources`.

    If the controller would count differently, reports D03 (it reads only the TrainJob's or the runtime's resources) or
    D09 (it picks one of several GPU resources at random, shares included), calling the number `what`. `counts_always`:
    the controller counts even without `spec.trainer`, where it otherwise sets nothing (D08).
    """
    ours = count(gpu_count(resources), cpu_count(resources))
    if plan.job.spec.trainer is None and not counts_always:
        return ours
    bare = _controllers_resources(plan)
    if bare == resources and _is_unequivocal(bare):
        return ours
    chosen = count(gpu_count(bare), cpu_count(bare))
    path = ("spec", "trainer", "resourcesPerNode")
    if chosen != ours:
        plan.deviates("D03", f"the controller would set {what} to {chosen!s}, not {ours!s}", path=path)
    outcomes = {count(gpus, cpu_count(bare)) for gpus in _controllers_gpu_counts(bare)}
    if outcomes != {chosen}:
        told = " or ".join(sorted(map(str, outcomes)))
        how = " at random" if len(outcomes) > 1 else ", counting a share of a GPU as devices"
        plan.deviates("D09", f"the controller would set {what} to {told}{how}; here it is {ours!s}", path=path)
    return ours


def _is_unequivocal(resources: Tree | None) -> bool:
    """Whether the GPU count is unambiguous: at most one GPU resource, and it is a device."""
    asked = resources or {}
    names = gpu_names({*(asked.get("requests") or ()), *(asked.get("limits") or ())})
    return not names or (len(names) == 1 and is_gpu(names[0]))


def _controllers_resources(plan: Plan) -> Tree | None:
    """The resources from which the controller counts processes and GPUs (D03): the TrainJob's alone if it has any; else
    those of the first `node` container, even if empty, in a replicated job that is called `node` or is the trainer
    step. Source: kubeflow/trainer `pkg/runtime/runtime.go`, ExtractResourcePerNodeFromRuntime."""
    trainer = plan.job.spec.trainer
    if trainer is not None and trainer.resources_per_node is not None:
        return trainer.resources_per_node
    for pods in plan.pod_sets:
        if pods.name == NODE_CONTAINER or pods.step == TRAINER_STEP:
            node = pods.container(NODE_CONTAINER)
            if node is not None:
                return node.get("resources")
    return None


def _controllers_gpu_counts(resources: Tree | None) -> set[int]:
    """Every count that the controller may arrive at: it takes the first name that contains "gpu" in Go's random map
    order, requests before limits."""
    requested, limited = (_outcomes(resources, field) for field in ("requests", "limits"))
    return (requested - {0}) | limited if 0 in requested else requested


def _outcomes(resources: Tree | None, field: str) -> set[int]:
    amounts = (resources or {}).get(field) or {}
    return {whole_units(amounts[name]) for name in gpu_names(amounts)} or {0}


def trainer_resources(plan: Plan) -> Tree | None:
    """The merged resources of the trainer's `node` container; without one, those that the controller reads."""
    node = plan.trainer_container
    return _controllers_resources(plan) if node is None else node.get("resources")


def trainer_host(plan: Plan) -> str:
    """The DNS name of the trainer's first pod, from its actual replicated job and subdomain (D17). If no step is
    labeled as the trainer, the name that the controller uses."""
    pods = plan.trainer_pod_set
    controllers = f"{plan.name}-{NODE_CONTAINER}-0-0.{plan.name}"
    host = pods.host(plan.name, plan.subdomain) if pods else controllers
    if host != controllers and plan.job.spec.trainer is not None:
        plan.deviates(
            "D17",
            f"the controller would use the host name {controllers}, which does not resolve, instead of {host}",
            path=("spec", "runtimeRef", "name"),
        )
    return host


def tell_without_trainer(plan: Plan, what: str) -> None:
    """Report that the controller would omit `what` for a job without `spec.trainer` (D08)."""
    if plan.job.spec.trainer is None:
        plan.deviates("D08", f"without spec.trainer, the controller would set no {what}", path=("spec",))
