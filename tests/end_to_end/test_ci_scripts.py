"""The scripts of `ci/`, run as a CI system runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.ci import ROOT, program, sh
from unit.cli.conftest import job

SCRIPTS = sorted((ROOT / "ci").glob("*.sh"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script):
    checker = Path(sys.executable).with_name("shellcheck")
    ran = subprocess.run([checker, "--external-sources", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_install_asks_pip(tmp_path, environment):
    program(tmp_path / "bin", "python3", f'#!/bin/sh\necho "$@" >{tmp_path}/pip.log\n')
    ran = sh("install", tmp_path, environment, TRAINFORM_INSTALL="trainform==1.2.3")
    assert ran.returncode == 0, ran.stderr
    assert (
        (tmp_path / "pip.log").read_text().endswith(" install --quiet --disable-pip-version-check trainform==1.2.3\n")
    )
    assert ran.stdout.startswith("trainform ")


@pytest.mark.parametrize("script", ["validate", "render", "check", "comment", "pull-request"])
def test_a_version_without_the_command_says_so(tmp_path, environment, script):
    program(tmp_path / "bin", "trainform", "#!/bin/sh\nexit 2\n")
    ran = sh(script, tmp_path, environment)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("trainform: this version of trainform has no command ")


def test_validate_tells_all_in_every_form(checkout, github):
    (checkout / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    ran = sh("validate", checkout, github, TRAINFORM_SARIF="out.sarif", TRAINFORM_JUNIT="out.xml")
    assert ran.returncode == 2
    assert ran.stdout.startswith("::error file=jobs/bad.yaml,line=10,col=15,title=TF102 wrong type::")
    assert json.loads((checkout / "out.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "TF102"
    assert 'tests="2" failures="1"' in (checkout / "out.xml").read_text()


def test_validate_elsewhere_is_text(checkout, environment):
    ran = sh("validate", checkout, environment)
    assert (ran.returncode, ran.stdout) == (0, "no problems in 1 document\n")


def test_validate_fails_on_what_it_is_told_to(checkout, environment):
    (checkout / "jobs" / "other.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")
    assert sh("validate", checkout, environment).returncode == 0
    assert sh("validate", checkout, environment, TRAINFORM_FAIL_ON="info").returncode == 1


def test_environments_are_passed_on(checkout, environment):
    ran = sh("validate", checkout, environment, TRAINFORM_ENV="prod staging")
    assert ran.returncode == 2
    assert "no environment" in ran.stderr


@pytest.mark.parametrize("script", ["render", "check"])
def test_what_was_rendered_and_committed_passes(checkout, github, script):
    ran = sh(script, checkout, github)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("script", ["render", "check"])
def test_what_was_not_rendered_fails(checkout, github, script):
    (checkout / "jobs" / "llm.yaml").write_text(job(nodes=3))
    ran = sh(script, checkout, github)
    assert ran.returncode == 1
    assert "::error title=trainform::what is committed is not what the jobs compile to" in ran.stderr


def test_render_does_not_mind_files_of_other_steps(checkout, github):
    (checkout / "report.xml").write_text("")
    assert sh("render", checkout, github).returncode == 0


def test_render_sees_new_files(checkout, github):
    (checkout / "jobs" / "new.yaml").write_text(job("new"))
    ran = sh("render", checkout, github)
    assert ran.returncode == 1
    assert "new/jobset-new.yaml" in ran.stdout


@pytest.mark.parametrize("script", ["render", "check", "comment", "validate"])
def test_github_takes_nothing_in_the_output_for_a_command(tmp_path, environment, github, script):
    """GitHub reads none between `::stop-commands::TOKEN` and `::TOKEN::`. The annotations of validate are meant."""
    said = f"echo out; echo ::error::forged >&2; case $* in {script}*|*--help) ;; *) exit 1; esac"
    program(tmp_path / "bin", "trainform", f"#!/bin/sh\n{said}\n")
    ran = sh(script, tmp_path, github, TRAINFORM_JUNIT="out.xml", TRAINFORM_BASE="1234")
    before, _, rest = ran.stderr.partition("::stop-commands::")
    token, _, rest = rest.partition("\n")
    inside, _, after = rest.partition(f"::{token}::\n")
    assert len(token) > 16
    assert ("forged" in before, "forged" in inside, "forged" in after) == (False, True, script == "validate")
