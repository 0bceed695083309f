"""The finished JobSet, as the lints look at it."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict

from trainform.plugin import NODE_CONTAINER, STEP_LABEL, TRAINER_STEP, Path, Place, Plan, Tree, blame

FRAMEWORKS = ("torch", "mpi", "jax", "xgboost", "flux")


class Where(TypedDict, total=False):
    """The source to point at: a place and a path in it, for `Plan.report`."""

    path: Path
    place: Place


class Pods(NamedTuple):
    """One replicated job: `spec` is its PodSpec, which stands at `path` in the JobSet.

    `parallelism` pods of it run in each of `replicas` Jobs. `init_containers` and `containers` are its containers.
    """

    name: str
    step: str
    parallelism: int
    replicas: int
    spec: Tree
    path: Path
    init_containers: list[Tree]
    containers: list[Tree]

    @property
    def all_containers(self) -> list[Tree]:
        """Init containers, then containers."""
        return [*self.init_containers, *self.containers] if self.init_containers else self.containers

    def path_of(self, container: Tree) -> Path:
        """Where one of the containers stands in the JobSet."""
        for kind, containers in (("initContainers", self.init_containers), ("containers", self.containers)):
            for index, each in enumerate(containers):
                if each is container:
                    return (*self.path, kind, index)
        return self.path


class Finished(NamedTuple):
    """A job whose objects are built.

    `nodes` are the containers that train, with their pods: container `node` of the trainer step,
    and of job `node` in an MPI job. `framework` is the runtime's, or empty.
    """

    plan: Plan
    name: str
    subdomain: str
    jobset: Tree
    framework: str
    pods: list[Pods]
    nodes: list[tuple[Pods, Tree]]

    def source(self, *path: str | int) -> Where:
        """Who set the element at `path` of the JobSet: a patch of the TrainJob, else the runtime."""
        found: Path = ("spec", "template", *path)
        if not self.plan.job.spec.runtime_patches and _exists(self.plan.runtime_document.tree, found):
            return {"place": self.plan.runtime_document, "path": found}
        place, found = blame(self.plan, self.jobset, path)
        return {"place": place, "path": found}

    def trainers(self, pods: Pods, container: Tree, field: str) -> Where:
        """Who set `field` of a container that trains: `spec.trainer` where it reaches the container."""
        trainer = self.plan.job.spec.trainer
        if pods.step == TRAINER_STEP and container.get("name") == NODE_CONTAINER:
            wanted = getattr(trainer, field, None)
            if wanted is not None and wanted == container.get(field):
                return {"path": ("spec", "trainer", field)}
        return self.source(*pods.path_of(container), field)

    def resources(self, pods: Pods, container: Tree) -> Where:
        """`spec.trainer.resourcesPerNode` where the TrainJob has it, else the container's resources."""
        trainer = self.plan.job.spec.trainer
        if trainer is not None and trainer.resources_per_node:
            return {"path": ("spec", "trainer", "resourcesPerNode")}
        return self.source(*pods.path_of(container), "resources")


def finished(plan: Plan) -> Finished | None:
    """The view of a plan's JobSet, or None where none was built."""
    jobset = plan.jobset
    if jobset is None:
        return None
    framework = _framework(plan)
    pods = [_pods(index, job) for index, job in enumerate(jobset["spec"].get("replicatedJobs") or ())]
    nodes = [
        (each, container)
        for each in pods
        if each.step == TRAINER_STEP or (framework == "mpi" and each.name == NODE_CONTAINER)
        for container in each.containers
        if container.get("name") == NODE_CONTAINER
    ]
    return Finished(plan, plan.name, plan.subdomain, jobset, framework, pods, nodes)


def _framework(plan: Plan) -> str:
    policy = plan.runtime.spec.ml_policy
    for name in FRAMEWORKS if policy else ():
        if getattr(policy, name) is not None:
            return name
    return ""


def _pods(index: int, job: Tree) -> Pods:
    template = job["template"]
    spec = template["spec"]["template"]["spec"]
    return Pods(
        str(job.get("name")),
        (template.get("metadata", {}).get("labels") or {}).get(STEP_LABEL, ""),
        template["spec"].get("parallelism", 1),
        job.get("replicas", 1),
        spec,
        ("spec", "replicatedJobs", index, "template", "spec", "template", "spec"),
        spec.get("initContainers") or [],
        spec.get("containers") or [],
    )


def _exists(tree: Any, path: Path) -> bool:
    try:
        for part in path:
            tree = tree[part]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def values(container: Tree) -> dict[str, str]:
    """The variables of a container that have a plain value."""
    return {e["name"]: e["value"] for e in container.get("env") or () if "name" in e and "value" in e}


def words(container: Tree) -> list[str]:
    """Command and arguments."""
    return [*(container.get("command") or ()), *(container.get("args") or ())]
