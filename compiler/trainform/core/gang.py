"""How many pods a gang has and what they request together: the same for every gang scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.k8s.pod_requests import pod_requests, scaled_sum

if TYPE_CHECKING:
    from trainform.core.plan import Plan

POLICY = ("spec", "podGroupPolicy")


def gang(plan: Plan) -> tuple[int, dict[str, str]]:
    """All pods of the job, and their requests by resource name, canonical and sorted.

    Replicas count (D19), and so do limits without a request (D18): both are told where the
    controller's numbers differ. Source: kubeflow/trainer `pkg/runtime/framework/plugins/coscheduling`.
    """
    members = sum(pods.count * pods.replicas for pods in plan.pod_sets)
    resources = _requests(plan, limits=True)
    if any(pods.replicas > 1 for pods in plan.pod_sets):
        controllers = sum(pods.count for pods in plan.pod_sets)
        message = f"the controller would leave replicas out: a gang of {controllers} pods, not {members}"
        plan.deviates("D19", message, path=POLICY, place=plan.runtime_document)
    if resources != _requests(plan, limits=False):
        message = "the controller would count requests only; limits without a request are requests, too"
        plan.deviates("D18", message, path=POLICY, place=plan.runtime_document)
    return members, resources


def _requests(plan: Plan, *, limits: bool) -> dict[str, str]:
    return scaled_sum(
        (
            pod_requests(pods.pod_spec, limits_default_requests=limits),
            pods.count * pods.replicas,
        )
        for pods in plan.pod_sets
    )
