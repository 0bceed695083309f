"""Workflow commands of GitHub Actions."""

from __future__ import annotations

import pytest

from trainform.diagnostics.github import render_github
from unit.diagnostics.problems import ALL, NOWHERE, PORT, SHARED, STREAM, TAG, TYPE, place


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (
            TYPE,
            "::error file=jobs/llm.yaml,line=4,col=15,title=TF102 wrong type::"
            "spec.trainer.numNodes: must be a number%0Ahelp: write numNodes: 2",
        ),
        (TAG, "::warning file=jobs/llm.yaml,line=3,col=3,title=TF607 image without a tag%2C or with a moving tag::"
         "spec.trainer: image without a tag"),
        (PORT, "::notice file=jobs/llm.yaml,line=1,col=1,title=TF606 port used twice in a pod::port used twice"),
        (NOWHERE, "::error title=TF202 input without a TrainJob::no TrainJob found"),
        (STREAM, "::error title=TF102 wrong type::spec: must be a number"),
    ],
    ids=["error", "warning", "info", "of no file", "of a stream"],
)  # fmt: skip
def test_a_line_for_each_problem(problem, line):
    assert render_github([problem]) == line + "\n"


def test_a_fault_that_many_jobs_share_is_one_annotation():
    told = "::error file=runtimes/torch.yaml,line=3,col=3,title=TF525 invalid volume::"
    assert render_github(SHARED) == f"{told}spec.trainer: no such volume\n"


def test_nothing_to_tell():
    assert render_github([]) == ""


def test_a_message_cannot_start_a_command_of_its_own():
    problem = NOWHERE._replace(message="100 %\r\n::set-env name=PATH::/tmp")
    assert render_github([problem]).count("\n") == 1
    assert "100 %25\\r%0A\\x3a:set-env" in render_github([problem])


def test_a_file_name_cannot_add_properties():
    problem = TYPE._replace(place=place("jobs/a,line=1::b.yaml"))
    assert render_github([problem]).startswith("::error file=jobs/a%2Cline=1%3A%3Ab.yaml,line=4,")


def test_files_of_a_repository_within_the_checkout():
    assert "file=ml/training/jobs/llm.yaml," in render_github([TYPE], "ml/training/")


def test_a_file_outside_of_the_repository_keeps_its_path():
    assert "file=/tmp/job.yaml," in render_github([TYPE._replace(place=place("/tmp/job.yaml"))], "ml/")


def test_more_than_the_ten_that_github_shows():
    many = [NOWHERE._replace(message=f"problem {number}") for number in range(40)]
    assert render_github(many).count("::error ") == 40


def test_every_problem_has_a_line():
    assert render_github(ALL).count("\n") == len(ALL)
