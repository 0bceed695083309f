"""`trainform run` with real torch: two nodes train together, and go on after one dies. Over gloo everywhere, over NCCL
where there is a GPU; with one alone, one node."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from support.frameworks import networks_apart, require
from support.local_runs import LocalRepository, trainer
from trainform.local.devices import devices_here

require("torch")

PROGRAM = Path(__file__).parents[1] / "support" / "programs" / "fit.py"
GPUS = len(devices_here())
NODES = min(GPUS, 2) or 1
NEEDS_GPU = pytest.mark.skipif(GPUS == 0, reason="needs a GPU")


@pytest.mark.parametrize(
    ("backend", "nodes", "processes", "gpus"),
    [
        ("gloo", 2, 2, 0),
        pytest.param("nccl", NODES, GPUS // NODES, GPUS // NODES, marks=NEEDS_GPU),
    ],
)
def test_nodes_train_and_go_on_after_one_dies(
    tmp_path: Path, backend: str, nodes: int, processes: int, gpus: int
) -> None:
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
        trainer(node, pods=nodes, job={"backoffLimit": 0}, pod=claim),
        policy={"torch": {}},
        failurePolicy={"maxRestarts": 1},
    )
    ran = repository.run("--procs", str(processes), "--gpus", str(gpus), "--timeout", "300", *networks_apart())
    assert ran.code == 0, f"{ran.out}\n{ran.err}"
    told = [re.fullmatch(r"world (\d+) step (\d+) loss (\S+)", line) for line in ran.lines("node-0-0")]
    steps = [(int(each[1]), int(each[2]), float(each[3])) for each in told if each]
    assert {world for world, _, _ in steps} == {nodes * processes}
    assert [step for _, step, _ in steps] == [*range(40)]
    assert steps[-1][2] < steps[0][2] / 100
    assert "restarting all pods (attempt 2)" in ran.err
