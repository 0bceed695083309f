"""The workflow of a release: what may do what, and in which order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.ci import ROOT, faults, program

FILE = ROOT / ".github" / "workflows" / "release.yml"
WORKFLOW = yaml.load(FILE.read_text(), Loader=yaml.BaseLoader)
JOBS = WORKFLOW["jobs"]


def test_github_takes_it():
    document = yaml.safe_load(FILE.read_text())
    document["on"] = document.pop(True)  # YAML 1.1
    assert faults("github-workflows", document) == []


def test_zizmor_finds_nothing():
    command = [str(Path(sys.executable).with_name("zizmor")), "--offline", "--quiet", "--persona=pedantic", str(FILE)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_each_action_is_pinned_by_a_commit_and_says_its_version():
    uses = re.findall(r"uses: (.*)", FILE.read_text())
    assert len(uses) >= 8
    assert [each for each in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []
    versions = {tuple(each.split(" # ")) for each in uses}
    assert len(versions) == len({each.split("@")[0] for each in uses}), "one action in two versions"


def test_only_a_tag_of_a_version_releases():
    assert WORKFLOW["on"] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+*"]}}


def test_what_builds_has_no_rights_and_what_has_rights_builds_nothing():
    assert WORKFLOW["permissions"] == {}
    assert JOBS["build"]["permissions"] == {"contents": "read"}
    assert JOBS["publish"]["permissions"] == {"id-token": "write"}
    assert [step["uses"].split("@")[0] for step in JOBS["publish"]["steps"]] == [
        "actions/download-artifact",
        "pypa/gh-action-pypi-publish",
    ]


def test_the_build_holds_the_tag_against_the_version():
    assert './dev release --version "${GITHUB_REF_NAME#v}"' in [step.get("run") for step in JOBS["build"]["steps"]]


def test_publishing_comes_last_and_waits_for_an_environment():
    assert (JOBS["publish"]["needs"], JOBS["publish"]["environment"]) == (["attest", "images"], "package-index")
    assert JOBS["images"]["environment"] == "images"
    assert JOBS["announce"]["needs"] == "publish"


def test_no_secret_is_read_and_no_host_is_named():
    text = FILE.read_text()
    assert "secrets." not in text
    assert re.findall(r"\b(?:ghcr\.io|docker\.io|quay\.io|pypi\.org)\b", text) == []


def test_maintainers_are_told_what_to_set_up():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    needed = {*re.findall(r"vars\.(\w+)", FILE.read_text()), "images", "package-index", FILE.name}
    assert [name for name in sorted(needed) if f"`{name}`" not in text] == []


def test_every_image_is_built():
    images = {path.parent.name for path in (ROOT / "deploy").glob("*/Dockerfile")}
    assert set(JOBS["images"]["strategy"]["matrix"]["image"]) == images


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """A `docker` that writes down what it is asked, and runs on this machine what it should run in an image."""
    tools = tmp_path / "tools"
    script = f'#!/bin/sh\necho "$*" >>{tmp_path}/docker.log\n[ "$1" = build ] || PATH={tools} exec /bin/sh\n'
    program(tmp_path / "bin", "docker", script)
    program(tools, "trainform", "#!/bin/sh\necho trainform 1.2.3\n")
    program(tools, "id", "#!/bin/sh\necho 999\n")
    variables = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    return lambda *arguments, **more: subprocess.run(
        ["sh", ROOT / "ci" / "image.sh", *arguments],
        env=variables | more,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_image_is_built_and_tried_without_rights_and_network(docker, tmp_path):
    ran = docker("krm", "example/krm:1")
    assert (ran.returncode, ran.stdout) == (0, "trainform 1.2.3\n"), ran.stderr
    built, tried = (tmp_path / "docker.log").read_text().splitlines()
    assert built == "build --file deploy/krm/Dockerfile --tag example/krm:1 ."
    assert "--network none --read-only --cap-drop ALL" in tried


def test_the_base_of_an_image_can_be_another(docker, tmp_path):
    docker("cmp", "example/cmp:1", PYTHON_IMAGE="example/python@sha256:1")
    assert "--build-arg PYTHON=example/python@sha256:1 ." in (tmp_path / "docker.log").read_text()


@pytest.mark.parametrize(
    ("tool", "answer", "problem"),
    [("id", "echo 0", "it runs as root"), ("pip", "", "it holds pip"), ("trainform", "exit 3", "")],
)
def test_an_image_that_should_not_be_published_fails(docker, tmp_path, tool, answer, problem):
    program(tmp_path / "tools", tool, f"#!/bin/sh\n{answer}\n")
    ran = docker("krm", "example/krm:1")
    assert ran.returncode == 2
    assert problem in ran.stdout
    assert ran.stderr == "trainform: example/krm:1 is not fit to be published\n"


@pytest.mark.parametrize("arguments", [(), ("krm",), ("other", "example/x:1")])
def test_an_image_that_is_none(docker, arguments):
    ran = docker(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
