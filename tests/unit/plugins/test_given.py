"""What plugins declare to give is what they give: variables, host names and ports, held against rendered objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pages import stale
from trainform.core.catalogue import Catalogue
from trainform.core.compile import compile_documents
from trainform.core.given.table import KUBERNETES, meanings
from trainform.core.plan import Plan
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.local.plan.model import LocalRun
from trainform.local.plan.pods import plan_run
from trainform.local.plan.references import JobValues, Machine
from trainform.source import load
from trainform.testing import golden_cases

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: llm, namespace: ml}}
spec:
  runtimeRef: {{name: {runtime}}}
  trainer:
    image: example/train:1
    numNodes: 4
    command: [train]
    resourcesPerNode: {{limits: {{nvidia.com/gpu: 2}}}}
"""

RUNTIMES = {
    "torch": "torch-distributed",
    "mpi": "deepspeed-distributed",
    "jax": "jax-distributed",
    "xgboost": "xgboost-distributed",
    "flux": "flux-distributed",
}
GIVEN = {plugin.name: plugin.given for plugin in load_plugins() if any(plugin.given)}
each_framework = pytest.mark.parametrize("name", GIVEN)


def objects_of(name: str) -> list[dict[str, Any]]:
    loaded = load(JOB.format(runtime=RUNTIMES[name]), "jobs/llm.yaml")
    compilation = compile_documents(
        loaded.documents, catalogue=Catalogue(dict(shipped_runtimes())), plugins=load_plugins()
    )
    [job] = compilation.jobs
    assert job.objects
    return job.objects


def run_of(objects: list[dict[str, Any]]) -> LocalRun:
    jobset = next(tree for tree in objects if tree["kind"] == "JobSet")
    keys = {"llm-mpi-ssh-auth": {"ssh-privatekey": b"", "ssh-publickey": b""}, "llm-flux-curve": {"curve.cert": b""}}
    return plan_run(jobset, JobValues.of(objects, keys), lambda number: f"127.0.0.{number + 1}", Machine(8, 0))


def test_every_framework_is_tried():
    assert GIVEN.keys() == RUNTIMES.keys()


@each_framework
def test_variables_are_set_to_their_examples(name):
    run = run_of(objects_of(name))
    pods = [pod for pod in run.pods if pod.name in ("llm-node-0-2", "llm-launcher-0-0")]
    found = {key: value for pod in pods for each in pod.of_kind("main") for key, value in each.variables.items()}
    examples = {each.name: each.example for each in GIVEN[name].variables}
    assert {key: value for key, value in found.items() if key not in KUBERNETES.names} == examples


def test_kubernetes_variables_are_set_to_their_examples():
    pod = next(pod for pod in run_of(objects_of("torch")).pods if pod.name == "llm-node-0-2")
    [container] = pod.containers
    assert {each.name: container.variables[each.name] for each in KUBERNETES.variables} == {
        each.name: each.example for each in KUBERNETES.variables
    }


@each_framework
def test_host_names_stand_in_what_is_rendered(name):
    objects = objects_of(name)
    told = f"{[tree for tree in objects if tree['kind'] != 'Secret']}"
    assert [
        host.example
        for host in GIVEN[name].hosts
        if host.example not in told and host.example not in run_of(objects).hosts
    ] == []


@each_framework
def test_ports_stand_in_what_is_rendered(name):
    told = f"{objects_of(name)}"
    assert [port.number for port in GIVEN[name].ports if str(port.number) not in told] == []


@pytest.mark.parametrize("name", [name for name in GIVEN if GIVEN[name].variables])
def test_no_golden_job_has_a_variable_that_is_not_declared(name):
    found: set[str] = set()

    def collect(stage: str, plugin: str, plan: Plan) -> None:
        found.update(
            key[1] for key, (actor, _) in plan.ledger.entries.items() if key[0] == "variable" and actor == name
        )

    catalogue = Catalogue(dict(shipped_runtimes()))
    for case in golden_cases(Path(__file__).parents[3] / "golden" / name):
        documents = case.loaded().documents
        compile_documents(documents, catalogue=catalogue, plugins=load_plugins(), observe=collect)
    assert found == set(GIVEN[name].names)


def test_no_two_frameworks_give_a_variable_of_one_name():
    names = [name for given in GIVEN.values() for name in given.names]
    assert len(names) == len(set(names))
    assert meanings(load_plugins()).keys() == {*names, *KUBERNETES.names}


def test_the_page_is_of_this_code():
    assert "variables.md" not in stale(), "run ./dev pages"
