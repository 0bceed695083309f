"""JAX: the distributed coordinator as `JAX_*` variables."""

from __future__ import annotations

from trainform.plugin import (
    COMPLETION_INDEX,
    TRAINER_PORT,
    Plan,
    Plugin,
    set_nodes,
    trainer_host,
    without_trainer,
)


class Jax(Plugin):
    """Sets up `jax.distributed` in the `node` container of the trainer step.

    Source: kubeflow/trainer `pkg/runtime/framework/plugins/jax`.
    """

    name = "jax"

    def applies(self, plan: Plan) -> bool:
        policy = plan.runtime.spec.ml_policy
        return policy is not None and policy.jax is not None

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
        if without_trainer(plan):
            message = "without spec.trainer, the controller would set no JAX_ variables and no port"
            plan.deviates("D08", message, path=("spec",))
