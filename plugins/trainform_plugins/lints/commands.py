"""The lint about commands that replace a launcher, and the known launchers."""

from __future__ import annotations

from trainform.plugin import NODE_CONTAINER, TRAINER_STEP, Plan

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
