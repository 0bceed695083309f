"""JAX: the distributed coordinator as `JAX_*` variables."""

from __future__ import annotations

from trainform.plugin import (
    COMPLETION_INDEX,
    TRAINER_PORT,
    Plan,
    Plugin,
    set_nodes,
    tell_without_trainer,
    trainer_host,
)


class Jax(Plugin):
    """Sets up `jax.distributed` in the `node` container of the trainer step. Source: kubeflow/trainer
    `pkg/runtime/framework/plugins/jax`."""

    name = "jax"

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
