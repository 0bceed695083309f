"""Jobs without an ML framework of their own: the TrainJob's node count and variables, no more."""

from __future__ import annotations

from trainform.plugin import Plan, Plugin, set_nodes, set_trainer_env


class Plain(Plugin):
    """Acts where no framework does, and beside xgboost and flux.

    Source: kubeflow/trainer `pkg/runtime/framework/plugins/plainml`.
    """

    name = "plain"

    def applies(self, plan: Plan) -> bool:
        policy = plan.runtime.spec.ml_policy
        return policy is None or (policy.torch is None and policy.mpi is None and policy.jax is None)

    def enforce_ml_policy(self, plan: Plan) -> None:
        set_nodes(plan)
        policy = plan.runtime.spec.ml_policy
        if policy is None or policy.flux is None:  # flux's own variables come before the TrainJob's
            set_trainer_env(plan)
