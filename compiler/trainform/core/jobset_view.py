"""How everybody looks at a JobSet: its replicated jobs, their pods and containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.labels import annotations_of, labels_of
from trainform.k8s.rules.parts import replicas
from trainform.k8s.tree import Tree, number, table, tables, text

if TYPE_CHECKING:
    from trainform.diagnostics import Path

STEP_LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label of a Job template that says which step of the job its pods are."""

TRAINER_STEP = "trainer"
NODE_CONTAINER = "node"
"""The container that trains."""


class ReplicatedJob(NamedTuple):
    """One replicated job of a JobSet, which stands at `path` of it. `step` is the step that it is labelled with.

    A field of the wrong type reads as absent.
    """

    name: str
    step: str
    path: Path
    tree: Tree
    pod_spec: Tree
    init_containers: list[Tree]
    containers: list[Tree]

    @classmethod
    def of(cls, tree: Tree, index: int) -> ReplicatedJob:
        template = table(tree, "template")
        pod_spec = table(table(table(template, "spec"), "template"), "spec")
        return cls(
            text(tree, "name"),
            text(labels_of(template), STEP_LABEL),
            ("spec", "replicatedJobs", index),
            tree,
            pod_spec,
            tables(pod_spec, "initContainers"),
            tables(pod_spec, "containers"),
        )

    @property
    def job_spec(self) -> Tree:
        return table(table(self.tree, "template"), "spec")

    @property
    def pod(self) -> Tree:
        """The pod template."""
        return table(self.job_spec, "template")

    @property
    def annotations(self) -> Tree:
        """Those of the pods."""
        return annotations_of(self.pod)

    @property
    def pod_path(self) -> Path:
        """Where the pod template stands in the JobSet."""
        return (*self.path, "template", "spec", "template")

    @property
    def all_containers(self) -> list[Tree]:
        """Init containers, then containers."""
        return [*self.init_containers, *self.containers] if self.init_containers else self.containers

    def container(self, name: str) -> Tree | None:
        """The container `name`, init containers excepted."""
        return next((each for each in self.containers if each.get("name") == name), None)

    def path_of(self, container: Tree) -> Path:
        """Where one of the containers stands in the JobSet."""
        for kind, containers in (("initContainers", self.init_containers), ("containers", self.containers)):
            for index, each in enumerate(containers):
                if each is container:
                    return (*self.pod_path, "spec", kind, index)
        return (*self.pod_path, "spec")

    @property
    def replicas(self) -> int:
        """How many Jobs there are: 1 where nothing is said, 0 where the number is negative."""
        return max(replicas(self.tree), 0)

    @property
    def parallelism(self) -> int:
        """Pods of each Job: 1 where nothing is said, 0 where the number is negative."""
        count = number(self.job_spec, "parallelism")
        return 1 if count is None else max(count, 0)

    @property
    def pods(self) -> int:
        """How many pods run at once, as the schedulers count: replicas × min(parallelism, completions)."""
        completions = number(self.job_spec, "completions")
        return self.replicas * (self.parallelism if completions is None else min(self.parallelism, completions))


class JobSetView(NamedTuple):
    """A JobSet with its replicated jobs, in its order."""

    tree: Tree
    jobs: list[ReplicatedJob]

    @classmethod
    def of(cls, tree: Tree) -> JobSetView:
        jobs = tables(table(tree, "spec"), "replicatedJobs")
        return cls(tree, [ReplicatedJob.of(job, index) for index, job in enumerate(jobs)])

    @property
    def spec(self) -> Tree:
        return table(self.tree, "spec")

    @property
    def labels(self) -> Tree:
        return labels_of(self.tree)

    @property
    def annotations(self) -> Tree:
        return annotations_of(self.tree)
