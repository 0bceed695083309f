"""PyTorch: torchrun's rendezvous as `PET_*` variables."""

from __future__ import annotations

from trainform.plugin import (
    COMPLETION_INDEX,
    TRAINER_PORT,
    Given,
    GivenHost,
    GivenPort,
    GivenVariable,
    Path,
    Plan,
    Plugin,
    PodSet,
    Tree,
    count_per_node,
    did_you_mean,
    no_reserved_variables,
    set_nodes,
    set_trainer_env,
    tell_without_trainer,
    trainer_host,
    trainer_resources,
)

GIVEN = Given(
    variables=(
        GivenVariable(
            "PET_NNODES", "How many nodes take part: torchrun's --nnodes.", "trainer.numNodes, else the runtime's", "4"
        ),
        GivenVariable(
            "PET_NPROC_PER_NODE",
            "How many processes torchrun starts on each node: --nproc-per-node. `auto` is one per GPU.",
            "trainer.numProcPerNode, else the GPUs, else the CPUs of a node",
            "auto",
        ),
        GivenVariable("PET_NODE_RANK", "The rank of this node: --node-rank.", "the pod's completion index", "2"),
        GivenVariable(
            "PET_MASTER_ADDR",
            "The host where the nodes meet: --master-addr. Not set for `tune run`, which takes it as an argument.",
            "the first pod of the trainer step",
            "llm-node-0-0.llm",
        ),
        GivenVariable(
            "PET_MASTER_PORT",
            "The port where the nodes meet: --master-port. Not set for `tune run`.",
            "always 29500",
            str(TRAINER_PORT),
        ),
    ),
    hosts=(GivenHost("llm-node-0-0.llm", "The node of rank 0, where torchrun's rendezvous listens."),),
    ports=(GivenPort(TRAINER_PORT, "torchrun's rendezvous.", "first pod"),),
)
RESERVED = GIVEN.names
HINT = "set spec.trainer.numNodes and numProcPerNode instead"
TORCHTUNE = ["tune", "run"]
"""The entrypoint that takes its rendezvous as an argument instead of variables."""

TARGETS: Path = ("spec", "mlPolicy", "torch", "envInjection", "targets")


class Torch(Plugin):
    """Sets up torchrun in the `node` container of the trainer step, and in `envInjection` targets. Source:
    kubeflow/trainer `pkg/runtime/framework/plugins/torch`."""

    name = "torch"
    given = GIVEN

    def applies(self, plan: Plan) -> bool:
        return plan.framework == "torch"

    def validate(self, plan: Plan) -> None:
        no_reserved_variables(plan, RESERVED, HINT)
        _targets_exist(plan)

    def enforce_ml_policy(self, plan: Plan) -> None:
        set_nodes(plan)
        set_trainer_env(plan)
        variables = _rendezvous(plan)
        pods, node = plan.trainer_pod_set, plan.trainer_container
        if pods is not None and node is not None:
            pods.set_env(node, *variables)
            pods.add_port(node, TRAINER_PORT)
        for target, container in _targets(plan):
            target.set_env(container, *variables)
        if node is not None:
            tell_without_trainer(plan, "PET_ variables and no port")


def _rendezvous(plan: Plan) -> list[Tree]:
    """Torchrun's variables; those of a single node if no step is labeled as the trainer."""
    pods = plan.trainer_pod_set
    variables: list[Tree] = [
        {"name": "PET_NNODES", "value": str(pods.count if pods else 1)},
        {"name": "PET_NPROC_PER_NODE", "value": _processes(plan)},
        {"name": "PET_NODE_RANK", "valueFrom": {"fieldRef": {"fieldPath": COMPLETION_INDEX}}},
    ]
    if plan.trainer.command != TORCHTUNE:
        variables += [
            {"name": "PET_MASTER_ADDR", "value": trainer_host(plan)},
            {"name": "PET_MASTER_PORT", "value": str(TRAINER_PORT)},
        ]
    return variables


def _processes(plan: Plan) -> str:
    """Processes per node: the TrainJob's number, else torchrun's `auto` with a GPU, else one per CPU."""
    if plan.num_proc_per_node is not None:
        return str(plan.num_proc_per_node)
    return count_per_node(plan, trainer_resources(plan), _count, "PET_NPROC_PER_NODE")


def _count(gpus: int, cpus: int) -> str:
    return "auto" if gpus > 0 else str(max(cpus, 1))


def _targets(plan: Plan) -> list[tuple[PodSet, Tree]]:
    """The sidecars and init containers that also need the rendezvous."""
    policy = plan.runtime.spec.ml_policy
    injection = policy.torch.env_injection if policy and policy.torch else None
    found = []
    for target in (injection.targets if injection else None) or ():
        pods = plan.pod_set(target.job_name)
        for container in pods.all_containers if pods else ():
            if pods and container.get("name") in target.container_names:
                found.append((pods, container))
    return found


def _targets_exist(plan: Plan) -> None:
    policy = plan.runtime.spec.ml_policy
    injection = policy.torch.env_injection if policy and policy.torch else None
    for number, target in enumerate((injection.targets if injection else None) or ()):
        pods = plan.pod_set(target.job_name)
        if pods is None:
            near = did_you_mean(target.job_name, [other.name for other in plan.pod_sets])
            where: Path = (*TARGETS, number, "jobName")
            _no_target(plan, f"replicated job {target.job_name!r}", near, where)
            continue
        names = [str(container.get("name")) for container in pods.all_containers]
        for index, name in enumerate(target.container_names):
            if name not in names:
                what = f"container {name!r} in replicated job {target.job_name!r}"
                where = (*TARGETS, number, "containerNames", index)
                _no_target(plan, what, did_you_mean(name, names), where)


def _no_target(plan: Plan, what: str, near: str, where: Path) -> None:
    position = plan.runtime_document.position(where)
    plan.report(
        "TF313",
        f"the runtime's envInjection refers to {what}, which does not exist",
        hint=f"{near or 'choose an existing one;'} see {plan.runtime_document.file}:{position.line}",
        path=("spec", "runtimeRef"),
        point=("spec", "runtimeRef", "name"),
    )
