"""`trainform validate`."""

from __future__ import annotations

import json

import pytest

from unit.cli.conftest import job

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: mine
spec:
  template:
    spec:
      replicatedJobs: []
"""


def test_nothing_wrong(root, trainform):
    assert trainform("validate") == (0, "no problems in 1 document\n", "")
    assert not (root / "rendered").exists()


def test_problems_go_to_stdout(root, trainform):
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    ran = trainform("validate")
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.startswith("jobs/llm.yaml:10:15: error TF102 spec.trainer.numNodes: ")
    assert ran.out.endswith("\n1 error in 1 file\n")


def test_json(root, trainform):
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    ran = trainform("validate", "--format", "json")
    result = json.loads(ran.out)
    assert (ran.code, ran.err, result["kind"]) == (2, "", "ValidateResult")
    assert [(each["file"], each["line"]) for each in result["diagnostics"]] == [("jobs/llm.yaml", 10)]


def test_only_the_paths_that_were_named(root, trainform):
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    assert trainform("validate", "jobs/llm.yaml").code == 0
    assert trainform("validate", "jobs").code == 2
    assert trainform("validate", ".").code == 2


def test_a_path_that_does_not_exist(trainform):
    ran = trainform("validate", "nowhere.yaml")
    assert ran.code == 2
    assert ran.out.startswith("nowhere.yaml: error TF704: no such file or folder\n")


def test_a_stream(trainform):
    assert trainform("validate", "-", stdin=job()).code == 0
    assert "<stdin>:10:15: error" in trainform("validate", "-", stdin=job(nodes="many")).out


def test_runtimes_alone_need_no_job(root, trainform):
    (root / "runtimes").mkdir()
    (root / "runtimes" / "mine.yaml").write_text(RUNTIME)
    assert "TF202" not in trainform("validate", "runtimes").out


@pytest.mark.parametrize(("fail_on", "code"), [((), 0), (("--fail-on", "warning"), 0), (("--fail-on", "info"), 1)])
def test_fail_on(root, trainform, fail_on, code):
    (root / "jobs" / "other.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata:\n  name: x\n")
    assert "info TF204" in trainform("validate").out
    assert trainform("validate", *fail_on).code == code


def test_colour_only_on_a_terminal(root, trainform):
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    assert "\x1b" not in trainform("validate").out


def test_sarif(root, trainform):
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    ran = trainform("validate", "--format", "sarif")
    (result,) = json.loads(ran.out)["runs"][0]["results"]
    assert (ran.code, ran.err, result["ruleId"]) == (2, "", "TF102")


def test_junit_knows_the_files_without_problems(root, trainform):
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    ran = trainform("validate", "--format", "junit")
    assert (ran.code, ran.err) == (2, "")
    assert 'tests="2" failures="1"' in ran.out
    assert 'name="jobs/llm.yaml"/>' in ran.out


def test_junit_fails_on_what_the_command_fails_on(root, trainform):
    (root / "jobs" / "other.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata:\n  name: x\n")
    assert 'failures="0"' in trainform("validate", "--format", "junit").out
    ran = trainform("validate", "--format", "junit", "--fail-on", "info")
    assert ran.code == 1
    assert 'failures="1"' in ran.out


def test_github(root, trainform):
    assert trainform("validate", "--format", "github") == (0, "", "")
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    ran = trainform("validate", "--format", "github")
    assert ran.code == 2
    assert ran.out.startswith(
        "::error file=jobs/llm.yaml,line=10,col=15,title=TF102 wrong type::spec.trainer.numNodes: "
    )


@pytest.mark.parametrize(("form", "path"), [("github", "file=ml/jobs/llm.yaml,"), ("sarif", '"ml/jobs/llm.yaml"')])
def test_services_know_files_by_their_place_in_the_checkout(root, trainform, form, path):
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    (root / "ml").mkdir()
    for name in ("jobs", "trainform.yaml"):
        (root / name).rename(root / "ml" / name)
    (root / ".git").mkdir()
    assert path in trainform("validate", "--root", "ml", "--format", form).out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kind: Environment\n bad: [\n", "environments/prod/environment.yaml:2:2: error TF001: "),
        ("kind: Environment\nmetadata: {name: prod}\n", 'error TF103 apiVersion: "apiVersion" is missing'),
        (
            "apiVersion: trainform.dev/v1alpha1\nkind: Enviroment\n",
            'TF205 kind: trainform.dev/v1alpha1 has no kind "Enviroment"',
        ),
    ],
)
def test_an_environment_that_cannot_be_read_is_told_and_none_takes_its_place(root, trainform, text, told):
    (root / "environments" / "prod").mkdir(parents=True)
    (root / "environments" / "prod" / "environment.yaml").write_text(text)
    assert told in trainform("validate").out
    assert told in trainform("validate", "--env", "prod").out
    ran = trainform("render", "--keep-going")
    assert ran.code == 2
    assert told in ran.err
    assert not (root / "rendered").exists()


def test_a_folder_without_an_environment_says_what_is_missing(root, trainform):
    (root / "environments" / "prod").mkdir(parents=True)
    ran = trainform("validate", "--env", "prod")
    assert ran.code == 2
    assert "environments/prod has no document of kind: Environment" in ran.err
