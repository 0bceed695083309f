"""The lint about flags of torchrun and similar launchers that contradict the injected variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from trainform.plugin import TRAINER_PORT, Path, ReplicatedJob, Tree, Where, gpu_count
from trainform_plugins.lints.devices import sets_processes, uncounted
from trainform_plugins.lints.finished import Finished, values, words

STARTS = {
    "torchrun": False,
    "torch.distributed.run": False,
    "torch.distributed.launch": False,
    "tune": False,
    "accelerate": True,
}
"""Launchers that read `PET_*` variables, and whether their flags are accelerate's."""

LOCAL = ("localhost", "127.0.0.1", "0.0.0.0", "::1")

ENDPOINT = "PET_RDZV_ENDPOINT"
ENDPOINT_FLAG = re.compile(r"--rdzv[-_]endpoint\b")


class Flag(NamedTuple):
    """A flag as written, its name without dashes, and the word that contains it."""

    name: str
    value: str
    text: str
    field: str
    number: int


class Injected(NamedTuple):
    """What the variables say: `processes` per node are `auto` with GPUs, of which there are `gpus`. `has_endpoint`:
    the container names an endpoint for the rendezvous, by a flag or a variable."""

    nodes: str
    processes: str
    gpus: int
    host: str
    has_endpoint: bool

    @property
    def alone(self) -> bool:
        return self.nodes == "1"

    def counts_nodes(self, value: str) -> bool:
        return value in (self.nodes, f"{self.nodes}:{self.nodes}")

    def counts_processes(self, value: str) -> bool:
        accepted = ("auto", "gpu", str(self.gpus)) if self.processes == "auto" else (self.processes,)
        return value in accepted

    def counts_all_processes(self, value: str) -> bool:
        each = str(self.gpus) if self.processes == "auto" else self.processes
        return not each.isdigit() or value == str(int(each) * int(self.nodes))

    def is_rank(self, value: str) -> bool:
        return self.alone and value == "0"

    def is_host(self, value: str) -> bool:
        host = value.rpartition(":")[0] or value
        return host.split(".")[:2] == self.host.split(".") or (self.alone and host in LOCAL)

    def is_port(self, value: str) -> bool:
        return value == str(TRAINER_PORT)

    def is_backend(self, value: str) -> bool:
        """Any other backend than the static one needs an endpoint, and without one, each node meets itself."""
        return value == "static" or self.alone or self.has_endpoint

    def is_standalone(self, _: str) -> bool:
        return self.alone


TORCHRUN: dict[str, tuple[str, Callable[[Injected, str], bool]]] = {
    "nnodes": ("PET_NNODES", Injected.counts_nodes),
    "nproc-per-node": ("PET_NPROC_PER_NODE", Injected.counts_processes),
    "node-rank": ("PET_NODE_RANK", Injected.is_rank),
    "master-addr": ("PET_MASTER_ADDR", Injected.is_host),
    "master-port": ("PET_MASTER_PORT", Injected.is_port),
    "rdzv-endpoint": ("PET_MASTER_ADDR", Injected.is_host),
    "rdzv-backend": ("PET_MASTER_ADDR", Injected.is_backend),
    "standalone": ("PET_NNODES", Injected.is_standalone),
}
ACCELERATE: dict[str, tuple[str, Callable[[Injected, str], bool]]] = {
    "num-machines": ("PET_NNODES", Injected.counts_nodes),
    "num-processes": ("PET_NNODES times PET_NPROC_PER_NODE", Injected.counts_all_processes),
    "machine-rank": ("PET_NODE_RANK", Injected.is_rank),
    "main-process-ip": ("PET_MASTER_ADDR", Injected.is_host),
    "main-process-port": ("PET_MASTER_PORT", Injected.is_port),
}
"""By flag: the variable that it overrides, and whether a value agrees with it."""

COUNTS = ("nproc-per-node", "num-processes")
"""The flags for a number of processes."""

SUSPECT = re.compile("--(?:" + "|".join(name.replace("-", "[-_]") for name in (*TORCHRUN, *ACCELERATE)) + ")")
"""A cheap pre-check before a command line is parsed."""


def contradicting_flags(job: Finished) -> None:
    """torchrun's flags beat its variables, so a flag overrides the TrainJob's nodes.

    Why: each `PET_*` variable is the default of a flag. Bites: anyone who pastes a command line from a laptop:
    `--nnodes=1` or `--standalone` makes every pod train alone, a literal `--node-rank=0` makes all of them the first,
    `--master-addr=localhost` waits forever. Reported repeatedly since the first operator (training-operator 1921). A
    flag that agrees, or refers to a variable, is fine.
    """
    if job.plan.framework != "torch":
        return
    for pods, node in job.nodes:
        flags = list(_flags(node))
        if flags:
            _report(job, pods, node, flags)


def _report(job: Finished, pods: ReplicatedJob, node: Tree, flags: list[tuple[bool, Flag]]) -> None:
    injected = injected_into(job, pods, node)
    # Without the flag, there would be a process for each CPU: TF603 says so.
    is_miscounted = not sets_processes(job.plan) and bool(uncounted(job.plan, pods, node))
    for of_accelerate, flag in flags:
        rule = (ACCELERATE if of_accelerate else TORCHRUN).get(flag.name)
        if injected is None or rule is None or "$" in flag.value or rule[1](injected, flag.value):
            continue
        if flag.name in COUNTS and is_miscounted:
            continue
        variables = values(node)
        says = f", which is {variables[rule[0]]}" if rule[0] in variables else ""
        job.plan.warn(
            "TF605",
            f"{flag.text} overrides {rule[0]}{says}",
            hint=f"remove --{flag.name}; set spec.trainer.numNodes and numProcPerNode instead",
            **_where(job, pods, node, flag),
        )


def injected_into(job: Finished, pods: ReplicatedJob, node: Tree) -> Injected | None:
    """The rendezvous that a container is told of; None if it is told nothing."""
    variables = values(node)
    if "PET_NNODES" not in variables or "PET_NPROC_PER_NODE" not in variables:
        return None
    host = f"{job.plan.name}-{pods.name}-0-0.{job.plan.subdomain}"
    gpus = gpu_count(node.get("resources"))
    has_endpoint = ENDPOINT in variables or any(ENDPOINT_FLAG.search(word) for word in words(node))
    return Injected(variables["PET_NNODES"], variables["PET_NPROC_PER_NODE"], gpus, host, has_endpoint)


def _where(job: Finished, pods: ReplicatedJob, node: Tree, flag: Flag) -> Where:
    where = job.trainers(pods, node, flag.field)
    path: Path = where["path"]
    if path[-1] == flag.field:
        where["path"] = (*path, flag.number)
    return where


def _flags(node: Tree) -> Iterator[tuple[bool, Flag]]:
    """The flags between a launcher and its script, and whether the launcher is accelerate."""
    line = " ".join(words(node))
    return _flags_of(list(_parts(node))) if "--" in line and SUSPECT.search(line) else iter(())


def _flags_of(parts: list[tuple[str, str, int]]) -> Iterator[tuple[bool, Flag]]:
    launcher: bool | None = None
    for number, (part, field, index) in enumerate(parts):
        launcher = STARTS.get(part.rpartition("/")[2], launcher)
        if part.endswith(".py") or part in ("&&", ";", "|"):
            launcher = None
        if launcher is None or not part.startswith("--"):
            continue
        name, joined, value = part[2:].partition("=")
        if not joined and number + 1 < len(parts):
            value = parts[number + 1][0]
        text = part if joined or name == "standalone" else f"{part} {value}"
        yield launcher, Flag(name.replace("_", "-"), value.strip("'\""), text, field, index)


def _parts(node: Tree) -> Iterator[tuple[str, str, int]]:
    """The words of command and arguments, including those inside shell text."""
    for field in ("command", "args"):
        for index, word in enumerate(node.get(field) or ()):
            for part in word.split():
                yield part, field, index
