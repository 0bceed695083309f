"""The lints' view of the finished JobSet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainform.plugin import (
    NODE_CONTAINER,
    TRAINER_STEP,
    JobSetView,
    Path,
    Plan,
    ReplicatedJob,
    Tree,
    Where,
    value_at,
)

_MISSING = object()
RESOURCES_PER_NODE: Path = ("spec", "trainer", "resourcesPerNode")


class Finished(NamedTuple):
    """A job whose objects are built. `nodes` are the training containers with their pods: container `node` of the
    trainer step, and of job `node` in an MPI job. `texts` are the values of variables and the words of commands and
    arguments of all containers, each with its pods, its container and its path in that."""

    plan: Plan
    jobset: JobSetView
    nodes: list[tuple[ReplicatedJob, Tree]]
    texts: list[tuple[ReplicatedJob, Tree, Path, str]]

    def source(self, *path: str | int) -> Where:
        """Who set the element at `path` of the JobSet: the Environment, a patch of the TrainJob, or the runtime."""
        if set_there := self.plan.blame_environment(self.jobset.tree, path):
            return {"place": set_there[0], "path": set_there[1]}
        found: Path = ("spec", "template", *path)
        runtime = self.plan.runtime_document
        if not self.plan.job.spec.runtime_patches and value_at(runtime.tree, found, _MISSING) is not _MISSING:
            return {"place": runtime, "path": found}
        place, found = self.plan.blame(self.jobset.tree, path)
        return {"place": place, "path": found}

    def trainers(self, pods: ReplicatedJob, container: Tree, field: str) -> Where:
        """Who set `field` of a training container: `spec.trainer` if it applies to the container."""
        trainer = self.plan.job.spec.trainer
        if pods.step == TRAINER_STEP and container.get("name") == NODE_CONTAINER:
            wanted = getattr(trainer, field, None)
            if wanted is not None and wanted == container.get(field):
                return {"path": ("spec", "trainer", field)}
        return self.source(*pods.path_of(container), field)

    def text(self, pods: ReplicatedJob, container: Tree, at: Path) -> Where:
        """Who set the text at `at` of a container: the TrainJob's own field if it has the text."""
        if at[0] in ("command", "args"):
            where = self.trainers(pods, container, str(at[0]))
            return {**where, "path": (*where["path"], at[1])} if where["path"][-1] == at[0] else where
        variable = container["env"][at[1]]
        for index, wanted in enumerate(self.plan.trainer.env):
            if wanted == variable and any(container is node for _, node in self.nodes):
                return {"path": ("spec", "trainer", "env", index, "value")}
        return self.source(*pods.path_of(container), *at)

    def resources(self, pods: ReplicatedJob, container: Tree, *names: str) -> Where:
        """Where the first of the resources `names` is set: in the TrainJob's `resourcesPerNode`, or in the container.
        Without names, or if none of them is there: all that the TrainJob sets, else the container's resources."""
        trainer = self.plan.job.spec.trainer
        wanted = (trainer.resources_per_node if trainer is not None else None) or {}
        if found := _amount(wanted, names):
            return {"path": (*RESOURCES_PER_NODE, *found)}
        if wanted and not names:
            return {"path": RESOURCES_PER_NODE}
        found = _amount(container.get("resources") or {}, names)
        return self.source(*pods.path_of(container), "resources", *found)


def _amount(resources: Tree, names: tuple[str, ...]) -> Path:
    """The path of the first of `names` below `resources`, its limit if there is one; empty without."""
    return next(
        ((kind, name) for name in names for kind in ("limits", "requests") if name in (resources.get(kind) or {})), ()
    )


def finished(plan: Plan) -> Finished | None:
    """The view of a plan's JobSet, or None if none was built."""
    jobset = plan.jobset
    if jobset is None:
        return None
    nodes = [
        (job, container)
        for job in jobset.jobs
        if job.step == TRAINER_STEP or (plan.framework == "mpi" and job.name == NODE_CONTAINER)
        for container in job.containers
        if container.get("name") == NODE_CONTAINER
    ]
    texts = [
        (pods, container, at, text)
        for pods in jobset.jobs
        for container in pods.all_containers
        for at, text in _texts(container)
    ]
    return Finished(plan, jobset, nodes, texts)


def values(container: Tree) -> dict[str, str]:
    """A container's variables with a plain value."""
    return {e["name"]: e["value"] for e in container.get("env") or () if "name" in e and "value" in e}


def _texts(container: Tree) -> Iterator[tuple[Path, str]]:
    """Values of variables, words of command and arguments, each with its path in the container."""
    for index, variable in enumerate(container.get("env") or ()):
        if variable.get("value"):
            yield ("env", index, "value"), variable["value"]
    for field in ("command", "args"):
        for index, word in enumerate(container.get(field) or ()):
            yield (field, index), word


def words(container: Tree) -> list[str]:
    """Command and arguments."""
    return [*(container.get("command") or ()), *(container.get("args") or ())]
