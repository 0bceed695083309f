"""`trainform report`."""

from __future__ import annotations

import sys

import pytest

from unit.cli.conftest import job


def test_the_page_goes_to_stdout_or_a_file(root, trainform):
    shown = trainform("report")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("<!doctype html>")
    assert trainform("report", "-o", "fleet.html").out == ""
    assert (root / "fleet.html").read_text() == shown.out


def test_a_terminal_is_not_filled_with_html(trainform, monkeypatch):
    monkeypatch.setattr("trainform.cli.streams.is_terminal", lambda stream: stream is sys.stdout)
    ran = trainform("report")
    assert (ran.code, ran.out) == (2, "")
    assert "write it to a file, as with --output report.html" in ran.err
    assert trainform("report", "-o", "fleet.html").code == 0


def test_without_a_commit_there_is_no_change_set(root, trainform):
    assert "There is no commit to compare with." in trainform("report").out


def test_a_base_that_was_asked_for_must_be_there(root, trainform):
    ran = trainform("report", "--base", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert "--base" in ran.err


def test_changes_against_a_folder(root, trainform, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy")
    (copy / "trainform.yaml").write_text("")
    assert ">new</span>" in trainform("report", "--base", str(copy)).out


@pytest.mark.parametrize("rendered", [False, True])
def test_states(root, trainform, rendered):
    if rendered:
        trainform("render")
    assert f">{'up to date' if rendered else 'to render'}</span>" in trainform("report").out


def test_a_frozen_job_without_its_files(root, trainform):
    trainform("render")
    for file in (root / "rendered").rglob("jobset-*.yaml"):
        file.unlink()
    assert ">missing</span>" in trainform("report").out


def test_with_an_error_the_page_is_written_and_says_so(root, trainform):
    (root / "jobs" / "bad.yaml").write_text(job("bad", "many"))
    ran = trainform("report")
    assert ran.code == 2
    assert "1 error" in ran.out
    assert "jobs/bad.yaml:10:15" in ran.err
    assert "ml/llm" in ran.out


def test_a_file_that_cannot_be_written(root, trainform):
    ran = trainform("report", "-o", "nowhere/fleet.html")
    assert ran.code == 2
    assert "nowhere/fleet.html" in ran.err


def test_an_unknown_environment(root, trainform):
    assert trainform("report", "--env", "prod").code == 2
