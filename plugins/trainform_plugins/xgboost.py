"""XGBoost: the Rabit tracker as `DMLC_*` variables."""

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
    count_per_node,
    no_reserved_variables,
    set_nodes,
    tell_without_trainer,
    trainer_host,
)

GIVEN = Given(
    variables=(
        GivenVariable(
            "DMLC_TRACKER_URI", "The host of the tracker.", "the first pod of the trainer step", "llm-node-0-0.llm"
        ),
        GivenVariable("DMLC_TRACKER_PORT", "The port of the tracker.", "always 29500", str(TRAINER_PORT)),
        GivenVariable("DMLC_TASK_ID", "The number of this worker's node.", "the pod's completion index", "2"),
        GivenVariable(
            "DMLC_NUM_WORKER",
            "How many workers take part: one per GPU, or one per node without GPUs.",
            "the nodes and their GPUs",
            "8",
        ),
    ),
    hosts=(GivenHost("llm-node-0-0.llm", "The first node, which also runs the tracker."),),
    ports=(GivenPort(TRAINER_PORT, "The tracker of Rabit.", "first pod"),),
)
RESERVED = GIVEN.names


class XGBoost(Plugin):
    """Sets up the tracker and its workers, one per GPU, in the `node` container of the trainer step. Source:
    kubeflow/trainer `pkg/runtime/framework/plugins/xgboost`."""

    name = "xgboost"
    given = GIVEN

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
