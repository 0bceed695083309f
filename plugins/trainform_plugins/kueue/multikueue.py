"""MultiKueue: Kueue hands the JobSet on to a worker cluster, and nothing else."""

from __future__ import annotations

from trainform.plugin import Path, Place, Plan, Tree, table, text
from trainform_plugins.kueue.labels import MULTIKUEUE, SETTINGS, wants_multikueue


def is_handed_on(jobset: Tree) -> bool:
    return table(jobset, "spec").get("managedBy") == MULTIKUEUE


def goes_alone(plan: Plan, jobset: Tree) -> None:
    """A hostfile, a key Secret or a PodGroup would stay behind, and the pods wait for it for ever."""
    if not is_handed_on(jobset):
        return
    left = [f"{tree['kind']}/{text(table(tree, 'metadata'), 'name')}" for tree in plan.objects if tree is not jobset]
    needed = [f"Secret/{need.name}" for need in plan.secrets]
    behind = list(dict.fromkeys((*left, *needed)))
    if not behind:
        return
    path, place = _source(plan)
    plan.report(
        "TF357",
        f"MultiKueue copies only the JobSet, but its pods also need {', '.join(behind)}",
        hint="use a runtime without MPI, Flux and podGroupPolicy, or a cluster without MultiKueue",
        path=path,
        place=place,
        object=f"JobSet/{plan.name}",
        object_path=("spec", "managedBy"),
    )


def _source(plan: Plan) -> tuple[Path, Place | None]:
    if wants_multikueue(plan):
        return (*SETTINGS, "multiKueue"), plan.destination.document
    return ("spec", "managedBy"), None
