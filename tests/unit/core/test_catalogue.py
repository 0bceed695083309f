"""The shipped runtimes are the ones that Kubeflow ships, sound, and usable by name alone."""

from __future__ import annotations

import re

import pytest

import trainform
from trainform.core.catalogue import Catalogue
from trainform.core.inputs import sort
from trainform.io.resources import shipped_runtimes
from trainform.k8s.images import ImageName
from trainform.source import load

FRAMEWORKS = {
    "deepspeed-distributed": "deepspeed",
    "flux-distributed": "flux",
    "jax-distributed": "jax",
    "mlx-distributed": "mlx",
    "torch-distributed": "torch",
    "torch-distributed-with-cache": "torch",
    "torchtune-llama3.2-1b": "torchtune",
    "torchtune-llama3.2-3b": "torchtune",
    "torchtune-qwen2.5-1.5b": "torchtune",
    "xgboost-distributed": "xgboost",
}
UNVALIDATED = {"flux-distributed", "torch-distributed-with-cache"}

SMALLEST = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: smallest}}
spec: {{runtimeRef: {{name: {name}}}{more}}}
"""

each_runtime = pytest.mark.parametrize("name", FRAMEWORKS)


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue(dict(shipped_runtimes()))


def smallest(name: str, more: str = "") -> dict:
    job: dict
    (job,) = trainform.compile_stream(SMALLEST.format(name=name, more=more))["jobs"]
    return job


def pods(job: dict) -> dict[str, dict]:
    """The pod spec of each replicated job."""
    replicated = job["objects"][-1]["spec"]["replicatedJobs"]
    return {each["name"]: each["template"]["spec"]["template"]["spec"] for each in replicated}


def test_the_catalogue_is_what_kubeflow_ships(catalogue):
    assert catalogue.names() == sorted(FRAMEWORKS)


def test_an_unknown_name_is_no_runtime(catalogue):
    assert catalogue.get("torch") is None


@each_runtime
def test_a_shipped_runtime_bears_its_name_and_framework(catalogue, name):
    metadata = catalogue.get(name).document.tree["metadata"]
    assert metadata["name"] == name
    assert metadata["labels"].pop("trainer.kubeflow.org/framework") == FRAMEWORKS[name]
    unvalidated = {"trainer.kubeflow.org/webhook-validation": "disabled"}
    assert metadata["labels"] == (unvalidated if name in UNVALIDATED else {})


@pytest.mark.parametrize("file", shipped_runtimes(), ids=lambda file: file.name)
def test_a_shipped_file_reads_without_any_diagnostic(file):
    loaded = load(file.text, file.name)
    assert [loaded.diagnostics, sort(loaded.documents).diagnostics] == [[], []]


@each_runtime
def test_a_runtime_is_read_once(catalogue, name):
    assert catalogue.get(name) is catalogue.get(name)


@each_runtime
@pytest.mark.parametrize("more", ["", ", trainer: {}", ", trainer: {command: [python, train.py]}"])
def test_the_smallest_job_needs_no_other_file(name, more):
    job = smallest(name, more)
    assert [d for d in job["diagnostics"] if d["severity"] == "error"] == []
    assert job["objects"][-1]["kind"] == "JobSet"


@each_runtime
def test_a_job_with_a_command_draws_no_warning(name):
    job = smallest(name, ", trainer: {numNodes: 2, command: [sh, train.sh]}")
    assert [d for d in job["diagnostics"] if d["severity"] == "warning"] == []


@each_runtime
@pytest.mark.parametrize("engine", ["none", "argocd", "flux"])
@pytest.mark.parametrize("naming", ["stable", "content-hash"])
def test_each_runtime_renders_clean_with_every_engine_and_naming(name, engine, naming):
    environment = f"""\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {{name: prod}}
spec: {{namespace: ml, gitops: {{engine: {engine}, naming: {naming}}}}}
---
"""
    more = ", trainer: {numNodes: 2, command: [sh, train.sh]}"
    (job,) = trainform.compile_stream(environment + SMALLEST.format(name=name, more=more))["jobs"]
    assert [d for d in job["diagnostics"] if d["severity"] != "info"] == []
    assert job["objects"]


@pytest.mark.parametrize("name", ["deepspeed-distributed", "mlx-distributed"])
def test_an_mpi_launcher_waits_for_the_sshd_of_the_nodes(name):
    jobset = smallest(name)["objects"][-1]
    node, launcher = jobset["spec"]["replicatedJobs"]
    assert launcher["dependsOn"] == [{"name": "node", "status": "Ready"}]
    assert jobset["spec"]["successPolicy"]["targetReplicatedJobs"] == ["launcher"]
    probed = node["template"]["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
    assert probed == {"tcpSocket": {"port": 2222}, "initialDelaySeconds": 5}


@pytest.mark.parametrize("name", [name for name in FRAMEWORKS if name.startswith("torchtune-")])
def test_a_torchtune_trainer_shares_its_volume_with_both_initializers(name):
    mounts = {job: pod["containers"][0]["volumeMounts"] for job, pod in pods(smallest(name)).items()}
    assert list(mounts) == ["dataset-initializer", "model-initializer", "node"]
    assert all({"name": "initializer", "mountPath": "/workspace"} in each for each in mounts.values())


def test_a_cache_job_may_name_its_dataset():
    job = smallest("torch-distributed-with-cache", ", initializer: {dataset: {storageUri: cache://lake/orders}}")
    env = pods(job)["dataset-initializer"]["containers"][0]["env"]
    assert {"name": "STORAGE_URI", "value": "cache://lake/orders"} in env


@each_runtime
def test_a_shipped_runtime_runs_the_same_images_tomorrow(catalogue, name):
    """Of what is run by a variable, too: the data cache starts its own pods."""
    source = catalogue.get(name).document.part.source.text
    written = re.findall(r"image: (\S+)|_IMAGE\n\s+value: (\S+)", source)
    images = [ImageName.of(one or other) for one, other in written]
    assert images
    for image in images:
        assert image is not None
        assert not image.moves
        assert image.digest or any(character.isdigit() for character in image.tag), "a tag such as jammy moves"
