"""A read-only view of a JobSet: its replicated jobs, pods and containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.labels import annotations_of, labels_of
from trainform.k8s.rules.parts import replicas
from trainform.k8s.tree import Tree, number, table, tables, text

if TYPE_CHECKING:
    from trainform.diagnostics import Path

STEP_LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"
"""Label of a Job template that names the step its pods belong to."""

TRAINER_STEP = "trainer"
NODE_CONTAINER = "node"
"""The training container."""


class ReplicatedJob(NamedTuple):
    """The replicated job at `path` of a JobSet, labeled with `step`; `pod` is its pod template, `annotations` are the
    pod's. Fields of the wrong type read as absent."""

    name: str
    step: str
    path: Path
    tree: Tree
    job_spec: Tree
    pod: Tree
    annotations: Tree
    pod_spec: Tree
    init_containers: list[Tree]
    containers: list[Tree]

    @classmethod
    def of(cls, tree: Tree, index: int) -> ReplicatedJob:
        template = table(tree, "template")
        job_spec = table(template, "spec")
        pod = table(job_spec, "template")
        pod_spec = table(pod, "spec")
        return cls(
            text(tree, "name"),
            text(labels_of(template), STEP_LABEL),
            ("spec", "replicatedJobs", index),
            tree,
            job_spec,
            pod,
            annotations_of(pod),
            pod_spec,
            tables(pod_spec, "initContainers"),
            tables(pod_spec, "containers"),
        )

    @property
    def pod_path(self) -> Path:
        """Path of the pod template in the JobSet."""
        return (*self.path, "template", "spec", "template")

    @property
    def all_containers(self) -> list[Tree]:
        """Init containers, then containers."""
        return [*self.init_containers, *self.containers] if self.init_containers else self.containers

    def container(self, name: str) -> Tree | None:
        """The container `name`, excluding init containers."""
        return next((each for each in self.containers if each.get("name") == name), None)

    def path_of(self, container: Tree) -> Path:
        """Path of a container in the JobSet."""
        for kind, containers in (("initContainers", self.init_containers), ("containers", self.containers)):
            for index, each in enumerate(containers):
                if each is container:
                    return (*self.pod_path, "spec", kind, index)
        return (*self.pod_path, "spec")

    @property
    def replicas(self) -> int:
        """Number of Jobs: 1 if unset, 0 if negative."""
        return max(replicas(self.tree), 0)

    @property
    def parallelism(self) -> int:
        """Pods per Job: 1 if unset, 0 if negative."""
        count = number(self.job_spec, "parallelism")
        return 1 if count is None else max(count, 0)

    @property
    def pods(self) -> int:
        """Pods that run at once, as schedulers count them: replicas × min(parallelism, completions)."""
        completions = number(self.job_spec, "completions")
        return self.replicas * (self.parallelism if completions is None else min(self.parallelism, completions))


class JobSetView(NamedTuple):
    """A JobSet and its replicated jobs, in order."""

    tree: Tree
    spec: Tree
    labels: Tree
    jobs: list[ReplicatedJob]

    @classmethod
    def of(cls, tree: Tree) -> JobSetView:
        spec = table(tree, "spec")
        jobs = [ReplicatedJob.of(job, index) for index, job in enumerate(tables(spec, "replicatedJobs"))]
        return cls(tree, spec, labels_of(tree), jobs)

    @property
    def annotations(self) -> Tree:
        return annotations_of(self.tree)
