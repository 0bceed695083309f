"""JAX: the distributed coordinator as `JAX_*` variables."""

from __future__ import annotations

from trainform.plugin import (
    COMPLETION_INDEX,
    TRAINER_PORT,
    Given,
    GivenHost,
    GivenPort,
    GivenVariable,
    Plan,
    Plugin,
    set_nodes,
    tell_without_trainer,
    trainer_host,
)

GIVEN = Given(
    variables=(
        GivenVariable(
            "JAX_NUM_PROCESSES",
            "How many processes take part, one per node.",
            "trainer.numNodes, else the runtime's",
            "4",
        ),
        GivenVariable("JAX_PROCESS_ID", "The rank of this process.", "the pod's completion index", "2"),
        GivenVariable(
            "JAX_COORDINATOR_ADDRESS",
            "Where the processes meet, for `jax.distributed.initialize`.",
            "the first pod of the trainer step",
            f"llm-node-0-0.llm:{TRAINER_PORT}",
        ),
    ),
    hosts=(GivenHost("llm-node-0-0.llm", "The process of rank 0, which is the coordinator."),),
    ports=(GivenPort(TRAINER_PORT, "The coordinator of jax.distributed.", "first pod"),),
)


class Jax(Plugin):
    """Sets up `jax.distributed` in the `node` container of the trainer step. Source: kubeflow/trainer
    `pkg/runtime/framework/plugins/jax`."""

    name = "jax"
    given = GIVEN

    def applies(self, plan: Plan) -> bool:
        return plan.framework == "jax"

    def enforce_ml_policy(self, plan: Plan) -> None:
        set_nodes(plan)
        pods, node = plan.trainer_pod_set, plan.trainer_container
        if pods is None or node is None:
            return
        coordinator = f"{trainer_host(plan)}:{TRAINER_PORT}"
        pods.set_env(
            node,
            {"name": "JAX_NUM_PROCESSES", "value": str(pods.count)},
            {"name": "JAX_PROCESS_ID", "valueFrom": {"fieldRef": {"fieldPath": COMPLETION_INDEX}}},
            {"name": "JAX_COORDINATOR_ADDRESS", "value": coordinator},
        )
        pods.add_port(node, TRAINER_PORT)
        tell_without_trainer(plan, "JAX_ variables and no port")
