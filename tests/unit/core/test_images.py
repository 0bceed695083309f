"""An Environment's `images` decide which images the containers of all pods have, in kustomize's words."""

from __future__ import annotations

import pytest

import trainform

DIGEST = f"sha256:{'0' * 63}1"

STREAM = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {{name: prod}}
spec:
  images:
  - {entry}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: llm}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer: {{image: "{image}", command: [torchrun, train.py]}}
"""


def compiled(entry: str, image: str = "example/llm:1") -> dict:
    return trainform.compile_stream(STREAM.format(entry=entry, image=image))


def image_of(result: dict) -> str:
    (job,) = result["jobs"]
    (step,) = job["objects"][-1]["spec"]["replicatedJobs"]
    return str(step["template"]["spec"]["template"]["spec"]["containers"][0]["image"])


def problems(result: dict) -> list[tuple[str, str, str, int]]:
    told = [*result["diagnostics"], *(each for job in result["jobs"] for each in job["diagnostics"])]
    return [(each["code"], each["severity"], each["field"], each["line"]) for each in told if each["code"] != "TF608"]


@pytest.mark.parametrize(
    ("entry", "before", "after"),
    [
        ("{name: example/llm, newTag: '2'}", "example/llm:1", "example/llm:2"),
        ("{name: example/llm, newTag: '2'}", f"example/llm:1@{DIGEST}", "example/llm:2"),
        ("{name: example/llm, newTag: '2'}", "example/llm", "example/llm:2"),
        (f"{{name: example/llm, digest: '{DIGEST}'}}", "example/llm:1", f"example/llm@{DIGEST}"),
        (f"{{name: example/llm, newTag: '2', digest: '{DIGEST}'}}", "example/llm:1", f"example/llm:2@{DIGEST}"),
        ("{name: example/llm, newName: mirror:5000/llm}", f"example/llm:1@{DIGEST}", f"mirror:5000/llm:1@{DIGEST}"),
        ("{name: 'mirror:5000/llm', newName: example/llm}", "mirror:5000/llm", "example/llm"),
        ("{name: llm, newTag: '2'}", "example/llm:1", "example/llm:1"),
        ("{name: example/llm, newTag: '2'}", "example/llm-eval:1", "example/llm-eval:1"),
        ("{name: example/llm, newTag: '2'}", "mirror/example/llm:1", "mirror/example/llm:1"),
    ],
)
def test_an_entry_changes_the_image_that_has_exactly_its_name(entry, before, after):
    assert image_of(compiled(entry, before)) == after


def test_entries_apply_one_after_the_other_as_in_kustomize():
    chain = "{name: example/llm, newName: mirror/llm}\n  - {name: mirror/llm, newTag: '2'}"
    assert image_of(compiled(chain)) == "mirror/llm:2"


def test_images_come_after_the_final_patches():
    path = "/spec/replicatedJobs/0/template/spec/template/spec/containers/0/image"
    entry = f"""{{name: mirror/llm, newTag: '2'}}
  patches:
  - target: {{kind: JobSet}}
    patch: [{{op: replace, path: {path}, value: 'mirror/llm:1'}}]"""
    assert image_of(compiled(entry)) == "mirror/llm:2"


@pytest.mark.parametrize(
    ("entry", "field", "code"),
    [
        ("{name: 'example/llm:1', newTag: '2'}", "spec.images[0].name", "TF368"),
        ("{name: Example LLM, newTag: '2'}", "spec.images[0].name", "TF368"),
        ("{name: example/llm}", "spec.images[0]", "TF368"),
        ("{name: example/llm, newName: 'example/x:1'}", "spec.images[0].newName", "TF368"),
        ("{name: example/llm, newTag: 'a b'}", "spec.images[0].newTag", "TF368"),
        ("{name: example/llm, newTag: 1.10}", "spec.images[0].newTag", "TF102"),
        ("{name: example/llm, digest: abc}", "spec.images[0].digest", "TF368"),
        ("{name: example/llm, tagSuffix: -x}", "spec.images[0].tagSuffix", "TF101"),
        ("{name: a/b, newTag: '1'}\n  - {name: a/b, newTag: '2'}", "spec.images[1]", "TF105"),
    ],
)
def test_an_entry_that_cannot_be_meant_is_an_error_at_its_line(entry, field, code):
    result = compiled(entry)
    line = 7 if "images[1]" in field else 6
    assert (code, "error", field, line) in problems(result)
    assert not result["jobs"][0]["objects"]


def test_a_name_like_that_of_an_image_is_probably_a_typo():
    (told,) = problems(compiled("{name: exmaple/llm, newTag: '2'}"))
    assert told == ("TF367", "warning", "spec.images[0].name", 6)


def test_an_image_of_no_job_here_is_fine():
    assert problems(compiled("{name: nobody/has-this, newTag: '2'}")) == []


def test_what_is_wrong_with_an_image_is_blamed_on_the_entry_that_set_it():
    result = compiled("{name: example/llm, newTag: latest}")
    (job,) = result["jobs"]
    assert [(each["code"], each["field"], each["line"]) for each in job["diagnostics"]] == [
        ("TF607", "spec.images[0].newTag", 6)
    ]
