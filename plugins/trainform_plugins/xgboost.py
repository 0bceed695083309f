"""XGBoost: the Rabit tracker as `DMLC_*` variables."""

from __future__ import annotations

from trainform.plugin import (
    COMPLETION_INDEX,
    TRAINER_PORT,
    Plan,
    Plugin,
    count_per_node,
    no_reserved_variables,
    set_nodes,
    tell_without_trainer,
    trainer_host,
)

RESERVED = ("DMLC_NUM_WORKER", "DMLC_TASK_ID", "DMLC_TRACKER_PORT", "DMLC_TRACKER_URI")


class XGBoost(Plugin):
    """Sets up the tracker and its workers, one per GPU, in the `node` container of the trainer step. Source:
    kubeflow/trainer `pkg/runtime/framework/plugins/xgboost`."""

    name = "xgboost"

    def applies(self, plan: Plan) -> bool:
        return plan.framework == "xgboost"

    def validate(self, plan: Plan) -> None:
        no_reserved_variables(plan, RESERVED, "set spec.trainer.numNodes instead; there is one worker per GPU")

    def enforce_ml_policy(self, plan: Plan) -> None:
        set_nodes(plan)
        pods, node = plan.trainer_pod_set, plan.trainer_container
        if pods is None or node is None:
            return
        workers = count_per_node(
            plan, node.get("resources"), lambda gpus, _: pods.count * max(gpus, 1), "DMLC_NUM_WORKER"
        )
        pods.set_env(
            node,
            {"name": "DMLC_TRACKER_URI", "value": trainer_host(plan)},
            {"name": "DMLC_TRACKER_PORT", "value": str(TRAINER_PORT)},
            {"name": "DMLC_TASK_ID", "valueFrom": {"fieldRef": {"fieldPath": COMPLETION_INDEX}}},
            {"name": "DMLC_NUM_WORKER", "value": str(workers)},
        )
        pods.add_port(node, TRAINER_PORT)
        tell_without_trainer(plan, "DMLC_ variables and no port")
