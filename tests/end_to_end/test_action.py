"""The composite action of GitHub, its steps run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from support.actions import run_action
from support.ci import ROOT, changed, faults, program


def test_the_action_as_it_comes(checkout, github):
    changed(checkout, github)
    result = run_action(ROOT, checkout, github, "7", install="none")
    assert result.failed == [], result.output
    assert result.steps == ["Run trainform"]
    assert "<!-- trainform diff . -->" in result.output


def test_the_action_installs_what_it_is_a_version_of(checkout, github, tmp_path):
    program(tmp_path / "bin", "python3", f'#!/bin/sh\necho "$@" >>{tmp_path}/pip.log\n')
    result = run_action(ROOT, checkout, github, run="validate")
    assert result.steps == ["Install trainform", "Run trainform"]
    dependencies, _, itself = (tmp_path / "pip.log").read_text().splitlines()
    assert dependencies.endswith(f"--require-hashes --only-binary :all: --requirement {ROOT}/ci/requirements.txt")
    assert itself.endswith(f"--no-deps --no-build-isolation {ROOT}")


def test_a_report_is_uploaded_and_the_comment_is_made_although_validation_fails(checkout, github):
    changed(checkout, github)
    (checkout / "jobs" / "other.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")
    result = run_action(ROOT, checkout, github, "7", install="none", sarif="out.sarif", fail_on="info")
    assert result.failed == ["Run trainform"]
    assert result.steps == ["Run trainform", "Upload the SARIF report"]
    assert list(result.uses.values()) == [{"sarif_file": "out.sarif", "category": "trainform"}]
    assert (checkout / "out.sarif").exists()
    assert "ml/new" in Path(github["GITHUB_STEP_SUMMARY"]).read_text()


RUNS = {
    "validate check comment": ["ci"],
    "comment, validate, check": ["ci"],
    "validate": ["validate"],
    "comment check": ["check", "diff"],
    "validate render check comment": ["validate", "render", "check", "diff"],
}


@pytest.mark.parametrize(("run", "commands"), RUNS.items(), ids=RUNS)
def test_only_what_is_asked_for_in_as_few_processes_as_can_be(checkout, github, tmp_path, run, commands):
    """`--help` is asked first: whether this version has the command."""
    log = tmp_path / "log"
    program(tmp_path / "bin", "trainform", f'#!/bin/sh\ncase "$*" in *--help) ;; *) echo "$1" >>{log} ;; esac\n')
    run_action(ROOT, checkout, github, install="none", run=run)
    assert log.read_text().split() == commands


def test_what_fails_ends_the_run_but_for_the_comment(checkout, github, tmp_path):
    log = tmp_path / "log"
    said = f'case "$*" in *--help) ;; *) echo "$1" >>{log}; test "$1" != validate || exit 2 ;; esac'
    program(tmp_path / "bin", "trainform", f"#!/bin/sh\n{said}\n")
    result = run_action(ROOT, checkout, github, install="none", run="validate render check comment")
    assert log.read_text().split() == ["validate", "diff"]
    assert result.failed == ["Run trainform"]


def test_github_takes_the_action():
    assert faults("github-actions", yaml.safe_load((ROOT / "action.yml").read_text())) == []
