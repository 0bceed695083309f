"""Rename a job."""

from __future__ import annotations

from functools import partial

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


@pytest.mark.parametrize(
    ("written", "new", "found"),
    [
        ("ll‸m", "true", '"true"'),
        ("ll‸m", "null", '"null"'),
        ("ll‸m", "off", '"off"'),
        ('"ll‸m"', "bert", '"bert"'),
        ("'ll‸m'", "bert", "'bert'"),
    ],
)
def test_the_new_name_is_a_string_for_every_parser(tmp_path, written, new, found):
    files = {**FILES, "jobs/llm.yaml": job(written)}
    assert edits(tmp_path, files, new)[0].endswith(f" -> {found}")


def test_a_name_in_json_stays_in_its_quotes(tmp_path):
    text = (
        '{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"ll‸m","namespace":"ml"},'
    )
    files = {**FILES, "jobs/llm.yaml": "", "jobs/llm.json": text + '"spec":{"runtimeRef":{"name":"torch"}}}'}
    assert edits(tmp_path, files) == ['jobs/llm.json:1 "llm" -> "bert"']


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (job("ll‸m", spec="trainer: {"), "cannot be compiled at the moment"),
        (job("&name ll‸m", metadata="labels: {team: *name}"), "also in other fields"),
    ],
)
def test_a_name_that_is_more_than_a_name_is_refused(tmp_path, text, reason):
    """A job that is rendered could be in a file that does not parse at the moment."""
    files = {**FILES, "jobs/llm.yaml": text}
    with pytest.raises(RenameRefused, match=reason):
        edits(tmp_path, files)


def test_a_name_that_a_template_makes_is_refused(tmp_path):
    text = "{% for n in [1, 2] %}\n---\n" + job("s-{{ ‸n }}") + "{% endfor %}\n"
    files = {"runtimes/torch.yaml": RUNTIME, "jobs/sweep.yaml.j2": text}
    here = marked(tmp_path, files)
    for ask in (renamable, partial(rename, new="bert")):
        with pytest.raises(RenameRefused, match="a template makes the name"):
            ask(here.snapshot, here.file, here.at)


def test_patches_of_other_objects_and_namespaces_keep_their_name(tmp_path):
    others = """\
  patches:
  - target: {kind: ConfigMap, name: llm}
    patch: {metadata: {labels: {team: x}}}
  - target: {kind: JobSet, name: llm, namespace: other}
    patch: {metadata: {labels: {team: y}}}
"""
    files = {**PROD, OWN: ENVIRONMENT + others}
    assert edits(tmp_path, files) == ["jobs/llm.yaml:4 llm -> bert"]


def test_a_patch_that_means_a_job_of_another_namespace_too_is_left_to_the_user(tmp_path):
    files = {**PROD, "jobs/twin.yaml": job("llm").replace("namespace: ml", "namespace: other")}
    with pytest.raises(RenameRefused, match="also means other/llm"):
        edits(tmp_path, files)
