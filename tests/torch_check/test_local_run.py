"""`trainform run` with real torch: two nodes train together, and go on after one dies. Over gloo everywhere, over NCCL
where there are two GPUs."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from support.local_runs import LocalRepository, trainer
from support.torchrun import require_torch

require_torch()

PROGRAM = Path(__file__).parents[1] / "support" / "programs" / "fit.py"
GPUS = import_module("torch").cuda.device_count()


@pytest.mark.parametrize(
    ("backend", "processes", "gpus"),
    [
        ("gloo", 2, 0),
        pytest.param("nccl", GPUS // 2, GPUS // 2, marks=pytest.mark.skipif(GPUS < 2, reason="needs two GPUs")),
    ],
)
def test_two_nodes_train_and_go_on_after_one_dies(tmp_path: Path, backend: str, processes: int, gpus: int) -> None:
    repository = LocalRepository(tmp_path)
    node = {
        "name": "node",
        "image": "example/train:1",
        "command": [sys.executable, "-m", "torch.distributed.run", str(PROGRAM), "/checkpoints", backend],
        "env": [{"name": "OMP_NUM_THREADS", "value": "1"}, {"name": "PYTHONWARNINGS", "value": "ignore"}],
        "volumeMounts": [{"name": "checkpoints", "mountPath": "/checkpoints"}],
    }
    claim = {"volumes": [{"name": "checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}}]}
    repository.steps(
        trainer(node, pods=2, job={"backoffLimit": 0}, pod=claim),
        policy={"torch": {}},
        failurePolicy={"maxRestarts": 1},
    )
    ran = repository.run("--procs", str(processes), "--gpus", str(gpus), "--timeout", "300")
    assert ran.code == 0, f"{ran.out}\n{ran.err}"
    told = [re.fullmatch(r"world (\d+) step (\d+) loss (\S+)", line) for line in ran.lines("node-0-0")]
    steps = [(int(each[1]), int(each[2]), float(each[3])) for each in told if each]
    assert {world for world, _, _ in steps} == {2 * processes}
    assert [step for _, step, _ in steps] == [*range(40)]
    assert steps[-1][2] < steps[0][2] / 100
    assert "restarting all pods (attempt 2)" in ran.err
