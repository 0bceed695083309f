"""The template for GitLab, its scripts run."""

from __future__ import annotations

import re
import subprocess
import sys
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
    lines = (
        "\n".join(gitlab()[1][name]["script"])
        .replace("$[[ inputs.root ]]", ".")
        .replace("python -c", f"{sys.executable} -c")
    )
    base = git(folder, "rev-parse", "HEAD")
    variables = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_MERGE_REQUEST_IID": "7", "CI_PROJECT_ID": "5"}
    command = ["sh", "-e", "-c", lines]
    return subprocess.run(command, cwd=folder, env=environment | variables, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("nodes", "code"), [(2, 0), ("many", 2), (3, 1)], ids=["good", "error", "stale"])
def test_a_merge_request_passes_where_all_is_well(checkout, environment, nodes, code):
    (checkout / "jobs" / "llm.yaml").write_text(job(nodes=nodes))
    ran = gitlab_script("trainform-merge-request", checkout, environment)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert code != 1 or "stale default/ml/llm" in ran.stdout


@pytest.mark.parametrize(("nodes", "code"), [(2, 0), ("many", 2), (3, 1)], ids=["good", "error", "stale"])
def test_the_default_branch_is_checked_after_the_merge(checkout, environment, nodes, code):
    assert gitlab()[1]["trainform-default-branch"]["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]
    (checkout / "jobs" / "llm.yaml").write_text(job(nodes=nodes))
    assert gitlab_script("trainform-default-branch", checkout, environment).returncode == code


GLAB = """\
#!/bin/sh
echo "$*" >>"$HOME/glab.log"
case "$*" in
*--paginate*) printf '%s' '[{"id": 1, "body": "hello"}]\n[]'; printf '%s' "$GLAB_EARLIER" ;;
*@*) [ -z "$GLAB_FAILS" ] || exit 1; cat "${*##*@}" >>"$HOME/note.md" ;;
esac
"""
NOTES = "projects/5/merge_requests/7/notes"
OURS = '[{"id": 42, "body": "<!-- trainform diff . -->\\nold"}]'


@pytest.mark.parametrize(
    ("earlier", "is_changed", "call"),
    [
        ("", True, f"api --method POST {NOTES} "),
        ("", False, ""),
        (OURS, True, f"api --method PUT {NOTES}/42 "),
        (OURS, False, f"api --method PUT {NOTES}/42 "),
    ],
    ids=["first", "nothing to tell", "again", "no change any more"],
)
def test_one_note_of_a_merge_request_is_kept_up_to_date(checkout, environment, tmp_path, earlier, is_changed, call):
    program(tmp_path / "bin", "glab", GLAB)
    if is_changed:
        changed(checkout, environment)
    ran = gitlab_script("trainform-merge-request", checkout, environment | {"GLAB_EARLIER": earlier, "GLAB_FAILS": ""})
    assert ran.returncode == 0, ran.stderr
    assert [line for line in (tmp_path / "glab.log").read_text().splitlines() if "--method" in line] == [
        f"{call}--field body=@trainform-note.md"
    ] * bool(call)
    if is_changed:
        head, *others = (tmp_path / "note.md").read_text().splitlines()
        assert head == "<!-- trainform diff . -->"
        assert "ml/new" in "".join(others)


def test_a_note_that_cannot_be_written_fails_nothing(checkout, environment, tmp_path):
    program(tmp_path / "bin", "glab", GLAB)
    changed(checkout, environment)
    ran = gitlab_script("trainform-merge-request", checkout, environment | {"GLAB_EARLIER": "", "GLAB_FAILS": "1"})
    assert ran.returncode == 0
    assert "glab could not write a note" in ran.stderr


def test_what_a_merge_request_shows(checkout, environment):
    changed(checkout, environment)
    assert gitlab_script("trainform-merge-request", checkout, environment).returncode == 0
    assert 'name="jobs/new.yaml"/>' in (checkout / "trainform-junit.xml").read_text()
    assert "ml/new" in (checkout / "trainform-diff.md").read_text()
