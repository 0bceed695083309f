"""Jobs without an ML framework: applies only the TrainJob's node count and variables."""

from __future__ import annotations

from trainform.plugin import Plan, Plugin, set_nodes, set_trainer_env


class Plain(Plugin):
    """Acts without a framework, and together with xgboost and flux. Source: kubeflow/trainer
    `pkg/runtime/framework/plugins/plainml`."""

    name = "plain"

    def applies(self, plan: Plan) -> bool:
        return plan.framework not in ("torch", "mpi", "jax")

    def enforce_ml_policy(self, plan: Plan) -> None:
        set_nodes(plan)
        if plan.framework != "flux":  # flux's own variables come before the TrainJob's
            set_trainer_env(plan)
