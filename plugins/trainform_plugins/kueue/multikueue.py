"""MultiKueue: Kueue hands the JobSet, and nothing else, to a worker cluster."""

from __future__ import annotations

from trainform.plugin import JobSetView, Plan, Source, object_name
from trainform_plugins.kueue.labels import HAND_OVER, MULTIKUEUE, wants_multikueue


def is_handed_on(jobset: JobSetView) -> bool:
    return jobset.spec.get("managedBy") == MULTIKUEUE


def goes_alone(plan: Plan, jobset: JobSetView) -> None:
    """A hostfile, key Secret or PodGroup would stay behind, and the pods would wait for it forever."""
    if not is_handed_on(jobset):
        return
    left = [object_name(tree) for tree in plan.objects if tree is not jobset.tree]
    needed = [f"Secret/{need.name}" for need in plan.secrets]
    behind = list(dict.fromkeys((*left, *needed)))
    if not behind:
        return
    source: Source = HAND_OVER if wants_multikueue(plan) else ("trainjob", ("spec", "managedBy"))
    plan.report_object(
        jobset.tree,
        ("spec", "managedBy"),
        "TF357",
        f"MultiKueue copies only the JobSet, but its pods also need {', '.join(behind)}",
        hint=_remedy(plan, behind),
        source=source,
    )


def _remedy(plan: Plan, behind: list[str]) -> str:
    """What to change, by who made the objects. Kueue admits all pods at once, so that no PodGroup is missed."""
    groups = [each for each in behind if each.startswith("PodGroup/")]
    steps = []
    if groups and plan.gang.chosen:
        steps.append("write scheduling.gang.scheduler: none in the Environment: Kueue admits all pods at once")
    elif groups:
        steps.append("use a runtime without podGroupPolicy: Kueue admits all pods at once")
    if len(groups) < len(behind):
        others = "the others" if groups else "them"
        steps.append(f"create {others} in the worker clusters, or use a runtime that needs none")
    return "; ".join(steps)
