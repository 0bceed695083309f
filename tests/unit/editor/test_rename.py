"""Rename a job."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from support.marked import ENVIRONMENT, QUEUES, RUNTIME, job, marked
from trainform.cli.app import app
from trainform.editor.features.rename import RenameRefused, renamable, rename

OWN = "environments/prod/environment.yaml"
PATCHES = """\
  patches:
  - target: {kind: JobSet, name: llm}
    patch: {metadata: {labels: {team: x}}}
  - target: {kind: JobSet, name: llm.*}
    patch: {metadata: {labels: {team: y}}}
  - patch: {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: llm, labels: {team: z}}}
"""
FILES = {"jobs/llm.yaml": job("ll‸m"), "jobs/other.yaml": job("other"), "runtimes/torch.yaml": RUNTIME}
PROD = {**FILES, OWN: ENVIRONMENT + PATCHES, "environments/prod/queues.yaml": QUEUES}


def edits(root, files, new: str = "bert") -> list[str]:
    here = marked(root, files)
    found = rename(here.snapshot, here.file, here.at, new)
    return [f"{file}:{span.start.line} {here.written(file, span)} -> {text}" for file, (span, text) in found]


def test_its_name_changes(tmp_path):
    assert edits(tmp_path, FILES) == ["jobs/llm.yaml:4 llm -> bert"]


def test_patches_that_name_it_change_but_no_patterns(tmp_path):
    assert edits(tmp_path, PROD) == [
        "jobs/llm.yaml:4 llm -> bert",
        f"{OWN}:8 llm -> bert",
        f"{OWN}:12 llm -> bert",
    ]


@pytest.mark.parametrize(
    ("files", "new", "reason"),
    [
        (FILES, "Bert", '"Bert"'),
        (FILES, "other", "there is a TrainJob other already"),
        ({**FILES, "jobs/llm.yaml": job(spec="suspend: tr‸ue")}, "bert", "only the name of a TrainJob"),
        (
            {
                "jobs/llm/job.yaml": job("ll‸m", spec="initializer: {model: {secretRef: {name: llm}}}"),
                "jobs/llm/secret.yaml": "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\n"
                "metadata: {name: llm, namespace: ml}\nspec: {encryptedData: {a: b}}\n",
            },
            "bert",
            "SealedSecret in jobs/llm/secret.yaml is called after llm",
        ),
    ],
)
def test_it_is_refused_with_a_reason(tmp_path, files, new, reason):
    with pytest.raises(RenameRefused, match=reason):
        edits(tmp_path, files, new)


def test_a_rendered_job_is_not_renamed_because_it_would_be_deleted(tmp_path):
    here = marked(tmp_path, FILES)
    found = renamable(here.snapshot, here.file, here.at)
    assert found is not None
    assert here.written(here.file, found) == "llm"
    assert CliRunner().invoke(app, ["render", "--root", str(tmp_path)]).exit_code == 0
    told = r"llm is rendered \(in default\).* what runs now would be deleted"
    with pytest.raises(RenameRefused, match=told):
        renamable(here.snapshot, here.file, here.at)
    with pytest.raises(RenameRefused, match=told):
        rename(here.snapshot, here.file, here.at, "bert")


def test_nothing_else_can_be_renamed(tmp_path):
    here = marked(tmp_path, {"runtimes/torch.yaml": RUNTIME.replace("name: torch", "name: tor‸ch")})
    assert renamable(here.snapshot, here.file, here.at) is None
