"""The job of a local run: other sizes, and what its framework needs."""

from __future__ import annotations

import pytest

from support.local_runs import LocalRepository
from trainform.local.job import Sizes, every_pod_listens, find_job
from trainform.source import load
from trainform.workspace.discovery import discover


def adapted(trainer: str, sizes: Sizes):
    [document] = load(f"kind: TrainJob\nspec: {{trainer: {trainer}}}\n", "job.yaml").documents
    before = repr(document.tree)
    tree = sizes.adapt(document).tree
    assert repr(document.tree) == before
    return tree["spec"]["trainer"]


@pytest.mark.parametrize(
    ("trainer", "sizes", "expected"),
    [
        ("{numNodes: 4}", Sizes(), {"numNodes": 4}),
        ("{numNodes: 4}", Sizes(nodes=2), {"numNodes": 2}),
        ("null", Sizes(nodes=2, processes=3), {"numNodes": 2, "numProcPerNode": 3}),
        ("{}", Sizes(gpus=1), {"resourcesPerNode": {"limits": {"nvidia.com/gpu": "1"}}}),
        (
            "{resourcesPerNode: {limits: {amd.com/gpu: 8, cpu: 4}, requests: {amd.com/gpu: 8, memory: 1Gi}}}",
            Sizes(gpus=0),
            {
                "resourcesPerNode": {
                    "limits": {"amd.com/gpu": "0", "cpu": 4},
                    "requests": {"amd.com/gpu": "0", "memory": "1Gi"},
                }
            },
        ),
    ],
)
def test_sizes_replace_the_trainers(trainer, sizes, expected):
    assert adapted(trainer, sizes) == expected


@pytest.mark.parametrize(
    ("runtime", "listens"),
    [
        ("torch-distributed", False),
        ("jax-distributed", False),
        ("xgboost-distributed", False),
        ("deepspeed-distributed", True),
        ("flux-distributed", True),
    ],
)
def test_a_framework_says_whether_every_pod_listens_on_its_port(tmp_path, runtime, listens):
    repository = LocalRepository(tmp_path)
    repository.job(runtime, {"image": "example/train:1", "numNodes": 2, "command": ["train"]})
    found = find_job(discover(str(tmp_path)), "fit", Sizes())
    assert found.job is not None
    assert every_pod_listens(found.job) == listens


def test_a_job_that_is_behind_runs_as_it_was_rendered(tmp_path):
    """Its runtime has changed since; what the cluster has is what runs."""
    from trainform.cli.main import run

    repository = LocalRepository(tmp_path)

    def with_command(word: str) -> None:
        node = {"name": "node", "image": "example/train:1", "command": ["echo", word]}
        job = {"name": "node", "template": {"spec": {"template": {"spec": {"containers": [node]}}}}}
        repository.runtime({"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [job]}}})

    with_command("old")
    repository.job("steps", {})
    assert run(["render", "--root", str(tmp_path)]) == 0
    with_command("new")
    found = find_job(discover(str(tmp_path)), "fit", Sizes())
    assert found.job is not None
    assert "'old'" in str(found.job.objects)
    assert "'new'" not in str(found.job.objects)
