"""With a cluster's configuration, what became of a job comes from its JobSet and its pods there; jobs stay files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kubeflow.trainer import CustomTrainerContainer, KubernetesBackendConfig
from kubeflow.trainer.options import Name
from kubernetes.client import Configuration

from support.fake_cluster import FakeCluster, running
from trainform.cli.main import run
from trainform.sdk import TrainerClient


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    with running() as cluster:
        yield cluster


@pytest.fixture
def client(root, cluster) -> TrainerClient:
    config = KubernetesBackendConfig(client_configuration=Configuration(host=cluster.url))
    client = TrainerClient(backend_config=config, root=root)
    assert client.train(trainer=CustomTrainerContainer("example/train:1"), options=[Name("llm")]) == "llm"
    return client


def test_nothing_is_created_in_the_cluster(cluster, client):
    assert cluster.asked == []


@pytest.mark.parametrize(
    ("conditions", "status"),
    [([], "Running"), (["Suspended"], "Running"), (["Completed"], "Complete"), (["Failed"], "Failed")],
)
def test_the_status_is_that_of_the_jobset(cluster, client, conditions, status):
    cluster.jobsets["llm"] = conditions
    job = client.get_job("llm")
    assert (job.name, job.status, job.creation_timestamp.year) == ("llm", status, 2026)
    ((step,),) = [job.steps]
    assert (step.name, step.status, step.device, step.device_count) == ("node-0", "Running", "gpu", "2")


def test_a_job_that_nobody_applied_yet_is_created(cluster, client):
    cluster.jobsets["other"] = ["Completed"]
    assert [(each.status, each.steps) for each in client.list_jobs()] == [("Created", [])]


def test_waiting(cluster, client):
    cluster.jobsets["llm"] = ["Completed"]
    assert client.wait_for_job_status("llm", timeout=2, polling_interval=1).status == "Complete"
    cluster.jobsets["llm"] = ["Failed"]
    with pytest.raises(RuntimeError, match="TrainJob llm is Failed"):
        client.wait_for_job_status("llm", timeout=2, polling_interval=1)


@pytest.mark.parametrize("follow", [False, True])
def test_logs(cluster, client, follow):
    cluster.jobsets["llm"] = []
    assert [*client.get_job_logs("llm", follow=follow)] == ["epoch 1", "epoch 2"]
    assert cluster.asked[-1].startswith("/api/v1/namespaces/ml/pods/llm-node-0-0-abcde/log?container=node")


def test_events(cluster, client):
    cluster.jobsets |= {"llm": [], "other": []}
    assert [each.involved_object_name for each in client.get_job_events("llm")] == ["llm-node-0-0-abcde"]


def test_a_jobset_whose_name_has_a_hash_is_found(root, cluster, client):
    file = root / "environments/prod/environment.yaml"
    file.write_text(file.read_text().replace("engine: none", "engine: argocd\n    naming: content-hash"))
    assert run(["render", "--quiet"]) == 0
    (jobset,) = [path.stem.removeprefix("jobset-") for path in (root / "rendered/prod/ml/llm").glob("jobset-*.yaml")]
    assert jobset != "llm"
    cluster.jobsets[jobset] = ["Completed"]
    job = client.get_job("llm")
    assert (job.name, job.status, len(job.steps)) == ("llm", "Complete", 1)


def test_a_cluster_that_does_not_answer_is_an_error(cluster, client):
    cluster.down = True
    with pytest.raises(RuntimeError, match="Failed to get TrainJob: ml/llm"):
        client.get_job("llm")


def test_deleting_a_job_removes_its_file_and_asks_nobody(root, cluster, client):
    client.delete_job("llm")
    assert not (root / "jobs/llm.yaml").exists()
    assert cluster.asked == []
