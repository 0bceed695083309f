"""torchrun's variables, where the runtime has nothing that is labelled as the trainer step."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.streams import compiled, compiled_text, errors, job, jobset, replicated_job, runtime

Tree = dict[str, Any]

INJECTION = {"targets": [{"jobName": "node", "containerNames": ["sidecar", "warmup"]}]}
PODS = {
    "containers": [
        {"name": "node", "image": "llm:1", "resources": {"limits": {"cpu": 4}}},
        {"name": "sidecar", "image": "llm:1"},
    ],
    "initContainers": [{"name": "warmup", "image": "llm:1"}],
}


def variables(*, step: str, **spec: Any) -> dict[str, dict[str, str]]:
    """The literal variables of each container, by its name."""
    policy = {"torch": {"envInjection": INJECTION}}
    own = runtime("rt", replicated_job(step=step, pod=PODS), policy=policy)
    compilation = compiled(own, job(**spec))
    (node,) = jobset(compilation)["spec"]["replicatedJobs"]
    pod = node["template"]["spec"]["template"]["spec"]
    containers = [*pod["initContainers"], *pod["containers"]]
    return {c["name"]: {e["name"]: e["value"] for e in c.get("env", ()) if "value" in e} for c in containers}


@pytest.mark.parametrize("trainer", [None, {"numNodes": 3}])
def test_injected_containers_get_their_variables_without_a_trainer_step(trainer: Tree | None) -> None:
    found = variables(step="", **({"trainer": trainer} if trainer else {}))
    assert found["node"] == {}
    assert found["sidecar"] == found["warmup"]
    assert found["sidecar"] == {
        "PET_NNODES": "1",
        "PET_NPROC_PER_NODE": "4",
        "PET_MASTER_ADDR": "llm-node-0-0.llm",
        "PET_MASTER_PORT": "29500",
    }


def test_injected_containers_get_the_variables_of_the_trainer() -> None:
    found = variables(step="trainer", trainer={"numNodes": 3, "numProcPerNode": 2})
    assert found["node"] == found["sidecar"] == found["warmup"]
    assert found["node"]["PET_NNODES"] == "3"
    assert found["node"]["PET_NPROC_PER_NODE"] == "2"


@pytest.mark.parametrize(
    "name", ["PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"]
)
def test_a_job_cannot_set_a_variable_of_the_rendezvous(name: str) -> None:
    own = runtime("rt", policy={"numNodes": 1, "torch": {}})
    (error,) = errors(compiled(own, job(trainer={"env": [{"name": name, "value": "1"}]})))
    assert (error.code, error.message.split()[0]) == ("TF312", name)


def test_other_variables_of_torchrun_are_the_jobs_own() -> None:
    own = runtime("rt", policy={"numNodes": 1, "torch": {}})
    backend = {"name": "PET_RDZV_BACKEND", "value": "c10d"}
    (node,) = jobset(compiled(own, job(trainer={"env": [backend]})))["spec"]["replicatedJobs"]
    assert backend in node["template"]["spec"]["template"]["spec"]["containers"][0]["env"]


@pytest.mark.parametrize(
    ("target", "message", "line"),
    [
        ({"jobName": "noed", "containerNames": ["sidecar"]}, "replicated job 'noed'", '"noed"'),
        ({"jobName": "node", "containerNames": ["warmup", "nope"]}, "container 'nope' in", '"nope"'),
    ],
)
def test_a_target_that_does_not_exist_is_told_with_its_line(target: Tree, message: str, line: str) -> None:
    others = [{"jobName": name, "containerNames": ["c"]} for name in ("a", "b")]
    jobs = [replicated_job(name, "", pod={"containers": [{"name": "c", "image": "x:1"}]}) for name in ("a", "b")]
    policy = {"torch": {"envInjection": {"targets": [*others, target]}}}
    text = json.dumps(runtime("rt", replicated_job(step="trainer", pod=PODS), *jobs, policy=policy), indent=1)
    (error,) = errors(compiled_text(f"{text}\n---\n{json.dumps(job())}"))
    number = next(number for number, each in enumerate(text.splitlines(), 1) if each.strip().strip(",").endswith(line))
    assert error.code == "TF313"
    assert message in error.message
    assert error.hint.endswith(f"<stdin>:{number}")
