"""The stages of a job: steps whose pods are created at the same moment, so that they can start together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.tree import Tree, table, tables, text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from trainform.core.plan import Plan
    from trainform.core.pod_set import PodSet

IN_ORDER = "InOrder"
"""The startup policy under which JobSet creates a step once the one before it is ready."""


class Stage(NamedTuple):
    """The steps of one gang. `name` is that of the gang, which no other job's can have: names of TrainJobs have no
    dot."""

    name: str
    steps: tuple[PodSet, ...]

    @property
    def pods(self) -> int:
        return sum(each.count * each.replicas for each in self.steps)


def gangs_of(plan: Plan) -> list[Stage]:
    """All steps as one gang, called like the job; with `perStage`, a gang for each stage, called `<job>.<first
    step>`."""
    stages: dict[Hashable, list[PodSet]] = {}
    for pods in plan.pod_sets if plan.gang.per_stage else ():
        stages.setdefault(pods.name if starts_in_order(plan.spec) else _awaited(pods.job), []).append(pods)
    if len(stages) < 2:
        return [Stage(plan.name, tuple(plan.pod_sets))]
    return [Stage(f"{plan.name}.{steps[0].name}", tuple(steps)) for steps in stages.values()]


def _awaited(replicated_job: Tree) -> Hashable:
    """What a step waits for; steps that wait for the same are created at the same moment."""
    return frozenset((text(each, "name"), text(each, "status")) for each in tables(replicated_job, "dependsOn"))


def starts_in_order(jobset_spec: Tree) -> bool:
    """Whether the steps of a JobSet start one after the other."""
    return text(table(jobset_spec, "startupPolicy"), "startupPolicyOrder") == IN_ORDER


def first_that_waits(replicated_jobs: Iterable[Tree]) -> Tree | None:
    """The first replicated job that is only created after others."""
    return next((each for each in replicated_jobs if tables(each, "dependsOn")), None)
