"""`trainform init`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from support.kustomize import build, needs_kubectl
from trainform.api import read
from trainform.api.environment import Environment
from trainform.source import load

ALWAYS = {
    ".gitattributes",
    ".github/workflows/trainform.yaml",
    "environments/prod/environment.yaml",
    "jobs/hello.yaml",
    "runtimes/README.md",
    "trainform.yaml",
}
BOOTSTRAP = {
    "none": set(),
    "argocd": {"kustomization.yaml", "project.yaml", "trainform-prod.yaml", "argocd-cm.yaml"},
    "flux": {"kustomization.yaml", "trainform-prod.yaml"},
}


def present(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def new(root: Path) -> Path:
    return root / "new"


@pytest.mark.parametrize("engine", BOOTSTRAP)
def test_what_is_written(new, trainform, engine):
    ran = trainform("init", "new", "--engine", engine)
    expected = ALWAYS | {f"gitops/{engine}/{name}" for name in BOOTSTRAP[engine]}
    assert (ran.code, ran.err) == (0, "")
    assert set(present(new)) == expected
    assert {line.removeprefix("wrote ") for line in ran.out.split("\n\n")[0].splitlines()} == expected


@pytest.mark.parametrize("engine", BOOTSTRAP)
def test_the_next_commands_are_told(trainform, engine):
    following = trainform("init", "new", "--engine", engine).out.split("next:\n")[1].splitlines()
    commands = [line.strip() for line in following if not line.strip().startswith("#")]
    assert len(commands) == 3
    assert commands[0] == "trainform render"


@pytest.mark.parametrize("engine", BOOTSTRAP)
def test_the_new_repository_has_no_problems(new, trainform, engine):
    trainform("init", "new", "--engine", engine)
    assert trainform("validate", "--root", "new").out.startswith("no problems in ")
    assert trainform("render", "--root", "new").code == 0


@pytest.mark.parametrize(
    ("engine", "naming"), [("none", "stable"), ("argocd", "content-hash"), ("flux", "content-hash")]
)
def test_the_environment(new, trainform, engine, naming):
    trainform("init", "new", "--engine", engine, "--env", "eu")
    file = new / "environments" / "eu" / "environment.yaml"
    (document,) = load(file.read_bytes(), "environment.yaml").documents
    found = read(document)
    assert found.diagnostics == []
    assert isinstance(found.model, Environment)
    assert (found.model.name, found.model.spec.namespace) == ("eu", "ml")
    assert (found.model.spec.gitops.engine, found.model.spec.gitops.naming) == (engine, naming)


@pytest.mark.parametrize("engine", BOOTSTRAP)
def test_every_yaml_file_reads(new, trainform, engine):
    trainform("init", "new", "--engine", engine)
    for path, data in present(new).items():
        if path.endswith(".yaml"):
            assert yaml.safe_load(data), path


def test_the_workflow_checks_what_is_committed(new, trainform):
    trainform("init", "new")
    workflow = (new / ".github" / "workflows" / "trainform.yaml").read_text()
    steps = yaml.safe_load(workflow)["jobs"]["render"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands[0].startswith('pip install "trainform==')
    assert commands[1:-1] == [
        "trainform validate",
        "trainform check",
        'trainform check --base "origin/$GITHUB_BASE_REF"',
    ]
    assert 'trainform diff --base "origin/$GITHUB_BASE_REF" --format markdown' in commands[-1]
    assert steps[0]["with"] == {"fetch-depth": 0}  # for the branch that a pull request is for


def test_a_second_time_nothing_changes(new, trainform):
    trainform("init", "new")
    before = present(new)
    ran = trainform("init", "new")
    assert (ran.code, present(new)) == (0, before)
    assert "6 files unchanged" in ran.out
    assert "wrote" not in ran.out


def test_a_missing_file_is_added_beside_identical_ones(new, trainform):
    trainform("init", "new")
    (new / "jobs" / "hello.yaml").unlink()
    assert trainform("init", "new").out.startswith("wrote jobs/hello.yaml\n5 files unchanged\n")


def test_another_file_in_the_way_is_told_and_nothing_is_written(new, trainform):
    (new / "jobs").mkdir(parents=True)
    (new / "jobs" / "hello.yaml").write_text("mine\n")
    (new / ".gitattributes").write_text("mine\n")
    ran = trainform("init", "new")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/hello.yaml: error TF706" in ran.err
    assert ".gitattributes: error TF706" in ran.err
    assert set(present(new)) == {"jobs/hello.yaml", ".gitattributes"}


def test_a_folder_in_the_way(new, trainform):
    (new / "trainform.yaml").mkdir(parents=True)
    ran = trainform("init", "new")
    assert ran.code == 2
    assert "trainform.yaml: error TF707" in ran.err
    assert present(new) == {}


def test_a_file_in_the_way_of_a_folder(new, trainform):
    new.mkdir()
    (new / "jobs").write_text("mine\n")
    ran = trainform("init", "new")
    assert ran.code == 2
    assert "jobs/hello.yaml: error TF707" in ran.err
    assert set(present(new)) == {"jobs"}


def test_a_link_that_leads_out(new, root, trainform):
    new.mkdir()
    os.symlink(root / "jobs", new / "jobs")
    ran = trainform("init", "new")
    assert ran.code == 2
    assert "jobs/hello.yaml: error TF702" in ran.err
    assert not (root / "jobs" / "hello.yaml").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--env", "Prod EU"], "lowercase letters"),
        (["--env", "../up"], "lowercase letters"),
        (["--engine", "helm"], "'helm' is not one of"),
    ],
)
def test_a_wrong_command_line(new, trainform, arguments, told):
    ran = trainform("init", "new", *arguments)
    assert ran.code == 2
    assert told in ran.err
    assert not new.exists()


@needs_kubectl
@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_kustomize_builds_the_bootstrap(new, trainform, engine):
    trainform("init", "new", "--engine", engine)
    assert build(new / "gitops" / engine)
