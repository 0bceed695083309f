"""`trainform cmp`: what Argo CD's sidecar calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from unit.cli.conftest import job

DEPLOY = Path(__file__).parents[3] / "deploy" / "cmp"
ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec: {{scheduling: {{kueue: {{localQueue: {name}}}}}}}
"""
QUEUE = "kueue.x-k8s.io/queue-name"


@pytest.fixture
def environments(root):
    """Two environments, and two jobs in folders of their own."""
    for name in ("prod", "staging"):
        (root / "environments" / name).mkdir(parents=True)
        (root / "environments" / name / "environment.yaml").write_text(ENVIRONMENT.format(name=name))
    (root / "jobs" / "vision").mkdir()
    (root / "jobs" / "vision" / "vit.yaml").write_text(job("vit"))


@pytest.fixture
def parameters(monkeypatch):
    def put(*given):
        monkeypatch.setenv("ARGOCD_APP_PARAMETERS", json.dumps(given))

    return put


def generated(ran):
    assert ran.code == 0, ran.err
    return [
        (each["metadata"]["name"], each["metadata"].get("labels", {}).get(QUEUE))
        for each in yaml.safe_load_all(ran.out)
    ]


def test_the_manifests_and_nothing_else(root, trainform):
    ran = trainform("cmp", "generate")
    assert generated(ran) == [("llm", None)]
    assert not (root / "rendered").exists()


def test_the_environment_and_the_jobs_of_the_application(environments, trainform, parameters):
    parameters({"name": "environment", "string": "staging"}, {"name": "jobs", "array": ["ml/vit"]})
    assert generated(trainform("cmp", "generate")) == [("vit", "staging")]


def test_variables_of_the_application(environments, trainform, parameters, monkeypatch):
    monkeypatch.setenv("ARGOCD_ENV_TRAINFORM_ENVIRONMENT", "staging")
    monkeypatch.setenv("ARGOCD_ENV_TRAINFORM_JOBS", "vit ml/llm")
    assert generated(trainform("cmp", "generate")) == [("llm", "staging"), ("vit", "staging")]
    parameters({"name": "environment", "string": "prod"})
    assert generated(trainform("cmp", "generate")) == [("llm", "prod"), ("vit", "prod")]


def test_an_application_for_a_folder_of_jobs(environments, root, trainform, parameters, monkeypatch):
    parameters({"name": "environment", "string": "prod"})
    monkeypatch.chdir(root / "jobs" / "vision")
    assert generated(trainform("cmp", "generate")) == [("vit", "prod")]


def test_an_error_leaves_stdout_empty(root, trainform):
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    ran = trainform("cmp", "generate")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/bad.yaml:10:15: error TF102" in ran.err


def test_nothing_to_render_is_an_error_since_it_would_prune_everything(root, trainform):
    (root / "jobs" / "llm.yaml").unlink()
    ran = trainform("cmp", "generate")
    assert (ran.code, ran.out) == (2, "")
    assert "TF202" in ran.err


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[{"name": "environment", "string": "nowhere"}]', 'no environment "nowhere"'),
        ("[]", "choose one environment: prod, staging"),
        ('[{"name": "environment", "array": ["prod"]}]', "environment must be a string"),
        ('[{"name": "jobs", "string": "vit"}]', "jobs must be an array of strings"),
        ('[{"name": "job", "string": "vit"}]', "unknown parameter 'job': choose from environment and jobs"),
        ('[{"name": ["jobs"]}]', "unknown parameter ['jobs']"),
        ('{"environment": "prod"}', "must be a list of parameters"),
        ("[", "invalid JSON"),
    ],
)
def test_parameters_that_cannot_be_used(environments, trainform, monkeypatch, text, complaint):
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", text)
    ran = trainform("cmp", "generate")
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err


@pytest.mark.parametrize("text", ["", "null", "[]"])
def test_no_parameters(trainform, monkeypatch, text):
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", text)
    assert trainform("cmp", "generate").code == 0


def test_a_repository_is_discovered_from_any_of_its_folders(root, trainform, monkeypatch):
    assert trainform("cmp", "discover") == (0, ".\n", "")
    monkeypatch.chdir(root / "jobs")
    assert trainform("cmp", "discover") == (0, "..\n", "")


def test_another_repository_is_not(root, trainform):
    (root / "trainform.yaml").unlink()
    assert trainform("cmp", "discover") == (0, "", "")


def test_the_parameters_of_this_application(environments, trainform):
    environment, jobs = json.loads(trainform("cmp", "parameters").out)
    assert (environment["name"], environment["required"], environment["string"]) == ("environment", True, "")
    assert environment["tooltip"] == "One of prod, staging"
    assert (jobs["name"], jobs["collectionType"], jobs["array"]) == ("jobs", "array", [])


def test_the_plugin_runs_commands_that_exist_and_announces_what_they_read(root, trainform):
    spec = yaml.safe_load((DEPLOY / "plugin.yaml").read_text())["spec"]
    commands = [spec["discover"]["find"], spec["generate"], spec["parameters"]["dynamic"]]
    for command in commands:
        program, *arguments = command["command"]
        assert program == "trainform"
        assert trainform(*arguments).code == 0
    announced = json.loads(trainform("cmp", "parameters").out)
    kinds = [(each["name"], each["itemType"], each["collectionType"]) for each in announced]
    static = spec["parameters"]["static"]
    assert [(each["name"], each["itemType"], each["collectionType"]) for each in static] == kinds


def test_the_image_runs_as_the_user_that_argo_cd_asks_for():
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    assert "USER 999" in lines
    assert "COPY deploy/cmp/plugin.yaml /home/argocd/cmp-server/config/plugin.yaml" in lines


def test_in_a_process_of_its_own(root):
    command = [sys.executable, "-m", "trainform", "cmp", "generate"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert (ran.returncode, yaml.safe_load(ran.stdout)["kind"]) == (0, "JobSet")
