"""The containers that trainform prepares for torchrun, and what their JobSet says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from support.corpus import FAMILIES, cases
from support.golden import golden_cases
from trainform.core.catalogue import Catalogue
from trainform.core.compile import compile_documents
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.k8s.quantity import parse
from trainform.k8s.tree import Tree
from trainform.source import Loaded, load

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
COMPLETION_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
PORT = 29500


class TorchPod(NamedTuple):
    """One container with `PET_*` variables, in the pods of one replicated job."""

    id: str
    train_job: Tree
    jobset: Tree
    replicated_job: Tree
    container: Tree
    codes: tuple[str, ...]
    """Those of the job's diagnostics."""

    def words(self, index: int = 0) -> list[str]:
        """What the container runs, after the kubelet has put variables in; empty where its image decides."""
        variables = self.variables(index)
        words = (*self.container.get("command", ()), *self.container.get("args", ()))
        return [re.sub(r"\$\((\w+)\)", lambda name: variables.get(name[1], name[0]), word) for word in words]

    @property
    def indexes(self) -> list[int]:
        """The completion indexes of the first and the last pod."""
        return sorted({0, count(self.replicated_job) - 1})

    def variables(self, index: int) -> dict[str, str]:
        """The `PET_*` variables of the pod with this completion index, as the kubelet sets them."""
        variables = {e["name"]: e for e in self.container["env"] if e["name"].startswith("PET_")}
        return {name: value_of(variable, index) for name, variable in variables.items()}

    @property
    def trainer(self) -> Tree:
        """The replicated job whose pods train."""
        jobs = self.jobset["spec"]["replicatedJobs"]
        return next(job for job in jobs if step(job) == "trainer")

    @property
    def nodes(self) -> int:
        """The pods that take part in the rendezvous."""
        return count(self.trainer)

    @property
    def endpoint(self) -> str:
        """Host and port of the trainer's first pod: its host name is made of its real job and subdomain."""
        name = self.jobset["metadata"]["name"]
        network = self.jobset["spec"].get("network", {})
        return f"{name}-{self.trainer['name']}-0-0.{network.get('subdomain', name)}:{PORT}"

    @property
    def meeting_places(self) -> tuple[str, ...]:
        """Where the processes may meet: those of one node may also do so at home."""
        return (self.endpoint, f"localhost:{PORT}") if self.nodes == 1 else (self.endpoint,)

    @property
    def devices(self) -> int:
        """The GPUs of a node."""
        wanted = self._wanted
        return sum(parse(amount).value() for name, amount in wanted.items() if "gpu" in name.lower())

    @property
    def processes(self) -> int:
        """How many processes a node should start."""
        trainer = self.train_job["spec"].get("trainer", {})
        if "numProcPerNode" in trainer:
            return int(trainer["numProcPerNode"])
        return self.devices or max(parse(self._wanted.get("cpu", 0)).value(), 1)

    @property
    def _wanted(self) -> dict[str, str]:
        node = next(c for c in containers(self.trainer) if c["name"] == "node")
        resources = node.get("resources", {})
        return {**resources.get("limits", {}), **resources.get("requests", {})}


def value_of(variable: Tree, index: int) -> str:
    if "value" in variable:
        return str(variable["value"])
    assert variable["valueFrom"] == {"fieldRef": {"fieldPath": COMPLETION_INDEX}}
    return str(index)


def count(replicated_job: Tree) -> int:
    """The pods of a replicated job."""
    spec = replicated_job["template"]["spec"]
    assert spec["parallelism"] == spec["completions"]
    return int(spec["parallelism"]) * int(replicated_job["replicas"])


def step(replicated_job: Tree) -> str | None:
    labels: dict[str, str] = replicated_job["template"].get("metadata", {}).get("labels", {})
    return labels.get(STEP)


def containers(replicated_job: Tree) -> list[Tree]:
    spec = replicated_job["template"]["spec"]["template"]["spec"]
    return [*spec.get("initContainers", ()), *spec["containers"]]


def torch_pods(id: str, loaded: Loaded) -> Iterator[TorchPod]:
    """All containers with `PET_*` variables that the TrainJobs of a stream compile to."""
    compilation = compile_documents(
        loaded.documents,
        catalogue=Catalogue(dict(shipped_runtimes())),
        plugins=load_plugins(),
        source=loaded.diagnostics,
    )
    for job in compilation.jobs:
        for jobset in (tree for tree in job.objects if tree["kind"] == "JobSet"):
            for replicated_job in jobset["spec"]["replicatedJobs"]:
                for container in containers(replicated_job):
                    if any(e["name"] == "PET_NNODES" for e in container.get("env", ())):
                        name = f"{id}:{job.name}/{replicated_job['name']}/{container['name']}"
                        codes = tuple(diagnostic.code for diagnostic in job.diagnostics)
                        yield TorchPod(name, job.document.tree, jobset, replicated_job, container, codes)


@cache
def golden_pods() -> list[TorchPod]:
    """Those of every golden case, whichever plugin it is about."""
    return [pod for case in golden_cases() for pod in torch_pods(f"golden/{case}", case.loaded())]


@cache
def corpus_pods() -> list[TorchPod]:
    """Those of every case of the conformance corpus that uses torch and has no errors."""
    torch = [case for family in FAMILIES for case in cases(family) if "torch:" in case.input]
    return [pod for case in torch for pod in torch_pods(case.id, load(case.input, case.id))]


JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: fine-tune, namespace: team-a}}
spec:
  runtimeRef: {{name: {runtime}}}
  trainer: {trainer}
"""
TRAINERS = {
    "torch": {
        "alone": "{}",
        "on two GPUs": '{resourcesPerNode: {limits: {nvidia.com/gpu: "2"}}}',
        "on three nodes": "{numNodes: 3, numProcPerNode: 4}",
        "with a command": "{numNodes: 3, command: [torchrun, train.py, --epochs=3]}",
    },
    "torchtune": {
        "alone": "{}",
        "on three nodes": "{numNodes: 3}",
        "tune run": "{command: [tune, run]}",
        "tune run on one GPU": '{command: [tune, run], resourcesPerNode: {limits: {nvidia.com/gpu: "1"}}}',
        "tune run with LoRA": '{command: [tune, run], args: ["model.lora_attn_modules=[q_proj]", epochs=1]}',
    },
}
"""What the jobs of the shipped runtimes ask for, by the first word of the runtime's name."""


@cache
def shipped_pods() -> list[TorchPod]:
    """Those of the shipped runtimes that use torch, under small jobs."""
    pods: list[TorchPod] = []
    for runtime in (file.name.removesuffix(".yaml") for file in shipped_runtimes()):
        for told, trainer in TRAINERS.get(runtime.partition("-")[0], {}).items():
            text = JOB.format(runtime=runtime, trainer=trainer)
            pods += torch_pods(f"{runtime} {told}", load(text, runtime))
    return pods
