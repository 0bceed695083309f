"""A stranger's repository, opened by a client of the Kubeflow SDK."""

from __future__ import annotations

from pathlib import Path

import pytest
from kubeflow.trainer import CustomTrainer
from kubeflow.trainer.options import Name

from trainform.sdk import TrainerClient

JOB = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: NAME}\nspec: {}\n"


def fit() -> None: ...


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "jobs").mkdir(parents=True)
    (root / "trainform.yaml").write_text("")
    return root


def everything(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".trainform" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


@pytest.mark.parametrize("link", ["jobs", "jobs/mine.yaml", "jobs/mine.py"])
def test_a_link_that_leads_out_is_not_written_through(tmp_path, repository, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("theirs")
    if link == "jobs":
        (repository / "jobs").rmdir()
        (repository / link).symlink_to(outside)
    else:
        (repository / link).symlink_to(outside / "file")
    before = everything(outside)
    with pytest.raises(ValueError, match=r"link|leads out"):
        TrainerClient(root=repository).train(trainer=CustomTrainer(func=fit), options=[Name("mine")])
    assert everything(outside) == before


@pytest.mark.parametrize("name", ["../../outside", "a/b", ".git", "..", "x\x00y", "\x1b[2J", "a b"])
def test_a_name_is_no_path(tmp_path, repository, name):
    before = everything(tmp_path)
    with pytest.raises(ValueError, match=r".") as error:
        TrainerClient(root=repository).train(trainer=CustomTrainer(func=fit), options=[Name(name)])
    assert "\x1b" not in str(error.value)
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    "text",
    [
        "{", "- 1\n", "kind: TrainJob\n", "kind: TrainJob\nmetadata: 1\nspec: []\n", JOB.replace("NAME", '"\\e[2J"'),
        JOB.replace("NAME", "other"), JOB.replace("NAME", "1"), "\x00", "a: &a [*a]\n",
    ],
)  # fmt: skip
def test_broken_files_break_no_call(repository, text):
    (repository / "jobs/theirs.yaml").write_text(text)
    client = TrainerClient(root=repository)
    client.list_jobs()
    name = client.train(trainer=CustomTrainer(func=fit))
    assert name in [each.name for each in client.list_jobs()]
    assert (repository / "jobs/theirs.yaml").read_text() == text


@pytest.mark.parametrize(
    "spec", ["[]", "{mlPolicy: 1, template: 2}", "{mlPolicy: {torch: {}}, template: {spec: {replicatedJobs: [1]}}}"]
)
def test_broken_runtimes_break_no_call(repository, spec):
    (repository / "runtimes").mkdir()
    (repository / "runtimes/theirs.yaml").write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\n"
        f"metadata: {{name: theirs, labels: {{trainer.kubeflow.org/framework: torch}}}}\nspec: {spec}\n"
    )
    client = TrainerClient(root=repository)
    assert "theirs" not in [each.name for each in client.list_runtimes()]
    with pytest.raises(RuntimeError, match="Failed to get"):
        client.get_runtime("theirs")
