"""`./dev release` as a maintainer and the workflow run it; only installing, which needs an index, is left out."""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib

import pytest

from release import __main__ as command
from release.install import installations
from support.ci import ROOT, git
from unit.release.conftest import URL, commit


@pytest.fixture
def release(project, monkeypatch):
    monkeypatch.setattr(command, "PROJECT", project)
    monkeypatch.setattr("release.install.problems", lambda *_: [])
    for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    return lambda *arguments: command.main(arguments)


def test_a_dry_run_warns_of_what_a_release_lacks_and_leaves_nothing(release, project, capsys):
    assert release("--dry-run") == 0
    told = capsys.readouterr().out
    assert "warning  ready\n         - the project's address is unknown" in told
    assert told.endswith("no problems\n")
    assert not (project / "dist").exists()


def test_a_release_without_an_address_or_a_tag_fails(release, project, capsys):
    assert release() == 1
    told = capsys.readouterr().out
    assert "the project's address is unknown" in told
    assert "the commit has no tag v1.2.3" in told
    assert told.endswith("2 problems\n")
    assert not (project / "dist").exists()


def test_a_release_leaves_the_archives_their_bill_of_materials_and_the_digests(release, project):
    git(project, "tag", "v1.2.3")
    assert release("--url", URL, "--version", "1.2.3") == 0
    dist = project / "dist"
    sums = dict(line.split("  ")[::-1] for line in (dist / "SHA256SUMS").read_text().splitlines())
    files = {path.name: path for path in dist.rglob("*") if path.is_file() and path.name != "SHA256SUMS"}
    assert sums == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    packages = ["trainform-1.2.3-py3-none-any.whl", "trainform-1.2.3.tar.gz"]
    assert sorted(path.name for path in (dist / "packages").iterdir()) == packages
    bill = json.loads(files["trainform.cdx.json"].read_text())
    assert bill["metadata"]["component"]["hashes"][0]["content"] == sums[packages[0]]


def test_another_version_than_the_tag_says_fails(release, capsys):
    assert release("--dry-run", "--version", "1.2.4") == 1
    assert "the commit is of version 1.2.3, not 1.2.4" in capsys.readouterr().out


def test_one_run_tells_the_problems_of_every_check(release, project, capsys):
    commit(project, {"README.md": "[gone](docs/gone.md)\n", ".gitignore": "tests/\n"})
    assert release("--dry-run", "--url", URL) == 1
    told = capsys.readouterr().out
    assert f"README: {URL}/blob/v1.2.3/docs/gone.md leads to no file of the commit" in told
    assert "trainform-1.2.3/tests/test_something.py is missing" in told


def test_a_build_that_breaks_is_told_with_what_it_says(release, project, capsys):
    commit(project, {"hatch_build.py": "1/0\n"})
    assert release("--dry-run") == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_an_extra_that_is_none_cannot_be_left_out(release, capsys):
    assert release("--dry-run", "--without-extra", "torch", "--without-extra", "other") == 1
    told = capsys.readouterr().out
    assert "there is no extra other" in told
    assert "skipped  install  trainform-1.2.3-py3-none-any.whl[torch]" in told


def test_a_folder_without_git_is_told(release, project, capsys):
    shutil.rmtree(project / ".git")
    with pytest.raises(SystemExit):
        release("--dry-run")
    assert "./dev release: git log" in capsys.readouterr().err


def test_every_extra_is_tried(archives, tree):
    tried = [str(each) for each in installations(archives.wheel, archives.sdist, tree)]
    wheel = archives.wheel.name
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"secrets", "torch"} <= extras.keys()
    assert tried == [archives.sdist.name, wheel, *(f"{wheel}[{extra}]" for extra in extras)]
