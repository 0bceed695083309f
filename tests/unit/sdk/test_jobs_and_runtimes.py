"""What the client says of jobs and runtimes without a cluster comes from files."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest
from kubeflow.trainer import CustomTrainer, LocalProcessBackendConfig, RuntimeKind, TrainerType
from kubeflow.trainer.options import Name
from kubeflow.trainer.types.types import TrainJob

import trainform.sdk
from trainform.cli.main import run
from trainform.sdk import TrainerClient

TWO = """\
# Two jobs of Ana's.
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: first}   # the first
spec: {runtimeRef: {name: torch-distributed}, trainer: {numNodes: 3}}
---
# The second one.
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: second, namespace: ml}
spec: {runtimeRef: {name: jax-distributed}}
"""


def fit() -> None: ...


def own_runtime(text: str, kind: str, name: str, namespace: str = "") -> str:
    text = text.replace("kind: ClusterTrainingRuntime", f"kind: {kind}").replace(
        "name: torch-distributed", f"name: {name}"
    )
    return text.replace(f"  name: {name}", f"  name: {name}\n  namespace: {namespace}", 1) if namespace else text


@pytest.fixture
def torch_runtime(root, capfd):
    """The text of the shipped runtime, of another image."""
    run(["runtimes", "show", "torch-distributed"])
    return capfd.readouterr().out.replace("pytorch/pytorch:", "example/torch:")


def test_runtimes_are_the_shipped_ones(client):
    names = [each.name for each in client.list_runtimes()]
    assert {"torch-distributed", "deepspeed-distributed", "torchtune-llama3.2-1b", "xgboost-distributed"} <= {*names}
    assert client.get_runtime("torchtune-llama3.2-1b").trainer.trainer_type == TrainerType.BUILTIN_TRAINER


def test_a_runtime_of_the_repository_comes_first(root, client, torch_runtime):
    (root / "runtimes/torch.yaml").write_text(own_runtime(torch_runtime, "ClusterTrainingRuntime", "torch-distributed"))
    assert client.get_runtime("torch-distributed").trainer.image.startswith("example/torch:")
    assert [each.name for each in client.list_runtimes()].count("torch-distributed") == 1


def test_a_runtime_of_the_namespace_comes_before_one_of_the_cluster(root, client, torch_runtime):
    (root / "runtimes/a.yaml").write_text(own_runtime(torch_runtime, "TrainingRuntime", "torch-distributed", "ml"))
    (root / "runtimes/b.yaml").write_text(own_runtime(torch_runtime, "TrainingRuntime", "theirs", "other"))
    assert client.get_runtime("torch-distributed").kind == RuntimeKind.TRAINING_RUNTIME
    assert "theirs" not in [each.name for each in client.list_runtimes()]
    name = client.train(trainer=CustomTrainer(func=fit))
    assert "kind: TrainingRuntime" in (root / f"jobs/{name}.yaml").read_text()
    assert run(["render", "--quiet"]) == 0


def test_a_runtime_that_the_sdk_cannot_read_is_left_out_and_told(root, client, torch_runtime, caplog):
    text = own_runtime(torch_runtime, "ClusterTrainingRuntime", "nameless")
    (root / "runtimes/a.yaml").write_text(text.replace("trainer.kubeflow.org/framework: torch", "a: b"))
    with caplog.at_level(logging.WARNING, "trainform.sdk"):
        names = [each.name for each in client.list_runtimes()]
    assert "nameless" not in names
    assert len(names) > 5
    assert (
        "runtime nameless is left out: Runtime nameless must have trainer.kubeflow.org/framework label" in caplog.text
    )


def test_packages_are_those_of_the_image(client, capfd):
    client.get_runtime_packages(client.get_runtime("jax-distributed"))
    assert "pip list" in capfd.readouterr().out
    with pytest.raises(ValueError, match="BuiltinTrainer"):
        client.get_runtime_packages(client.get_runtime("torchtune-llama3.2-1b"))


def test_jobs_are_those_of_the_files(root, client):
    (root / "jobs/two.yaml").write_text(TWO)
    name = client.train(trainer=CustomTrainer(func=fit, num_nodes=2))
    assert [(each.name, each.num_nodes, each.status) for each in client.list_jobs()] == [
        (name, 2, "Created"), ("first", 3, "Created"), ("second", 1, "Created"),
    ]  # fmt: skip
    assert [each.name for each in client.list_jobs(client.get_runtime("jax-distributed"))] == ["second"]
    job = client.get_job("first")
    assert (job.steps, job.runtime.name) == ([], "torch-distributed")
    assert abs((datetime.now(UTC) - job.creation_timestamp).total_seconds()) < 3600


def test_a_job_of_a_runtime_that_is_not_there_is_left_out_and_told(root, client, caplog):
    (root / "jobs/two.yaml").write_text(TWO.replace("jax-distributed", "none"))
    with caplog.at_level(logging.WARNING, "trainform.sdk"):
        assert [each.name for each in client.list_jobs()] == ["first"]
    assert 'job second is left out: there is no runtime "none"' in caplog.text


@pytest.mark.parametrize("method", ["get_job", "delete_job", "get_job_logs", "get_job_events", "wait_for_job_status"])
def test_a_job_that_is_not_there(root, client, method):
    (root / "jobs/two.yaml").write_text(TWO)
    with pytest.raises(RuntimeError, match='there is no TrainJob "secnd" in namespace ml: did you mean "second"'):
        getattr(client, method)("secnd")


def kept(root):
    return sorted(each for each in root.rglob("*") if each.is_file())


def test_deleting_a_job_removes_its_files(root, client):
    before = kept(root)
    for name in (client.train(trainer=CustomTrainer(func=fit)), client.train(runtime="torch-distributed")):
        client.delete_job(name)
    assert kept(root) == before


def test_deleting_a_job_leaves_the_rest_of_a_hand_written_file(root, client):
    (root / "jobs/two.yaml").write_text(TWO)
    client.delete_job("second")
    assert (root / "jobs/two.yaml").read_text() == TWO[: TWO.index("---")]


def test_a_job_of_a_template_is_not_deleted(root, client):
    (root / "jobs/two.yaml.j2").write_text(TWO)
    with pytest.raises(RuntimeError, match="a template made it"):
        client.delete_job("second")
    assert (root / "jobs/two.yaml.j2").read_text() == TWO


@pytest.mark.parametrize("method", ["get_job_logs", "get_job_events", "wait_for_job_status"])
def test_what_needs_a_cluster_says_so(root, client, method):
    client.train(runtime="torch-distributed", options=[Name("mine")])
    with pytest.raises(NotImplementedError) as error:
        getattr(client, method)("mine")
    assert str(error.value) == (
        f"{method} needs the cluster that jobs/mine.yaml runs in: pass it with "
        "TrainerClient(backend_config=KubernetesBackendConfig()), or use kubectl there"
    )


def test_a_job_is_created_as_soon_as_it_is_written(root, client):
    client.train(runtime="torch-distributed", options=[Name("mine")])
    seen: list[TrainJob] = []
    job = client.wait_for_job_status("mine", status={"Created", "Complete"}, callbacks=[seen.append])
    assert (job.status, len(seen)) == ("Created", 1)


def test_a_configuration_for_this_machine_is_the_sdks_own(root):
    client = TrainerClient(backend_config=LocalProcessBackendConfig())
    assert type(client.backend).__name__ == "LocalProcessBackend"


def test_everything_that_the_sdk_exports_can_be_imported_from_here():
    assert trainform.sdk.CustomTrainer is CustomTrainer
    assert {"TrainerClient", "GitBackend", "Initializer"} <= {*trainform.sdk.__all__}
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        trainform.sdk.Nothing  # noqa: B018
