"""Programs in the shapes of the public examples of Kubeflow run as they are, but for the import of the client."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from kubeflow.trainer import KubernetesBackendConfig
from kubernetes.client import Configuration

from support.fake_cluster import running
from trainform.cli.main import run
from trainform.sdk import TrainerClient

EXAMPLES = sorted((Path(__file__).parents[2] / "support" / "sdk_examples").glob("*.py"))


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def program(request, root):
    """The example, with another import of what it takes from `kubeflow.trainer`."""
    text = request.param.read_text()
    assert text.count("from kubeflow.trainer import ") == 1
    file = root / "notebook.py"
    file.write_text(text.replace("from kubeflow.trainer import ", "from trainform.sdk import "))
    return file


def test_it_writes_a_job_and_stops_where_it_needs_a_cluster(root, program, capfd):
    with pytest.raises(NotImplementedError, match="needs the cluster that jobs/"):
        runpy.run_path(str(program), run_name="__main__")
    (job,) = (root / "jobs").glob("*.yaml")
    capfd.readouterr()
    assert run(["validate"]) == 0
    assert " error " not in capfd.readouterr().out
    assert run(["render", "--quiet"]) == 0
    assert (root / f"rendered/prod/ml/{job.stem}/jobset-{job.stem}.yaml").is_file()


def test_it_runs_to_its_end_with_a_cluster(root, program, monkeypatch, capfd):
    """One that applies what is written at once, and where fine-tuning ends at once."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    with running() as cluster:
        config = KubernetesBackendConfig(client_configuration=Configuration(host=cluster.url))
        train, as_it_is = TrainerClient.train, TrainerClient.__init__

        def applied(self, *arguments, **options):
            name = train(self, *arguments, **options)
            cluster.nodes = self.get_job(name).num_nodes
            cluster.jobsets[name] = ["Completed"] if "torchtune" in name else []
            return name

        monkeypatch.setattr(TrainerClient, "__init__", lambda self: as_it_is(self, backend_config=config))
        monkeypatch.setattr(TrainerClient, "train", applied)
        made = runpy.run_path(str(program), run_name="__main__")
    assert made["job_name"] in cluster.jobsets
    assert [*(root / "jobs").glob("*.*")] == []
