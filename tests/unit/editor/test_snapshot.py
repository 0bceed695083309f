"""A snapshot reads open buffers first, and knows what each document is."""

import textwrap

import pytest

from support.editor import snapshot_of
from trainform.diagnostics import Position

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {numNodes: 2, image: "example/img:1"}
"""
ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: prod}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: c}
"""


@pytest.fixture
def root(tmp_path):
    for file, text in (("jobs/llm.yaml", JOB), ("environments/prod/environment.yaml", ENVIRONMENT)):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return tmp_path


def test_every_document_has_a_role(root):
    snapshot = snapshot_of(root, {"jobs/llm.yaml": JOB + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"})
    assert [each.role for each in snapshot.entries("jobs/llm.yaml")] == ["job", "companion"]
    assert [each.role for each in snapshot.entries("environments/prod/environment.yaml")] == ["environment", "fact"]


def test_a_buffer_counts_instead_of_the_file_and_needs_no_file(root):
    snapshot = snapshot_of(root, {"jobs/llm.yaml": JOB.replace("llm", "other"), "jobs/new/a.yaml": JOB})
    assert snapshot.files == ["environments/prod/environment.yaml", "jobs/llm.yaml", "jobs/new/a.yaml"]
    assert [job.id for job in snapshot.jobs("jobs/llm.yaml")] == [("prod", "default", "other")]
    lines = snapshot.lines("jobs/llm.yaml")
    assert lines is not None
    assert lines.line(3) == "metadata: {name: other}"


def test_a_job_tells_who_set_its_fields(root):
    (job,) = snapshot_of(root).jobs("jobs/llm.yaml")
    owners = {each.owner.kind for each in job.fields}
    assert {"trainjob", "runtime", "default"} <= owners
    assert job.facts.names("LocalQueue", "default") == ["q"]


def test_the_document_that_holds_a_place(root):
    snapshot = snapshot_of(root)
    file = "environments/prod/environment.yaml"
    found = [snapshot.entry_at(file, at) for at in (Position(3, 2), Position(7, 1))]
    assert [each and each.role for each in found] == ["environment", "fact"]


def test_half_typed_text_has_lines_and_no_documents(root):
    snapshot = snapshot_of(root, {"jobs/llm.yaml": "kind: TrainJob\nspec: {\n"})
    assert snapshot.entries("jobs/llm.yaml") == ()
    assert snapshot.jobs("jobs/llm.yaml") == ()
    lines = snapshot.lines("jobs/llm.yaml")
    assert lines is not None
    assert lines.count == 3


def test_objects_of_the_folder_stand_beside_a_job(root):
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts}\ndata: {a: b}\n"
    job = JOB.replace("}\n", "}\n", 1) + textwrap.indent(
        "runtimePatches:\n- manager: example.com/me\n  trainingRuntimeSpec:\n    template:\n      spec:\n"
        "        replicatedJobs:\n        - name: node\n          template:\n            spec:\n"
        "              template:\n"
        "                spec:\n                  volumes:\n                  - name: v\n"
        "                    configMap: {name: scripts}\n",
        "  ",
    )
    snapshot = snapshot_of(root, {"jobs/llm.yaml": job, "jobs/scripts.yaml": config_map})
    (found,) = snapshot.jobs("jobs/llm.yaml")
    assert [each.file for each in found.document.beside] == ["jobs/scripts.yaml"]
