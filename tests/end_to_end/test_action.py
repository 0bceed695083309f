"""The composite action of GitHub, its steps run."""

from __future__ import annotations

import yaml

from support.actions import run_action
from support.ci import ROOT, changed, faults, program


def test_the_action_as_it_comes(checkout, github):
    changed(checkout, github)
    result = run_action(ROOT, checkout, github, "7", install="none")
    assert result.failed == [], result.output
    assert result.steps == ["Validate", "Check", "Comment"]


def test_the_action_installs_what_it_is_a_version_of(checkout, github, tmp_path):
    program(tmp_path / "bin", "python3", f'#!/bin/sh\necho "$@" >>{tmp_path}/pip.log\n')
    result = run_action(ROOT, checkout, github, run="validate")
    assert result.steps == ["Install trainform", "Validate"]
    dependencies, _, itself = (tmp_path / "pip.log").read_text().splitlines()
    assert dependencies.endswith(f"--require-hashes --only-binary :all: --requirement {ROOT}/ci/requirements.txt")
    assert itself.endswith(f"--no-deps --no-build-isolation {ROOT}")


def test_a_report_is_uploaded_and_the_comment_is_made_although_validation_fails(checkout, github):
    changed(checkout, github)
    (checkout / "jobs" / "other.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")
    result = run_action(ROOT, checkout, github, "7", install="none", sarif="out.sarif", fail_on="info")
    assert result.failed == ["Validate"]
    assert result.steps == ["Validate", "Upload the SARIF report", "Comment"]
    assert list(result.uses.values()) == [{"sarif_file": "out.sarif", "category": "trainform"}]
    assert (checkout / "out.sarif").exists()


def test_only_what_is_asked_for(checkout, github):
    assert run_action(ROOT, checkout, github, install="none", run="render").steps == ["Render"]


def test_github_takes_the_action():
    assert faults("github-actions", yaml.safe_load((ROOT / "action.yml").read_text())) == []
