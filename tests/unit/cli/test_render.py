"""`trainform render`."""

from __future__ import annotations

import json

import pytest
import yaml

from unit.cli.conftest import job

JOBSET = "rendered/default/ml/llm/jobset-llm.yaml"


def test_a_render_writes_files_and_says_which(root, trainform):
    assert trainform("render") == (0, f"wrote {JOBSET}\n", "")
    assert yaml.safe_load((root / JOBSET).read_text())["metadata"]["name"] == "llm"


def test_a_second_render_changes_nothing(trainform):
    trainform("render")
    assert trainform("render").out == "1 file unchanged\n"


def test_an_error_anywhere_means_that_nothing_is_written(root, trainform):
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    ran = trainform("render")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/bad.yaml:10:15: error TF102 spec.trainer.numNodes: " in ran.err
    assert "nothing was written" in ran.err
    assert not (root / "rendered").exists()


def test_keep_going_writes_the_good_jobs_and_still_fails(root, trainform):
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    ran = trainform("render", "--keep-going")
    assert (ran.code, ran.out) == (2, f"wrote {JOBSET}\n")
    assert not (root / "rendered/default/ml/bad").exists()


def test_keep_going_leaves_the_files_of_a_failing_job_alone(root, trainform):
    trainform("render")
    before = (root / JOBSET).read_bytes()
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    assert trainform("render", "--keep-going").code == 2
    assert (root / JOBSET).read_bytes() == before


@pytest.mark.parametrize("asked", ["other", "ml/other", "jobs/other.yaml", "./jobs/other.yaml"])
def test_with_a_job_nothing_else_is_touched(root, trainform, asked):
    (root / "jobs" / "other.yaml").write_text(job("other"))
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    (root / "jobs" / "broken.yaml").write_text(job("broken") + "a: [\n")
    assert trainform("render", asked).out == "wrote rendered/default/ml/other/jobset-other.yaml\n"


def test_a_path_is_found_from_below_the_root(root, trainform, monkeypatch):
    monkeypatch.chdir(root / "jobs")
    assert trainform("render", "llm.yaml").out == f"wrote {JOBSET}\n"


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ("lmm", 'no TrainJob is called "lmm"', 'did you mean "llm"?'),
        ("ml/lmm", 'no TrainJob is called "ml/lmm"', 'did you mean "ml/llm"?'),
        ("other/llm", 'no TrainJob is called "other/llm"', "known: ml/llm"),
        ("jobs/llm.yml", 'no TrainJob in "jobs/llm.yml"', 'did you mean "jobs/llm.yaml"?'),
        ("zzzzzz", 'no TrainJob is called "zzzzzz"', "known: llm"),
    ],
)
def test_an_unknown_job_is_an_error_that_names_near_ones(trainform, asked, message, hint):
    ran = trainform("render", asked)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"trainform: error TF705: {message}\n  help: {hint}\n\n1 error\n")


def test_the_json_holds_what_was_rendered(trainform):
    ran = trainform("render", "--format", "json")
    result = json.loads(ran.out)
    assert (ran.code, result["kind"], result["jobs"][0]["name"]) == (0, "RenderResult", "llm")


def test_a_stream_gives_manifests(trainform):
    ran = trainform("render", "-", stdin=job("from-stdin"))
    assert ran.code == 0
    documents = list(yaml.safe_load_all(ran.out))
    assert [(each["kind"], each["metadata"]["name"]) for each in documents] == [("JobSet", "from-stdin")]


def test_a_stream_writes_no_file_and_reads_none(root, trainform):
    assert trainform("render", "-", stdin=job()).code == 0
    assert not (root / "rendered").exists()


def test_a_stream_with_an_error_gives_no_manifests(trainform):
    ran = trainform("render", "-", stdin=job() + "---\n" + job("bad", nodes="many"))
    assert (ran.code, ran.out) == (2, "")
    assert "<stdin>:22:15: error TF102" in ran.err


def test_a_stream_can_keep_going(trainform):
    ran = trainform("render", "-", "--keep-going", stdin=job() + "---\n" + job("bad", nodes="many"))
    assert ran.code == 2
    assert yaml.safe_load(ran.out)["metadata"]["name"] == "llm"


def test_a_stream_as_json_tells_errors_in_the_document_too(trainform):
    ran = trainform("render", "-", "--format", "json", stdin=job(nodes="many"))
    (only,) = json.loads(ran.out)["jobs"]
    assert (ran.code, only["objects"], only["diagnostics"][0]["code"]) == (2, [], "TF102")


@pytest.mark.parametrize(
    "arguments",
    [
        ("render", "-", "llm"),
        ("render", "-", "--format", "text"),
        ("render", "--format", "yaml"),
        ("render", "--env", "prod"),
        ("--env", "prod", "render"),
        ("render", "--root", "nowhere"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(trainform, arguments):
    ran = trainform(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: trainform")


@pytest.mark.parametrize("arguments", [("--root", "{}", "render"), ("render", "--root", "{}")])
def test_the_root_may_be_named(root, tmp_path_factory, trainform, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert trainform(*(each.format(root) for each in arguments)).out == f"wrote {JOBSET}\n"


def test_faulty_settings_are_an_error(root, trainform):
    (root / "trainform.yaml").write_text("job: jobs\n")
    ran = trainform("render")
    assert ran.code == 2
    assert "trainform.yaml:1:1: error TF101 job: unknown field" in ran.err


def test_nothing_to_render_is_an_error(root, trainform):
    (root / "jobs" / "llm.yaml").unlink()
    ran = trainform("render")
    assert ran.code == 2
    assert "TF202" in ran.err


def test_a_file_of_somebody_else_in_the_way_stops_all(root, trainform):
    (root / "jobs" / "other.yaml").write_text(job("other"))
    (root / JOBSET).parent.mkdir(parents=True)
    (root / JOBSET).write_text("mine\n")
    ran = trainform("render")
    assert ran.code == 2
    assert f"{JOBSET}:1:1: error TF706" in ran.err
    assert not (root / "rendered/default/ml/other").exists()
