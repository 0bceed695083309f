"""The job of a local run: other sizes, and what its framework needs."""

from __future__ import annotations

import pytest

from support.local_runs import LocalRepository, container, step, trainer
from trainform.cli.main import run
from trainform.local.job import FoundJob, Sizes, every_pod_listens, find_job
from trainform.source import load
from trainform.workspace.discovery import discover
from trainform.workspace.review.explain import gather


def adapted(written: str, sizes: Sizes):
    [document] = load(f"kind: TrainJob\nspec: {{trainer: {written}}}\n", "job.yaml").documents
    before = repr(document.tree)
    tree = sizes.adapt(document).tree
    assert repr(document.tree) == before
    return tree["spec"]["trainer"]


@pytest.mark.parametrize(
    ("written", "sizes", "expected"),
    [
        ("{numNodes: 4}", Sizes(), {"numNodes": 4}),
        ("{numNodes: 4}", Sizes(nodes=2), {"numNodes": 2}),
        ("null", Sizes(nodes=2, processes=3), {"numNodes": 2, "numProcPerNode": 3}),
        ("{}", Sizes(gpus=1, devices=["amd.com/gpu"]), {"resourcesPerNode": {"limits": {"amd.com/gpu": "1"}}}),
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
def test_sizes_replace_the_trainers(written, sizes, expected):
    assert adapted(written, sizes) == expected


def asking(**devices: int):
    limits = {f"{vendor}.com/gpu": count for vendor, count in devices.items()}
    return container("true", resources={"limits": limits} if limits else {})


ROLES = {
    "every pod that asks, by its own name": (
        [trainer(asking(nvidia=8), pods=2), step("worker", asking(amd=4), pods=2), step("data", asking())],
        {"node": {"nvidia.com/gpu": "1"}, "worker": {"amd.com/gpu": "1"}, "data": {}},
    ),
    "no launcher that leaves GPUs to others": (
        [trainer(asking()), step("worker", asking(nvidia=8))],
        {"node": {}, "worker": {"nvidia.com/gpu": "1"}},
    ),
    "the trainer's pods, if none asks": (
        [trainer(asking()), step("worker", asking())],
        {"node": {"nvidia.com/gpu": "1"}, "worker": {}},
    ),
}


def gpu_limits(found: FoundJob):
    assert found.job is not None, found.errors()
    jobset = next(each for each in found.job.objects if each["kind"] == "JobSet")
    limits = {}
    for job in jobset["spec"]["replicatedJobs"]:
        [pod] = job["template"]["spec"]["template"]["spec"]["containers"]
        limits[job["name"]] = pod.get("resources", {}).get("limits", {})
    return limits


@pytest.mark.parametrize("rendered", [False, True])
@pytest.mark.parametrize(("steps", "limits"), ROLES.values(), ids=ROLES)
def test_gpus_are_those_of(tmp_path, steps, limits, rendered):
    repository = LocalRepository(tmp_path)
    repository.steps(*steps)
    if rendered:
        assert run(["render", "--root", str(tmp_path)]) == 0
    found = find_job(discover(str(tmp_path)), "fit", Sizes(gpus=1))
    assert gpu_limits(found) == limits


def test_gpus_of_a_shipped_runtime_and_of_an_environments_patch_are_replaced(tmp_path):
    repository = LocalRepository(tmp_path)
    patch = """
  patches:
  - target: {kind: JobSet}
    patch: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [
      {name: node, resources: {limits: {nvidia.com/gpu: 4}}}]}}}}}]}}
"""
    head = "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: prod}\nspec:"
    repository.write("environments/prod/environment.yaml", head + patch)
    repository.job("torchtune-llama3.2-1b", {"command": ["tune", "run"]})
    limits = gpu_limits(find_job(discover(str(tmp_path)), "fit", Sizes(gpus=1)))
    assert limits["node"] == {"nvidia.com/gpu": "1"}


def test_a_rendered_job_in_another_size_keeps_todays_facts(tmp_path):
    """Only what changes in the repository puts a job behind: not the size of a run."""
    repository = LocalRepository(tmp_path)
    repository.steps(trainer(asking(nvidia=8)))
    limits = "{type: Container, default: {memory: 3Gi}}"
    facts = f"apiVersion: v1\nkind: LimitRange\nmetadata: {{name: l, namespace: ml}}\nspec: {{limits: [{limits}]}}\n"
    repository.write("environments/prod/limits.yaml", facts)
    repository.write(
        "environments/prod/environment.yaml",
        "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: prod}\n",
    )
    assert run(["render", "--root", str(tmp_path)]) == 0
    gathered = gather(discover(str(tmp_path)), ["fit"], adapt=Sizes(gpus=1).adapt)
    assert [told.behind for told in gathered.told] == [()]


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
