"""`trainform rerun`: one annotation, and not a character else."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
import yaml

from support.repositories import environment

REST = "spec:\n  runtimeRef: {name: torch-distributed}\n"
HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"


def marked(root, trainform, metadata, *names):
    """The metadata of job `llm`, as text, after a rerun."""
    text = HEAD + dedent(metadata) + REST
    (root / "jobs/llm.yaml").write_text(text)
    ran = trainform("rerun", *(names or ("llm",)))
    assert ran.code == 0, ran.err
    after = (root / "jobs/llm.yaml").read_text()
    assert after.startswith(HEAD)
    assert after.endswith(REST)
    return after.removeprefix(HEAD).removesuffix(REST)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            """\
            metadata:
              name: llm # large
              namespace: ml
            """,
            """\
            metadata:
              name: llm # large
              annotations:
                trainform.dev/rerun: "1"
              namespace: ml
            """,
        ),
        (
            """\
            metadata:
              annotations: # notes
                  # who
                  owner: "someone" # else
              name: llm
            """,
            """\
            metadata:
              annotations: # notes
                  trainform.dev/rerun: "1"
                  # who
                  owner: "someone" # else
              name: llm
            """,
        ),
        (
            """\
            metadata:
              name: llm
              annotations:
            """,
            """\
            metadata:
              name: llm
              annotations:
                trainform.dev/rerun: "1"
            """,
        ),
        (
            """\
            metadata:
              name: llm
              annotations: {trainform.dev/rerun: '9'} # again
            """,
            """\
            metadata:
              name: llm
              annotations: {trainform.dev/rerun: "10"} # again
            """,
        ),
        (
            "metadata: {name: llm, annotations: {}}\n",
            'metadata: {name: llm, annotations: {trainform.dev/rerun: "1"}}\n',
        ),
        (
            "metadata: {name: llm, annotations: { owner: x }}\n",
            'metadata: {name: llm, annotations: {trainform.dev/rerun: "1",  owner: x }}\n',
        ),
        (
            "metadata: {name: llm, namespace: ml}\n",
            'metadata: {name: llm, annotations: {trainform.dev/rerun: "1"}, namespace: ml}\n',
        ),
    ],
)
def test_only_the_annotation_is_written(root, trainform, before, after):
    assert marked(root, trainform, before) == dedent(after)


def test_every_run_counts_up(root, trainform):
    marked(root, trainform, "metadata:\n  name: llm\n")
    trainform("rerun", "llm")
    assert yaml.safe_load((root / "jobs/llm.yaml").read_text())["metadata"]["annotations"] == {
        "trainform.dev/rerun": "2"
    }


def test_jobs_of_one_file_are_marked_together(root, trainform):
    jobs = [f"{HEAD}metadata:\n  name: {name}\n{REST}" for name in ("a", "b", "c")]
    (root / "jobs/llm.yaml").write_text("# three\n---\n" + "---\n".join(jobs))
    assert trainform("rerun", "c", "a").code == 0
    documents = list(yaml.safe_load_all((root / "jobs/llm.yaml").read_text()))
    assert ["annotations" in each["metadata"] for each in documents if each] == [True, False, True]


def test_an_item_of_a_list_is_marked(root, trainform):
    items = "".join(
        f"- apiVersion: trainer.kubeflow.org/v1alpha1\n  kind: TrainJob\n  metadata: {{name: {name}}}\n"
        "  spec: {runtimeRef: {name: torch-distributed}}\n"
        for name in ("a", "b")
    )
    (root / "jobs/llm.yaml").write_text(f"apiVersion: v1\nkind: List\nitems:\n{items}")
    assert trainform("rerun", "b").code == 0
    assert 'metadata: {name: b, annotations: {trainform.dev/rerun: "1"}}' in (root / "jobs/llm.yaml").read_text()


def test_json_stays_json(root, trainform):
    (root / "jobs/llm.yaml").unlink()
    (root / "jobs/llm.json").write_text(
        '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",\n "metadata": {"name": "llm"},\n'
        ' "spec": {"runtimeRef": {"name": "torch-distributed"}}}\n'
    )
    assert trainform("rerun", "llm").code == 0
    assert (
        '"metadata": {"name": "llm", "annotations": {"trainform.dev/rerun": "1"}}'
        in (root / "jobs/llm.json").read_text()
    )


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_the_ends_of_lines_and_the_mark_at_the_start_stay(root, trainform, start):
    text = f"{start}{HEAD}metadata:\n  name: llm\n{REST}".replace("\n", "\r\n").encode()
    (root / "jobs/llm.yaml").write_bytes(text)
    assert trainform("rerun", "llm").code == 0
    added = b'  name: llm\r\n  annotations:\r\n    trainform.dev/rerun: "1"\r\n'
    assert (root / "jobs/llm.yaml").read_bytes() == text.replace(b"  name: llm\r\n", added)


@pytest.mark.parametrize(
    "metadata",
    [
        "metadata:\n  name: llm\n  annotations: {trainform.dev/rerun: soon}\n",
        "metadata:\n  name: llm\n  annotations: null\n",
        "metadata:\n  ? name\n  : llm\n",
        "metadata:\n  labels: &l {a: b}\n  name: llm\n  annotations: *l\n",
    ],
)
def test_what_is_not_plain_is_left_to_its_author(root, trainform, metadata):
    text = HEAD + metadata + REST
    (root / "jobs/llm.yaml").write_text(text)
    ran = trainform("rerun", "llm")
    assert (ran.code, ran.out) == (2, "")
    assert "error TF717" in ran.err
    assert (root / "jobs/llm.yaml").read_text() == text


def test_a_template_is_left_to_its_author(root, trainform):
    (root / "jobs/llm.yaml").rename(root / "jobs/llm.yaml.j2")
    ran = trainform("rerun", "llm")
    assert ran.code == 2
    assert "this is a template: add the annotation trainform.dev/rerun yourself" in ran.err


def test_an_unknown_job_is_an_error(root, trainform):
    assert "TF705" in trainform("rerun", "lmm").err


@pytest.mark.parametrize(
    ("naming", "told"),
    [
        ("stable", "kubectl --namespace ml delete jobset llm"),
        ("content-hash", "it runs as a new object with a new name"),
    ],
)
def test_it_tells_what_else_it_takes(root, trainform, naming, told):
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(environment(naming=naming))
    ran = trainform("rerun", "llm")
    assert ran.out.startswith("jobs/llm.yaml: ml/llm is marked to run again (1)\n  prod: ")
    assert told in ran.out


def test_as_json(root, trainform):
    ran = trainform("rerun", "ml/llm", "--format", "json")
    told = json.loads(ran.out)
    (job,) = told.pop("jobs")
    assert (ran.code, ran.err) == (0, "")
    assert told == {"apiVersion": "trainform.dev/v1alpha1", "kind": "RerunResult", "diagnostics": []}
    assert "kubectl --namespace ml delete jobset llm" in job.pop("consequence")
    assert job == {
        "environment": "default", "namespace": "ml", "name": "llm", "file": "jobs/llm.yaml", "rerun": 1
    }  # fmt: skip


def test_as_json_with_an_error(root, trainform):
    ran = trainform("rerun", "nobody", "--format", "json")
    told = json.loads(ran.out)
    assert (ran.code, ran.err, told["jobs"]) == (2, "", [])
    assert [each["code"] for each in told["diagnostics"]] == ["TF705"]


def test_the_mark_reaches_the_jobset(root, trainform):
    trainform("rerun", "llm")
    trainform("render")
    tree = yaml.safe_load((root / "rendered/default/ml/llm/jobset-llm.yaml").read_text())
    assert tree["metadata"]["annotations"] == {"trainform.dev/rerun": "1"}
