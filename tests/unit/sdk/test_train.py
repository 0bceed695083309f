"""`train()` writes a TrainJob file: where, under which name, and what it refuses."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubeflow.trainer import (
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    HuggingFaceModelInitializer,
    Initializer,
    KubernetesBackendConfig,
    TorchTuneConfig,
)
from kubeflow.trainer.options import Annotations, Labels, Name

from trainform.cli.main import run
from trainform.sdk import TrainerClient

ENVIRONMENT = """
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec: {spec}
"""


def fit(lr: float = 0.1) -> None:
    print("training at", lr)


def _1st_try_that_has_a_name_longer_than_the_names_of_pods() -> None: ...


def call(**more: Any) -> dict[str, Any]:
    return {"trainer": CustomTrainer(func=fit, num_nodes=2, resources_per_node={"gpu": 1}, **more)}


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "jobs").rglob("*.*")}


def job(root: Path, name: str) -> dict[str, Any]:
    tree: dict[str, Any] = next(yaml.safe_load_all((root / f"jobs/{name}.yaml").read_text()))
    return tree


def test_the_same_call_writes_the_same_files(root, client):
    name = client.train(**call())
    before = files(root)
    assert sorted(before) == [f"jobs/{name}.yaml", f"jobs/{name.replace('-', '_')}.py"]
    assert TrainerClient(root=root).train(**call()) == name
    assert files(root) == before


def test_another_call_of_the_same_function_is_another_job(root, client):
    """As in a loop over learning rates."""
    names = [client.train(**call(func_args={"lr": lr})) for lr in (0.1, 0.2, 0.1)]
    assert names[0] == names[2]
    assert len({*names}) == 2
    assert all(name.startswith("fit-") for name in names)


@pytest.mark.parametrize(
    ("arguments", "stem"),
    [
        (
            {"trainer": CustomTrainer(func=_1st_try_that_has_a_name_longer_than_the_names_of_pods)},
            "st-try-that-has-a-name-longer",
        ),
        ({"trainer": CustomTrainerContainer("registry.example.com:5000/Team/my_train:1.0@sha256:ab")}, "my-train"),
        ({"runtime": "torchtune-llama3.2-1b", "trainer": BuiltinTrainer(TorchTuneConfig())}, "torchtune-llama3-2-1b"),
        ({}, "torch-distributed"),
    ],
)
def test_a_job_without_a_name_is_called_after_what_it_runs(root, client, arguments, stem):
    name = client.train(**arguments)
    assert name[: -len("-12345678")] == stem
    assert job(root, name)["metadata"]["name"] == name


def test_another_call_under_a_given_name_is_an_error(root, client):
    name = client.train(**call(), options=[Name("mine")])
    assert name == "mine"
    before = files(root)
    with pytest.raises(
        ValueError, match=r"jobs/mine.yaml has another TrainJob called mine: give this one its own name"
    ):
        client.train(**call(func_args={"lr": 1.0}), options=[Name("mine")])
    assert files(root) == before
    assert client.train(**call(), options=[Name("mine")]) == "mine"
    assert files(root) == before


def test_comments_in_the_file_are_kept(root, client):
    client.train(**call(), options=[Name("mine")])
    file = root / "jobs/mine.yaml"
    file.write_text(file.read_text().replace("spec:", "# Ana owns this.\nspec:", 1))
    before = files(root)
    client.train(**call(), options=[Name("mine")])
    assert files(root) == before


@pytest.mark.parametrize("edited", ["jobs/mine.py", "jobs/mine.yaml"])
def test_a_file_that_somebody_edited_is_not_written_over(root, client, edited):
    client.train(**call(), options=[Name("mine")])
    (root / edited).write_text((root / edited).read_text().replace("fit", "fun").replace("numNodes: 2", "numNodes: 3"))
    before = files(root)
    with pytest.raises(ValueError, match="another TrainJob called mine"):
        client.train(**call(), options=[Name("mine")])
    assert files(root) == before


def test_a_hand_written_job_of_that_name_stays(root, client):
    text = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: mine, namespace: ml}\n"
        "spec: {runtimeRef: {name: torch-distributed}} # ours\n"
    )
    (root / "jobs/all.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"jobs/all.yaml has another TrainJob called mine"):
        client.train(**call(), options=[Name("mine")])
    assert files(root) == {"jobs/all.yaml": text.encode()}


def test_a_file_in_the_way_stays(root, client):
    (root / "jobs/mine.yaml").write_text("# mine\n")
    with pytest.raises(ValueError, match=r"jobs/mine.yaml: error TF706: is in the way"):
        client.train(**call(), options=[Name("mine")])
    assert files(root) == {"jobs/mine.yaml": b"# mine\n"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([Name("Mine")], "lowercase"),
        ([Name("../mine")], "is no name of a TrainJob"),
        ([Labels({"a b": "c"})], "labels"),
        ([Labels({"a": "\ud800"})], "not a valid escape"),
        ([Annotations({"a": 1})], "should be a valid string"),  # type: ignore[dict-item]
    ],
)
def test_what_an_api_server_would_refuse_is_refused_and_nothing_is_written(root, client, options, told):
    with pytest.raises(ValueError, match=told):
        client.train(**call(), options=options)
    assert files(root) == {}


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        (
            {"runtime": "torch-distribute"},
            RuntimeError,
            'no runtime "torch-distribute": did you mean "torch-distributed"',
        ),
        ({"trainer": BuiltinTrainer(TorchTuneConfig())}, ValueError, "BuiltinTrainer can't be used"),
        ({"runtime": "torchtune-llama3.2-1b", **call()}, ValueError, "CustomTrainer can't be used"),
        ({"trainer": CustomTrainer(func=lambda: None)}, ValueError, "pass a function made with def"),
        ({"trainer": CustomTrainer(func=fit, func_args={"lr": Path("x")})}, ValueError, "a script cannot hold"),
        ({"trainer": CustomTrainer(func=fit, func_args={"lrr": 1})}, ValueError, "unexpected keyword argument 'lrr'"),
        (
            {"trainer": CustomTrainer(func=fit, resources_per_node={"cpu": float("nan")})},
            ValueError,
            "that JSON cannot",
        ),
        ({"trainer": 1}, ValueError, "not supported"),
    ],
)
def test_what_cannot_be(root, client, arguments, error, told):
    with pytest.raises(error, match=told):
        client.train(**arguments)
    assert files(root) == {}


def test_a_lambda_is_told_as_such_wherever_it_stands(root, client):
    """The lines that a lambda stands in need not be Python without those around them."""
    given = {
        "trainer": CustomTrainer(func=lambda: None)}  # fmt: skip
    with pytest.raises(ValueError, match="a lambda has no name and no lines of its own"):
        client.train(**given)
    assert files(root) == {}


def test_a_private_key_in_the_function_is_not_written(root, client, tmp_path):
    def leaking() -> str:
        return """-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj
-----END PRIVATE KEY-----"""

    with pytest.raises(ValueError, match="holds an unencrypted private key"):
        client.train(trainer=CustomTrainer(func=leaking))
    assert files(root) == {}


def test_a_token_is_told(root, client, caplog):
    with caplog.at_level(logging.WARNING, "trainform.sdk"):
        client.train(
            runtime="torchtune-llama3.2-1b",
            initializer=Initializer(model=HuggingFaceModelInitializer("hf://a/b", access_token="hf_" + "a" * 34)),
            trainer=BuiltinTrainer(TorchTuneConfig()),
        )
    assert "TF638" in caplog.text
    assert "looks like a Hugging Face token" in caplog.text


def test_the_folder_may_be_one_of_the_repository(root, monkeypatch):
    (root / "notebooks").mkdir()
    monkeypatch.chdir(root / "notebooks")
    name = TrainerClient().train(**call())
    assert (root / f"jobs/{name}.yaml").is_file()


def environment(root: Path, name: str, spec: str) -> None:
    (root / f"environments/{name}").mkdir(exist_ok=True)
    (root / f"environments/{name}/environment.yaml").write_text(ENVIRONMENT.format(name=name, spec=spec))


def test_the_environment_must_be_known_and_named_where_there_are_several(root):
    with pytest.raises(ValueError, match='no environment "prd": did you mean "prod"'):
        TrainerClient(root=root, env="prd")
    environment(root, "lab", "{namespace: lab}")
    with pytest.raises(ValueError, match='say which Environment: env="lab", or another of lab, prod'):
        TrainerClient(root=root)
    assert TrainerClient(root=root, env="lab").backend.namespace == "lab"


def test_the_folder_must_exist(tmp_path):
    with pytest.raises(ValueError, match=f"root: there is no folder {tmp_path}/typo"):
        TrainerClient(root=tmp_path / "typo")
    assert not (tmp_path / "typo").exists()


def test_a_folder_that_is_no_repository_is_one_without_settings(tmp_path):
    name = TrainerClient(root=tmp_path).train(**call())
    assert (tmp_path / f"jobs/{name}.yaml").is_file()


@pytest.mark.parametrize(
    ("paths", "folder"),
    [("[jobs/**]", "jobs"), ("[jobs/prod/**]", "jobs/prod"), ('["*", "jobs/a/b-*.yaml", jobs/c/]', "jobs/c")],
)
def test_the_file_is_where_the_environment_looks(root, paths, folder):
    environment(root, "prod", f"{{jobs: {{paths: {paths}}}}}")
    name = TrainerClient(root=root).train(**call())
    assert (root / folder / f"{name}.yaml").is_file()
    assert run(["render", "--quiet", name]) == 0


def test_a_job_that_the_environment_would_not_render_is_refused(root):
    environment(root, "prod", "{jobs: {paths: [jobs/llm.yaml]}}")
    with pytest.raises(ValueError, match=r'add a folder to them, such as "jobs/prod/\*\*"'):
        TrainerClient(root=root).train(**call())
    environment(root, "prod", "{jobs: {selector: {matchLabels: {team: nlp}}}}")
    with pytest.raises(ValueError, match="renders only jobs with team=nlp: add the labels"):
        TrainerClient(root=root).train(**call())
    assert files(root) == {}
    TrainerClient(root=root).train(**call(), options=[Labels({"team": "nlp"})])


def test_the_namespace_of_the_cluster_configuration_is_that_of_the_job(root, monkeypatch):
    monkeypatch.setattr("kubernetes.config.load_kube_config", lambda **_: None)
    client = TrainerClient(KubernetesBackendConfig(namespace="other"), root=root)
    assert job(root, client.train(**call()))["metadata"]["namespace"] == "other"
    same = TrainerClient(KubernetesBackendConfig(namespace="ml"), root=root)
    assert "namespace" not in job(root, same.train(**call()))["metadata"]
