"""An error outside of a job's file names every job that it stops, at a place in the user's repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.repositories import job, runtime
from unit.cli.conftest import Ran

Trainform = Callable[..., Ran]

FORMATS = ("text", "json", "github", "sarif", "junit")
BROKEN = runtime().replace("numNodes: 1", "numNodes: one")
ENVIRONMENT = "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {{name: {name}}}\nspec: {spec}\n"
PATCH = """{patches: [{target: {kind: JobSet}, patch: {spec: {replicatedJobs: [
  {name: node, template: {spec: {template: {spec: {restartPolicy: Sometimes}}}}}]}}}]}"""


@pytest.fixture
def jobs(root: Path) -> Path:
    """Three jobs with a runtime of the repository."""
    (root / "jobs" / "llm.yaml").unlink()
    for name in ("one", "two", "three"):
        (root / "jobs" / f"{name}.yaml").write_text(job(name))
    (root / "runtimes").mkdir()
    (root / "runtimes" / "torch.yaml").write_text(runtime())
    return root


def environment(root: Path, spec: str, name: str = "prod") -> None:
    folder = root / "environments" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "environment.yaml").write_text(ENVIRONMENT.format(name=name, spec=spec))


def stopped_by(trainform: Trainform, file: str, *options: str) -> set[str]:
    """The jobs that errors in a file stop, in the JSON format."""
    told = json.loads(trainform("validate", "--format", "json", *options).out)["diagnostics"]
    found = [job for each in told if each["file"] == file and each["severity"] == "error" for job in each["jobs"]]
    return {"/".join(job.values()) for job in found}


@pytest.mark.parametrize("form", FORMATS)
def test_an_error_of_a_runtime_names_the_jobs_that_use_it(trainform: Trainform, jobs: Path, form: str):
    (jobs / "runtimes" / "torch.yaml").write_text(BROKEN)
    said = trainform("validate", "--format", form).out
    if form == "json":
        assert stopped_by(trainform, "runtimes/torch.yaml") == {"default/ml/one", "default/ml/three", "default/ml/two"}
    else:
        assert "stops 3 jobs: ml/one, ml/three, ml/two" in said


@pytest.mark.parametrize(
    "spec", ["{gitops: {engine: x}}", "{jobs: 5}", "{scheduling: {gang: {scheduler: slurm}}}", PATCH]
)
@pytest.mark.parametrize("form", FORMATS)
def test_an_error_of_an_environment_names_the_jobs_that_it_governs(
    trainform: Trainform, jobs: Path, spec: str, form: str
):
    environment(jobs, spec)
    file = "environments/prod/environment.yaml"
    if form == "json":
        assert stopped_by(trainform, file) == {"prod/ml/one", "prod/ml/three", "prod/ml/two"}
    else:
        assert "stops 3 jobs: ml/one, ml/three, ml/two" in trainform("validate", "--format", form).out


def test_a_job_that_does_not_use_the_runtime_is_not_named(trainform: Trainform, jobs: Path):
    (jobs / "runtimes" / "torch.yaml").write_text(BROKEN)
    (jobs / "jobs" / "two.yaml").write_text(job("two").replace("name: torch", "name: torch-distributed"))
    assert stopped_by(trainform, "runtimes/torch.yaml") == {"default/ml/one", "default/ml/three"}


def test_an_error_that_stops_no_job_names_none(trainform: Trainform, jobs: Path):
    (jobs / "runtimes" / "other.yaml").write_text(BROKEN.replace("name: torch", "name: other"))
    assert stopped_by(trainform, "runtimes/other.yaml") == set()
    assert "stops" not in trainform("validate").out


def test_jobs_of_several_environments_are_named_with_theirs(trainform: Trainform, jobs: Path):
    (jobs / "runtimes" / "torch.yaml").write_text(BROKEN)
    environment(jobs, "{}", "dev")
    environment(jobs, "{jobs: {paths: [jobs/one.yaml]}}", "prod")
    assert "stops 4 jobs: dev/ml/one, dev/ml/three, dev/ml/two, prod/ml/one" in trainform("validate").out
    assert stopped_by(trainform, "runtimes/torch.yaml", "--env", "prod") == {"prod/ml/one"}


def test_jobs_of_all_chunks_are_named_once_and_the_message_names_the_first(trainform: Trainform, jobs: Path):
    (jobs / "runtimes" / "torch.yaml").write_text(BROKEN)
    for number in range(100, 210):
        (jobs / "jobs" / f"{number}.yaml").write_text(job(f"j{number}"))
    assert len(stopped_by(trainform, "runtimes/torch.yaml", "--workers", "2")) == 113
    assert "stops 113 jobs: ml/j100, ml/j101" in (said := trainform("validate", "--workers", "2").out)
    assert "ml/j109 and 103 more\n" in said


def test_sarif_has_every_job_as_a_property(trainform: Trainform, jobs: Path):
    environment(jobs, PATCH)
    results = json.loads(trainform("validate", "--format", "sarif").out)["runs"][0]["results"]
    assert [each["properties"] for each in results if each["level"] == "error"] == [
        {"jobs": ["prod/ml/one", "prod/ml/three", "prod/ml/two"]}
    ]


def test_a_job_says_where_its_environment_is_wrong_even_if_its_name_is(trainform: Trainform, jobs: Path):
    environment(jobs, "{}", "7")
    assert (
        "jobs/one.yaml:1:1: error TF163: Environment '7' has errors, the first at environments/7/environment.yaml:3"
        in trainform("validate").out
    )


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_wrong_with_a_shipped_runtime_stands_where_a_job_refers_to_it(
    trainform: Trainform, root: Path, form: str
):
    environment(root, "{scheduling: {gang: {scheduler: coscheduling}}}")
    said = trainform("validate", "--format", form).out
    assert "in the shipped runtime torch-distributed: spec.podGroupPolicy:" in said
    assert "catalogue/" not in said


def test_render_names_the_jobs_too(trainform: Trainform, jobs: Path):
    environment(jobs, PATCH)
    assert "stops 3 jobs: ml/one, ml/three, ml/two" in trainform("render").err


READING = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: ml}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    image: example/train:1
    command: [torchrun, train.py]
    env: [{{name: A, valueFrom: {{configMapKeyRef: {{name: shared, key: a}}}}}}]
"""
SHARED = "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: shared}}\n{rest}\n"


@pytest.mark.parametrize(
    ("version", "kind", "rest"),
    [
        ("v1", "ConfigMap", "data: {a: 3}"),
        ("v1", "ConfigMap", "data: {a: b, a: c}"),
        ("v1", "ConfigMap", "data: {../a: b}"),
        ("trainform.dev/v1alpha1", "ConfigMapGenerator", "files: [a=missing.txt]"),
        ("trainform.dev/v1alpha1", "ConfigMapGenerator", "file: [a]"),
        ("external-secrets.io/v1", "ExternalSecret", "spec: {target: {name: shared}, data: [{secretKey: a}]}"),
    ],
)
@pytest.mark.parametrize("place", ["its own file", "the file of the jobs"])
def test_an_error_of_a_companion_names_every_job_that_mounts_it(
    trainform: Trainform, root: Path, place: str, version: str, kind: str, rest: str
):
    (root / "jobs" / "llm.yaml").unlink()
    names = ("one", "two", "three")
    texts = [READING.format(name=name) for name in names]
    if kind == "ExternalSecret":
        texts = [text.replace("configMapKeyRef", "secretKeyRef") for text in texts]
    shared = SHARED.format(version=version, kind=kind, rest=rest)
    if place == "its own file":
        for name, text in zip(names, texts, strict=True):
            (root / "jobs" / f"{name}.yaml").write_text(text)
        (root / "jobs" / "shared.yaml").write_text(shared)
    else:
        (root / "jobs" / "shared.yaml").write_text("---\n".join([*texts, shared]))
    assert stopped_by(trainform, "jobs/shared.yaml") == {f"default/ml/{name}" for name in names}
    assert trainform("render").code == 2
    assert not (root / "rendered").exists()
