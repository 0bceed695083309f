"""Lints about commands that start too little, and the known launchers."""

from __future__ import annotations

import re

from trainform.plugin import NODE_CONTAINER, TRAINER_STEP, Plan, Tree, gpu_count, tables, text
from trainform_plugins.lints.finished import Finished, values, words

LAUNCHERS = frozenset(
    (
        "accelerate",
        "deepspeed",
        "flux",
        "horovodrun",
        "mpiexec",
        "mpirun",
        "torch.distributed.launch",
        "torch.distributed.run",
        "torchrun",
        "tune",
    )
)
"""Programs and modules that start a node's processes."""

INTERPRETER = re.compile(r"(?:.*/)?python[0-9.]*")

RENDEZVOUS = {"MASTER_ADDR", "RANK", "WORLD_SIZE"}
"""What `torch.distributed` reads by itself, without a launcher."""


def drops_the_launcher(plan: Plan) -> None:
    """A TrainJob's command replaces the runtime's entirely, including torchrun or mpirun.

    Why: Kubernetes has one command per container, and the Trainer replaces it rather than appending. Bites: anyone who
    writes `command: [python, train.py]` over a runtime that starts `torchrun train.py`: one process per node trains
    alone, on one GPU, and the job succeeds. Same report from the other side: NVIDIA/aicr 2280. A shell script may call
    the launcher itself, so it is not reported.
    """
    wanted = plan.trainer
    if wanted.command is None and wanted.args is None:
        return
    for pods in plan.pod_sets:
        node = pods.container(NODE_CONTAINER) if pods.step == TRAINER_STEP else None
        if node is None:
            continue
        command, args = node.get("command") or [], node.get("args") or []
        lost = launcher([*command, *args])
        if not lost:
            continue
        left = [
            *(command if wanted.command is None else wanted.command),
            *(args if wanted.args is None else wanted.args),
        ]
        if not launcher(left) and not _runs_script(left):
            field = "args" if wanted.command is None else "command"
            plan.warn(
                "TF609",
                f"replaces the runtime's {field}, so {lost} no longer starts the training",
                hint=f"start with {lost}, or remove {field} to use the runtime's",
                path=("spec", "trainer", field),
            )
            return


def nobody_starts_the_processes(job: Finished) -> None:
    """A plain `python` is one process, however many nodes and GPUs the job has.

    Why: PET_ variables are read by torchrun, and a hostfile by mpirun; Python reads neither. Bites: anyone who starts
    the script as on a laptop: each node trains alone on one GPU, or the launcher trains alone, and the job succeeds.
    Reported by TF609 if the runtime's own command had a launcher. A script that starts processes itself is not seen;
    with the variables of `RENDEZVOUS` in the job, each node is one process of many.
    """
    if job.plan.framework not in ("torch", "mpi") or any(told.code == "TF609" for told in job.plan.diagnostics):
        return
    for pods, node in job.nodes:
        line, field = words(node), "command" if node.get("command") else "args"
        if pods.step != TRAINER_STEP or not line or not INTERPRETER.fullmatch(line[0]) or launcher(line):
            continue
        if not _runs_script(line) and (several := _several(job, node)):
            starts = "torchrun" if job.plan.framework == "torch" else "mpirun"
            job.plan.warn(
                "TF634",
                f"{line[0]} is a single process, but the job has {several}: without {starts}, each trains alone",
                hint=f"start with {starts}",
                **job.trainers(pods, node, field),
            )
            return


def _several(job: Finished, node: Tree) -> str:
    """What the job has several of: nodes, GPUs or processes; empty if none."""
    found = values(node).get("PET_NNODES", "1")
    is_joined = {text(each, "name") for each in tables(node, "env")} >= RENDEZVOUS
    nodes = int(found) if found.isdigit() and not is_joined else 1
    if job.plan.framework == "mpi":
        nodes = sum(pods.pods for pods, _ in job.nodes)
    for number, what in ((nodes, "nodes"), (gpu_count(node.get("resources")), "GPUs per node")):
        if number > 1:
            return f"{number} {what}"
    processes = job.plan.num_proc_per_node or 1
    return f"{processes} processes per node" if processes > 1 else ""


def command_in_one_word(job: Finished) -> None:
    """A command is a list of words; `["torchrun train.py"]` is one, and no program has that name.

    Why: nothing splits it, as there is no shell. Bites: anyone who moves a command line into YAML as one string: the
    container cannot start.
    """
    for pods in job.jobset.jobs:
        for container in pods.all_containers:
            command = container.get("command") or ()
            if command and " " in command[0].strip():
                split = ", ".join(command[0].split())
                job.plan.warn(
                    "TF634",
                    "is one word, and no program has this name",
                    hint=f"write each word by itself: [{split}]",
                    **job.text(pods, container, ("command", 0)),
                )


def launcher(line: list[str]) -> str:
    """The first launcher in a command line, as a word or inside shell text; else empty."""
    for word in line:
        for part in word.split():
            name = part.rpartition("/")[2]
            if name in LAUNCHERS:
                return name
    return ""


def _runs_script(line: list[str]) -> bool:
    return any(part.endswith(".sh") for word in line for part in word.split())
