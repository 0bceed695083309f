"""`trainform explain`: owners of fields on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PARALLELISM = "spec.replicatedJobs[0].template.spec.parallelism"

ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec:
  patches:
  - target: {{kind: JobSet}}
    patch: {{metadata: {{labels: {{{name}: "yes"}}}}}}
"""


@pytest.fixture
def environments(root):
    for name in ("dev", "prod"):
        (root / "environments" / name).mkdir(parents=True)
        (root / "environments" / name / "environment.yaml").write_text(ENVIRONMENT.format(name=name))


def test_a_field_is_told_with_its_owner_and_line(trainform):
    ran = trainform("explain", "llm", "parallelism")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"JobSet/llm {PARALLELISM}\n"
        "  now  2  TrainJob llm               jobs/llm.yaml:10\n"
        "  was  1  runtime torch-distributed  catalogue/torch-distributed.yaml:13\n"
    )


def test_without_a_field_the_whole_object_is_a_tree(trainform):
    ran = trainform("explain", "jobs/llm.yaml")
    lines = ran.out.splitlines()
    heading = "ml/llm in environment default asks for 2 pods, nvidia.com/gpu 2"
    assert (ran.code, lines[:3]) == (0, [heading, "", "JobSet/llm"])
    assert any(line.startswith("    - name: node  ") and "runtime torch-distributed" in line for line in lines)


def test_json_has_one_entry_for_each_field(trainform):
    ran = trainform("explain", "ml/llm", "parallelism", "--format", "json")
    owner = {"kind": "trainjob", "name": "llm", "stage": None, "file": "jobs/llm.yaml", "line": 10}
    assert json.loads(ran.out) == {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "ExplainResult",
        "jobs": [
            {
                "environment": "default",
                "namespace": "ml",
                "name": "llm",
                "queue": "",
                "pods": 2,
                "resources": {"nvidia.com/gpu": "2"},
                "behind": [],
            }
        ],
        "fields": [{"object": "JobSet/llm", "path": PARALLELISM, "value": 2, "owner": owner}],
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("lm",), 'did you mean "llm"?'),
        (("llm", "parallelims"), 'did you mean "parallelism"?'),
        (("llm", "name"), '"name" fits 8 fields:'),
        (("llm", "--env", "prod"), 'no environment "prod"'),
    ],
)
def test_what_is_not_there_is_an_error(trainform, arguments, told):
    ran = trainform("explain", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_a_job_with_an_error_is_not_explained(trainform, root):
    (root / "jobs" / "llm.yaml").write_text((root / "jobs" / "llm.yaml").read_text().replace("Nodes: 2", "Nodes: two"))
    ran = trainform("explain", "llm")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/llm.yaml:10:15: error TF102" in ran.err


@pytest.mark.usefixtures("environments")
def test_each_environment_is_told_apart(trainform):
    text = trainform("explain", "llm", "parallelism").out
    assert [line for line in text.splitlines() if "environment" in line] == [
        "ml/llm in environment dev",
        "ml/llm in environment prod",
    ]
    told = json.loads(trainform("explain", "llm", "parallelism", "--format", "json").out)
    assert [(each["environment"], each["namespace"]) for each in told["fields"]] == [("dev", "ml"), ("prod", "ml")]


@pytest.mark.usefixtures("environments")
def test_a_field_that_one_environment_has_is_told_of_that_one(trainform):
    ran = trainform("explain", "llm", "metadata.labels.prod")
    assert ran.code == 0
    assert ran.out == (
        "ml/llm in environment prod\n\n"
        "JobSet/llm metadata.labels.prod\n"
        '  now  "yes"  Environment prod  environments/prod/environment.yaml:7\n'
    )


@pytest.mark.parametrize("code", ["TF101", "TF614", "TF701", "TFD01"])
def test_a_code_is_explained_by_its_page_wherever_trainform_is_installed(trainform, code):
    page = (Path(__file__).parents[3] / "docs" / "codes" / f"{code}.md").read_text(encoding="utf-8")
    assert trainform("explain", code) == (0, page, "")
    told = json.loads(trainform("explain", code, "--format", "json").out)
    assert (told["kind"], told["code"], told["page"]) == ("ExplainResult", code, page)


@pytest.mark.parametrize(
    ("words", "message"),
    [(["TF1010"], "there is no code TF1010: did you mean"), (["TF614", "image"], "TF614 is a code")],
)
def test_what_is_no_code_or_has_no_fields_is_refused(trainform, words, message):
    ran = trainform("explain", *words)
    assert ran.code == 2
    assert message in ran.err


def test_an_image_of_the_environment_is_told_with_the_entry_that_set_it(trainform, root):
    folder = root / "environments" / "prod"
    folder.mkdir(parents=True)
    (folder / "environment.yaml").write_text(
        "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: prod}\nspec:\n  images:\n"
        "  - {name: pytorch/pytorch, newName: mirror/pytorch}\n"
    )
    ran = trainform("explain", "llm", "image", "--format", "json")
    (field,) = json.loads(ran.out)["fields"]
    assert field["value"].startswith("mirror/pytorch:")
    owner = {"kind": "environment", "name": "prod", "stage": None, "file": "environments/prod/environment.yaml"}
    assert field["owner"] == {**owner, "line": 6}


def test_a_variable_is_explained_by_its_name(trainform):
    ran = trainform("explain", "PET_NNODES")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "PET_NNODES: How many nodes take part: torchrun's --nnodes.\n"
        "  set by      torch\n"
        "  comes from  trainer.numNodes, else the runtime's\n"
        "  example     4\n"
    )


def test_a_variable_as_json(trainform):
    ran = trainform("explain", "PET_NODE_RANK", "--format", "json")
    assert json.loads(ran.out) == {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "ExplainResult",
        "variable": "PET_NODE_RANK",
        "setBy": "torch",
        "meaning": "The rank of this node: --node-rank.",
        "source": "the pod's completion index",
        "example": "2",
    }


def test_an_unknown_variable_is_told_with_the_closest_one(trainform):
    ran = trainform("explain", "PET_NODES")
    assert ran.code == 2
    assert 'no framework sets a variable PET_NODES: did you mean "PET_NNODES"?' in ran.err


@pytest.mark.parametrize("field", ["env[PET_NNODES]", "env[PET_NNODES].value", "env[0]"])
def test_a_field_of_a_variable_is_told_with_its_meaning(trainform, field):
    out = trainform("explain", "llm", field).out
    assert out.endswith("  How many nodes take part: torchrun's --nnodes.\n")


def test_a_whole_job_is_told_without_meanings(trainform):
    assert "How many nodes take part" not in trainform("explain", "llm").out
