"""`trainform run` with real torch: two nodes of two processes train together over gloo, and go on after one dies."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from support.local_runs import LocalRepository, trainer
from support.torchrun import require_torch

require_torch()

PROGRAM = Path(__file__).parents[1] / "support" / "programs" / "fit.py"


def test_two_nodes_train_and_go_on_after_one_dies(tmp_path: Path) -> None:
    repository = LocalRepository(tmp_path)
    command = [sys.executable, "-m", "torch.distributed.run", str(PROGRAM), "/checkpoints"]
    node = {
        "name": "node",
        "image": "example/train:1",
        "command": command,
        "env": [{"name": "OMP_NUM_THREADS", "value": "1"}, {"name": "PYTHONWARNINGS", "value": "ignore"}],
        "volumeMounts": [{"name": "checkpoints", "mountPath": "/checkpoints"}],
    }
    claim = {"volumes": [{"name": "checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}}]}
    repository.steps(
        trainer(node, pods=2, job={"backoffLimit": 0}, pod=claim),
        policy={"torch": {}},
        failurePolicy={"maxRestarts": 1},
    )
    ran = repository.run("--procs", "2", "--timeout", "300")
    assert ran.code == 0, f"{ran.out}\n{ran.err}"
    told = [re.fullmatch(r"world (\d) step (\d+) loss (\S+)", line) for line in ran.lines("node-0-0")]
    steps = [(int(each[1]), int(each[2]), float(each[3])) for each in told if each]
    assert {world for world, _, _ in steps} == {4}
    assert [step for _, step, _ in steps] == [*range(steps[-1][1] + 1)]
    assert steps[-1][1] == 39
    assert steps[-1][2] < steps[0][2] / 100
    assert "restarting all pods (attempt 2)" in ran.err
