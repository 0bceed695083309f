"""`trainform schema`, and the JSON results of commands that need no cluster."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from support.ci import git
from support.result_schemas import KINDS, assert_valid
from trainform.workspace.json_schema.catalogue import schemas


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_printed(trainform, name):
    ran = trainform("schema", name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == schemas()[name].text()
    assert json.loads(ran.out)["description"]


def test_without_a_kind_all_are_listed(trainform):
    ran = trainform("schema")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == ["KIND", *schemas()]


def test_a_kind_that_does_not_exist_is_an_error_with_the_nearest_one(trainform):
    ran = trainform("schema", "TrainJobs")
    assert (ran.code, ran.out) == (2, "")
    assert 'there is no schema "TrainJobs": did you mean' in ran.err
    assert "TrainJob" in ran.err


@pytest.mark.parametrize(
    "arguments", [("TrainJob", "--all", "x"), ("TrainJob", "--editor"), ("--all", "x", "--editor")]
)
def test_only_one_thing_is_asked_for(root, trainform, arguments):
    ran = trainform("schema", *arguments)
    assert ran.code == 2
    assert "exclude each other" in ran.err
    assert not (root / "x").exists()


def test_all_are_written_to_a_folder_and_again_only_if_they_differ(root, trainform):
    assert trainform("schema", "--all", "out/schemas").code == 0
    folder = root / "out" / "schemas"
    written = {path.name: path.read_text() for path in folder.iterdir()}
    assert written == {each.file: each.text() for each in schemas().values()}
    (folder / "trainjob.json").write_text("{}")
    ran = trainform("schema", "--all", "out/schemas")
    assert ran.out == f"wrote trainjob.json\n{len(written) - 1} files unchanged\n"
    assert (folder / "trainjob.json").read_text() == written["trainjob.json"]


# For editors


def test_what_editors_need_is_written_with_the_folders_of_the_repository(root, trainform):
    (root / "trainform.yaml").write_text("jobs: training/jobs\n")
    ran = trainform("schema", "--editor")
    assert (ran.code, ran.err) == (0, "")
    chosen = json.loads((root / ".vscode/settings.json").read_text())["yaml.schemas"]
    assert "/training/jobs/**/*.yaml" in chosen["./.trainform/schemas/any.json"]
    assert "/runtimes/**/*.yaml" in chosen["./.trainform/schemas/any.json"]
    assert chosen["./.trainform/schemas/trainform.json"] == ["/trainform.yaml"]
    assert all((root / path).is_file() for path in chosen)


def test_in_a_folder_of_a_larger_repository_settings_are_at_its_top(root, trainform):
    git(root, "init", "--quiet")
    below = root / "ml"
    below.mkdir()
    (below / "trainform.yaml").write_text("")
    assert trainform("schema", "--editor", "--root", "ml").code == 0
    chosen = json.loads((root / ".vscode/settings.json").read_text())["yaml.schemas"]
    assert "/ml/jobs/**/*.yaml" in chosen["./ml/.trainform/schemas/any.json"]
    assert (below / ".trainform/schemas/any.json").is_file()
    assert not (root / ".trainform").exists()


def test_settings_of_somebody_are_kept_and_what_to_add_is_told(root, trainform):
    (root / ".vscode").mkdir()
    (root / ".vscode/settings.json").write_text("// mine\n{}\n")
    ran = trainform("schema", "--editor")
    assert ran.code == 0
    assert ".vscode/settings.json exists; add to it what applies:\n" in ran.out
    assert '"./.trainform/schemas/any.json": [' in ran.out
    assert (root / ".vscode/settings.json").read_text() == "// mine\n{}\n"


def test_schemas_of_an_earlier_version_are_harmless_until_they_are_replaced(root, trainform):
    trainform("render")
    trainform("schema", "--editor")
    (root / ".trainform/schemas/any.json").write_text("{}")
    assert trainform("check").code == 0
    assert trainform("validate").code == 0
    assert trainform("schema", "--editor").out.startswith("wrote .trainform/schemas/any.json\n")


def test_schemas_are_no_input(root, trainform):
    """Nothing is compiled anew for them, and nothing that render cleans up removes them."""
    trainform("render")
    before = trainform("diff").out
    trainform("schema", "--editor")
    assert trainform("render").out == "1 job unchanged\n"
    assert trainform("diff").out == before
    assert (root / ".trainform/schemas/any.json").is_file()


def test_settings_that_cannot_be_read_are_told(root, trainform):
    (root / "trainform.yaml").write_text("jobs: 1\n")
    ran = trainform("schema", "--editor")
    assert ran.code == 2
    assert "TF102" in ran.err
    assert not (root / ".vscode").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("link", [".trainform", ".trainform/schemas", ".vscode"])
def test_nothing_is_written_through_a_link_that_leads_out(root, trainform, tmp_path_factory, link):
    outside = tmp_path_factory.mktemp("outside")
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(outside)
    ran = trainform("schema", "--editor")
    assert ran.code == 2
    assert [*outside.iterdir()] == []


def test_a_new_job_names_the_schema_where_there_is_one(root, trainform):
    trainform("job", "new", "first", "--command", "python train.py")
    assert not (root / "jobs/first.yaml").read_text().startswith("# yaml-language-server")
    trainform("schema", "--editor")
    trainform("job", "new", "second", "--command", "python train.py", "--file", "jobs/nlp/second.yaml")
    first = (root / "jobs/nlp/second.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../../.trainform/schemas/any.json"


# Results


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("CapacityResult", ["capacity"]),
        ("CheckResult", ["check"]),
        ("DiffResult", ["diff"]),
        ("ExplainResult", ["explain", "llm"]),
        ("ExplainResult", ["explain", "TF614"]),
        ("ExplainResult", ["explain", "PET_NNODES"]),
        ("KeysResult", ["keys"]),
        ("MigrateResult", ["migrate", "jobs/llm.yaml", "--dry-run"]),
        ("PluginList", ["plugins"]),
        ("RenderResult", ["render"]),
        ("RenderResult", ["render", "-"]),
        ("RenderResult", ["upgrade", "--all"]),
        ("RerunResult", ["rerun", "llm"]),
        ("RetireResult", ["retire", "llm", "--dry-run"]),
        ("RuntimeList", ["runtimes"]),
        ("ValidateResult", ["validate"]),
    ],
)
def test_a_result_is_as_its_schema_says(root, trainform, kind, arguments):
    git(root, "init", "--quiet")
    trainform("render")
    ran = trainform(*arguments, "--format", "json", stdin=(root / "jobs/llm.yaml").read_text())
    document = json.loads(ran.out)
    assert document["kind"] == kind
    assert_valid(document)


def test_a_result_that_its_schema_does_not_know_is_noticed():
    result = {"apiVersion": "trainform.dev/v1alpha1", "kind": "KeysResult", "wrote": [], "diagnostics": []}
    assert_valid(result)
    for wrong in ({"later": 1}, {"wrote": [1]}, {"apiVersion": "v1"}):
        with pytest.raises(AssertionError):
            assert_valid(result | wrong)


def test_every_kind_that_a_command_prints_has_a_schema():
    """Found where the code names it; a ResourceList is of the KRM specification."""
    compiler = Path(__file__).parents[3] / "compiler" / "trainform"
    code = "\n".join(path.read_text() for path in compiler.rglob("*.py"))
    named = set(re.findall(r'"([A-Z][A-Za-z]+(?:Result|List))"', code))
    assert named - {"ResourceList"} == KINDS
