"""The job that a local run is about: found in the repository, compiled with other sizes, planned."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.jobset_view import NODE_CONTAINER, TRAINER_STEP, JobSetView
from trainform.diagnostics import Diagnostic
from trainform.installed import given_by
from trainform.k8s.devices import is_gpu
from trainform.k8s.tree import Tree, copied, table
from trainform.local.plan.model import LocalRun
from trainform.local.plan.pods import Addresses, plan_run
from trainform.local.plan.references import JobValues, Machine, NotHere, Values
from trainform.workspace import InvocationError
from trainform.workspace.review.explain import gather

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.source import Document
    from trainform.workspace.compilation import Outcome
    from trainform.workspace.discovery import Workspace

GPU = "nvidia.com/gpu"


class Sizes(NamedTuple):
    """What the command line says instead of the repository; None leaves it as it is. `devices` are the resources by
    which `gpus` are asked for in `resourcesPerNode`."""

    nodes: int | None = None
    processes: int | None = None
    gpus: int | None = None
    devices: Sequence[str] = ()

    def adapt(self, document: Document) -> Document:
        """A TrainJob in these sizes. In a runtime or an Environment, whatever asks for GPUs asks for as many."""
        is_job = document.tree.get("kind") == "TrainJob"
        if not (is_job and self != Sizes()) and (self.gpus is None or document.tree.get("kind") not in WITH_PODS):
            return document
        tree = copied(document.tree)
        if self.gpus is not None:
            _set_gpus(tree, str(self.gpus))
        if is_job:
            self._adapt_trainer(_mapping(_mapping(tree, "spec"), "trainer"))
        return replace(document, tree=tree)

    def _adapt_trainer(self, trainer: Tree) -> None:
        if self.nodes is not None:
            trainer["numNodes"] = self.nodes
        if self.processes is not None:
            trainer["numProcPerNode"] = self.processes
        if self.gpus is not None and self.devices:
            limits = _mapping(_mapping(trainer, "resourcesPerNode"), "limits")
            limits.update(dict.fromkeys(self.devices, str(self.gpus)))


WITH_PODS = ("TrainingRuntime", "ClusterTrainingRuntime", "Environment")
"""Kinds other than the TrainJob that can say what pods ask for."""


def _mapping(parent: Tree, key: str) -> Tree:
    parent[key] = table(parent, key)
    found: Tree = parent[key]
    return found


def _set_gpus(tree: Tree, count: str) -> None:
    """Sets every GPU among the limits and requests in a tree."""
    left: list[Any] = [tree]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            for asked in (table(each, "limits"), table(each, "requests")):
                asked.update({name: count for name in asked if is_gpu(name)})
            each = [*each.values()]
        if isinstance(each, list):
            left += each


class FoundJob(NamedTuple):
    """The compiled job, if there is exactly one, and what the compile told."""

    job: CompiledJob | None
    outcomes: Sequence[Outcome]

    def errors(self) -> list[Diagnostic]:
        return [error for outcome in self.outcomes for error in outcome.errors()]


def find_job(workspace: Workspace, name: str, sizes: Sizes) -> FoundJob:
    """Raises InvocationError if several jobs or environments fit."""
    if sizes.gpus is None:
        return _find(workspace, name, sizes)
    found = _find(workspace, name, sizes._replace(gpus=None))
    if found.job is None or found.errors():
        return found
    return _find(workspace, name, sizes._replace(devices=_devices_of_trainer(found.job)))


def _devices_of_trainer(job: CompiledJob) -> list[str]:
    """The resources by which the trainer's pods ask for GPUs; if no pod of the job does, those that they would."""
    steps = [step for view in map(JobSetView.of, job.objects) for step in view.jobs]
    if not any(_devices(each) for step in steps for each in step.all_containers):
        return [GPU]
    trainer = next((step for step in steps if step.step == TRAINER_STEP), None)
    return _devices(trainer.container(NODE_CONTAINER) or {}) if trainer else []


def _devices(container: Tree) -> list[str]:
    return [name for name in table(table(container, "resources"), "limits") if is_gpu(name)]


def _find(workspace: Workspace, name: str, sizes: Sizes) -> FoundJob:
    gathered = gather(workspace, [name], adapt=sizes.adapt)
    jobs = [told.job for told in gathered.told]
    if len(jobs) > 1:
        environments = list(dict.fromkeys(job.environment for job in jobs))
        names = list(dict.fromkeys(f"{job.namespace}/{job.name}" for job in jobs))
        if len(names) > 1:
            raise InvocationError(f'"{name}" fits {len(names)} jobs: {", ".join(names)}; name one of them')
        raise InvocationError(
            f"{names[0]} is in {len(environments)} environments: {', '.join(environments)}; choose one with --env"
        )
    return FoundJob(jobs[0] if jobs else None, gathered.outcomes)


def every_pod_listens(job: CompiledJob) -> bool:
    """Whether all pods of a step listen on one port, as the job's framework declares it."""
    from trainform.api.runtime import FRAMEWORKS  # slow to import

    policy = table(table(job.runtime.document.tree, "spec"), "mlPolicy") if job.runtime else {}
    frameworks = [each for each in FRAMEWORKS if each in policy]
    return any(port.listeners == "every pod" for each in frameworks for port in given_by(each).ports)


def planner(job: CompiledJob, addresses: Addresses, secrets: Mapping[str, Values]) -> Callable[[int], LocalRun]:
    """The plan of each attempt. `secrets` are the values that the user gives. Raises NotHere."""
    jobset = next((tree for tree in job.objects if tree.get("kind") == "JobSet"), None)
    if jobset is None:
        raise NotHere("TF891", "the job has no JobSet to run", "see its plugins: trainform plugins")
    sources, machine = JobValues.of(job.objects, {**_throwaway_keys(job), **secrets}), machine_here()
    return lambda attempt: plan_run(jobset, sources, addresses, machine, attempt)


def _throwaway_keys(job: CompiledJob) -> dict[str, Values]:
    """Key pairs for this run alone, in place of those that only the cluster can decrypt. Raises NotHere."""
    if not job.secrets:
        return {}
    from trainform.keys.make import make_secret

    try:
        return {need.name: dict(make_secret(need).values) for need in job.secrets}
    except ModuleNotFoundError as error:
        hint = "install it: pip install 'trainform[secrets]'"
        raise NotHere("TF892", f"making keys for this run needs the package {error.name}", hint) from error


def machine_here() -> Machine:
    """The processors and the memory of this machine."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        memory = 0
    return Machine(os.cpu_count() or 1, memory)
