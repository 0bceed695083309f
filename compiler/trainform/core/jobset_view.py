"""The finished JobSet of a plan, step by step: what `check` looks at, final patches included."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.labels import annotations_of
from trainform.k8s.rules.parts import replicas
from trainform.k8s.tree import Tree, number, table, tables, text

if TYPE_CHECKING:
    from trainform.diagnostics import Path

STEP_LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label of a Job template that says which step of the job its pods are."""

TRAINER_STEP = "trainer"
NODE_CONTAINER = "node"
"""The container that trains."""


class Step(NamedTuple):
    """One replicated job, which stands at `path` of the JobSet."""

    name: str
    path: Path
    job: Tree

    @property
    def pod(self) -> Tree:
        """The pod template; empty where there is none."""
        return table(table(table(self.job, "template"), "spec"), "template")

    @property
    def pod_spec(self) -> Tree:
        return table(self.pod, "spec")

    @property
    def annotations(self) -> Tree:
        """Those of the pods."""
        return annotations_of(self.pod)

    @property
    def pod_path(self) -> Path:
        """Where the pod template stands in the JobSet."""
        return (*self.path, "template", "spec", "template")

    @property
    def pods(self) -> int:
        """How many pods run at once, as the schedulers count: replicas × min(parallelism, completions)."""
        spec = table(table(self.job, "template"), "spec")
        parallelism = number(spec, "parallelism")
        parallelism = 1 if parallelism is None else parallelism
        completions = number(spec, "completions")
        return replicas(self.job) * (parallelism if completions is None else min(parallelism, completions))


def finished_steps(jobset: Tree) -> list[Step]:
    """The steps of a JobSet, in its order."""
    jobs = tables(table(jobset, "spec"), "replicatedJobs")
    return [Step(text(job, "name"), ("spec", "replicatedJobs", i), job) for i, job in enumerate(jobs)]
