"""MPI: who is a node, how many processes it runs, and what the launcher is told."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from trainform import compile_stream

STEP = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}


def replicated_job(job: str, *, step: bool = False, pods: int | None = None, **container: Any) -> dict[str, Any]:
    main = {"name": "node", "image": "mpi:1"} | container
    spec: dict[str, Any] = {"template": {"spec": {"containers": [main]}}}
    if pods is not None:
        spec |= {"parallelism": pods, "completions": pods}
    return {"name": job, "template": {"spec": spec, **({"metadata": STEP} if step else {})}}


def gpus(count: int) -> dict[str, Any]:
    return {"requests": {"nvidia.com/gpu": count}}


NODE = replicated_job("node")
LAUNCHER = replicated_job("launcher", step=True)


def compiled(
    trainer: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
    *,
    nodes: int | None = None,
    jobs: tuple[dict[str, Any], ...] = (NODE, LAUNCHER),
    **spec: Any,
) -> dict[str, Any]:
    ml_policy = {"mpi": policy or {}, **({"numNodes": nodes} if nodes else {})}
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "mpi"},
        "spec": {"mlPolicy": ml_policy, "template": {"spec": {"replicatedJobs": list(jobs)}}, **spec},
    }
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "llm"},
        "spec": {"runtimeRef": {"name": "mpi"}, **({} if trainer is None else {"trainer": trainer})},
    }
    result: dict[str, Any] = compile_stream(yaml.safe_dump_all([runtime, job]))["jobs"][0]
    return result


def hostfile(result: dict[str, Any]) -> list[str]:
    (config_map,) = (o for o in result["objects"] if o["kind"] == "ConfigMap")
    assert config_map["metadata"] == {"name": "llm-mpi-hostfile", "namespace": "default"}
    text: str = config_map["data"]["hostfile"]
    return text.splitlines()


def replicated_jobs(result: dict[str, Any]) -> dict[str, Any]:
    return {job["name"]: job["template"]["spec"] for job in result["objects"][-1]["spec"]["replicatedJobs"]}


def main_container(result: dict[str, Any], name: str) -> dict[str, Any]:
    container: dict[str, Any] = replicated_jobs(result)[name]["template"]["spec"]["containers"][0]
    return container


def told(result: dict[str, Any], code: str) -> list[dict[str, Any]]:
    return [d for d in result["diagnostics"] if d["code"] == code]


AS_NODE = {"runLauncherAsNode": True}


@pytest.mark.parametrize(
    ("trainer", "policy", "nodes", "counts", "deviations"),
    [
        ({"numNodes": 3}, {}, None, (1, 3), []),
        ({"numNodes": 3}, AS_NODE, None, (1, 2), []),
        ({"numNodes": 1}, AS_NODE, None, (1, 1), []),
        (None, {}, None, (1, 1), []),
        # The controller counts the labelled launcher by the runtime's numNodes.
        ({}, {}, 3, (1, 3), ["D07"]),
        ({}, AS_NODE, 3, (1, 2), ["D07"]),
        ({"numNodes": 4}, AS_NODE, 3, (1, 3), ["D07"]),
        ({}, AS_NODE, 1, (1, 1), []),
    ],
)
def test_pods_of_launcher_and_node(trainer, policy, nodes, counts, deviations):
    result = compiled(trainer, policy, nodes=nodes)
    jobs = replicated_jobs(result)
    assert (jobs["launcher"]["parallelism"], jobs["node"]["parallelism"]) == counts
    assert len(hostfile(result)) == (sum(counts) if policy else counts[1])
    assert result["deviations"] == deviations


def test_a_launcher_without_a_step_counts_as_the_controller_does():
    jobs = (replicated_job("node", step=True), replicated_job("launcher", pods=2))
    counts = {name: job["parallelism"] for name, job in replicated_jobs(compiled({}, nodes=3, jobs=jobs)).items()}
    assert counts == {"node": 3, "launcher": 2}


def test_nodes_are_the_parallelism_where_nobody_counts_them():
    result = compiled({}, jobs=(replicated_job("node", pods=5), LAUNCHER))
    assert replicated_jobs(result)["node"]["parallelism"] == 5
    assert not result["deviations"]


@pytest.mark.parametrize("labelled", [("node", "launcher"), ("launcher", "node")])
def test_each_job_keeps_its_own_count_when_both_are_the_trainer_step(labelled):
    jobs = tuple(replicated_job(name, step=True) for name in labelled)
    result = compiled({"numNodes": 3}, jobs=jobs)
    assert {name: job["parallelism"] for name, job in replicated_jobs(result).items()} == {
        "launcher": 1,
        "node": 3,
    }
    assert len(hostfile(result)) == 3


@pytest.mark.parametrize(
    ("trainer", "policy", "resources", "slots", "deviations"),
    [
        ({"numProcPerNode": 4}, {"numProcPerNode": 2}, gpus(8), 4, []),
        ({}, {"numProcPerNode": 2}, gpus(8), 2, []),
        ({}, {}, gpus(8), 8, []),
        (None, {}, gpus(8), 8, []),
        ({}, {}, {}, 1, []),
        # The job's resources go to the nodes only with the launcher among them.
        ({"resourcesPerNode": gpus(8)}, AS_NODE, {}, 8, []),
        ({"resourcesPerNode": gpus(8)}, {}, {}, 1, ["D03"]),
        ({"resourcesPerNode": {"limits": {"memory": "1Gi"}}}, {}, gpus(8), 8, ["D03"]),
    ],
)
def test_slots_of_a_node(trainer, policy, resources, slots, deviations):
    result = compiled(trainer, policy, jobs=(replicated_job("node", resources=resources), LAUNCHER))
    assert hostfile(result)[0] == f"llm-node-0-0.llm slots={slots}"
    variables = {v["name"]: v["value"] for v in main_container(result, "launcher")["env"]}
    assert variables["OMPI_MCA_orte_set_default_slots"] == str(slots)
    assert result["deviations"] == deviations


def test_slots_that_nothing_shows_are_not_told():
    result = compiled({"resourcesPerNode": gpus(8)}, jobs=(replicated_job("launcher", name="launcher"),))
    assert hostfile(result) == []
    assert not result["deviations"]


def test_slots_come_from_the_trainer_step_without_a_node_job():
    assert hostfile(compiled({"resourcesPerNode": gpus(8)}, AS_NODE, jobs=(LAUNCHER,))) == [
        "llm-launcher-0-0.llm slots=8"
    ]


def test_the_private_key_is_nobody_elses_to_read():
    pod = replicated_jobs(compiled({}))["node"]["template"]["spec"]
    (volume,) = pod["volumes"]
    assert volume["secret"]["secretName"] == "llm-mpi-ssh-auth"
    assert volume["secret"]["defaultMode"] == 0o400
    assert [(item["path"], item["mode"]) for item in volume["secret"]["items"]] == [
        ("id_rsa", 0o640),
        ("id_rsa.pub", 0o644),
        ("authorized_keys", 0o644),
    ]
    assert pod["containers"][0]["volumeMounts"] == [{"name": "mpi-ssh-auth", "mountPath": "/root/.ssh"}]


def test_no_key_is_rendered_but_the_secret_is_named():
    result = compiled({})
    assert [o["kind"] for o in result["objects"]] == ["ConfigMap", "JobSet"]
    (info,) = told(result, "TF320")
    assert info["severity"] == "info"
    assert "llm-mpi-ssh-auth" in info["message"]


TRAINER = {"image": "job:2", "args": ["-x"], "env": [{"name": "LR", "value": "0.1"}]}


def test_nodes_beside_a_launcher_that_computes_get_variables_but_no_image():
    result = compiled(TRAINER, AS_NODE)
    node = main_container(result, "node")
    assert node["env"] == TRAINER["env"]
    assert (node["image"], node.get("args")) == ("mpi:1", None)
    assert main_container(result, "launcher")["image"] == "job:2"
    assert not told(result, "TF322")


def test_variables_that_reach_the_launcher_only_are_told():
    result = compiled(TRAINER)
    assert "env" not in main_container(result, "node")
    (info,) = told(result, "TF322")
    assert (info["severity"], info["field"]) == ("info", "spec.trainer.env")


@pytest.mark.parametrize(
    ("command", "reaches"),
    [
        (["mpirun", "-x", "{}", "python", "train.py"], True),
        (["mpirun", "-x", "{}=1", "python", "train.py"], True),
        (["sh", "-c", "mpirun -x {} python train.py"], True),
        (["mpirun", "-x", "OTHER", "python", "train.py"], False),
        (["mpirun", "--max-x {}", "python"], False),
    ],
)
def test_variables_that_mpirun_passes_on_reach_the_nodes(command, reaches):
    words = [word.replace("{}", "LR") for word in command]
    assert bool(told(compiled({**TRAINER, "command": words, "args": None}), "TF322")) != reaches


@pytest.mark.parametrize(
    ("trainer", "policy", "jobs", "field"),
    [
        (
            {"env": [{"name": "OMPI_MCA_orte_default_hostfile", "value": "/x"}]},
            {},
            (NODE, LAUNCHER),
            "spec.trainer.env",
        ),
        ({"numNodes": 2}, AS_NODE, (LAUNCHER,), "spec.trainer.numNodes"),
        ({"numNodes": 2}, AS_NODE, (replicated_job("node", step=True),), "spec.trainer.numNodes"),
        ({}, {"mpiImplementation": ""}, (NODE, LAUNCHER), "spec.mlPolicy.mpi.mpiImplementation"),
    ],
)
def test_what_is_refused(trainer, policy, jobs, field):
    result = compiled(trainer, policy, jobs=jobs)
    assert [d["field"] for d in result["diagnostics"] if d["severity"] == "error"] == [field]
    assert not result["objects"]
