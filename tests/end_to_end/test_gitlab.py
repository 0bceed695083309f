"""The template for GitLab, its scripts run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from support.ci import ROOT, changed, faults, git, program
from unit.cli.conftest import job


def gitlab() -> tuple[dict, dict]:
    head, jobs = yaml.safe_load_all((ROOT / "ci" / "gitlab.yml").read_text())
    return head, jobs


def test_gitlab_takes_the_template():
    head, jobs = gitlab()
    assert faults("gitlab-ci", jobs) == []
    used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", (ROOT / "ci" / "gitlab.yml").read_text()))
    assert used == head["spec"]["inputs"].keys()


def gitlab_script(name: str, folder: Path, environment: dict[str, str]):
    """The script of a job of the template, as the runner runs it: in one shell, which stops at a failure."""
    lines = "\n".join(gitlab()[1][name]["script"]).replace("$[[ inputs.root ]]", ".")
    base = git(folder, "rev-parse", "HEAD")
    variables = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_MERGE_REQUEST_IID": "7"}
    command = ["sh", "-e", "-c", lines]
    return subprocess.run(command, cwd=folder, env=environment | variables, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["trainform-validate", "trainform-check", "trainform-diff"])
def test_the_jobs_of_gitlab_pass_where_all_is_well(checkout, environment, name):
    ran = gitlab_script(name, checkout, environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", ["trainform-validate", "trainform-check", "trainform-diff"])
def test_the_jobs_of_gitlab_fail_with_an_error(checkout, environment, name):
    (checkout / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    assert gitlab_script(name, checkout, environment).returncode in (1, 2)


def test_what_a_merge_request_shows(checkout, environment, tmp_path):
    program(tmp_path / "bin", "glab", '#!/bin/sh\nprintf "%s\\n" "$*" >"$HOME/glab.log"\n')
    changed(checkout, environment)
    assert gitlab_script("trainform-validate", checkout, environment).returncode == 0
    assert gitlab_script("trainform-diff", checkout, environment).returncode == 0
    assert 'name="jobs/new.yaml"/>' in (checkout / "trainform-junit.xml").read_text()
    assert "ml/new" in (checkout / "trainform-diff.md").read_text()
    assert (tmp_path / "glab.log").read_text().startswith("mr note 7 --message ")
