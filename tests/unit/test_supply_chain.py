"""What CI and the images install, and what the package says about where it comes from."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from trainform.io.settings import parse_settings

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FILES = {
    "requirements.txt": PROJECT["project"]["dependencies"],
    "requirements-build.txt": PROJECT["build-system"]["requires"],
    "requirements-release.txt": PROJECT["dependency-groups"]["release"],
}


class Pin(NamedTuple):
    """A line of a requirements file. `needed_by`: other pins; none if it is a direct dependency."""

    name: str
    version: str
    hashes: int
    needed_by: set[str]


def pins(text: str) -> Iterator[Pin]:
    for part in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        head = re.match(r"([\w.-]+)==([\w.]+)", part)
        assert head, part
        needed_by = set(re.findall(r"^ +#(?: via)? +(?!-r)([\w.-]+)$", part, flags=re.MULTILINE)) - {"via"}
        yield Pin(head[1], head[2], len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", part)), needed_by)


@pytest.fixture(params=FILES)
def locked(request):
    text = (ROOT / "ci" / request.param).read_text()
    return {pin.name: pin for pin in pins(text)}, [Requirement(each) for each in FILES[request.param]]


def test_every_dependency_is_pinned_and_nothing_else(locked):
    found, wanted = locked
    direct = {name for name, pin in found.items() if not pin.needed_by}
    assert direct == {canonicalize_name(each.name) for each in wanted}
    assert {name for pin in found.values() for name in pin.needed_by} <= found.keys()


def test_each_pin_is_in_the_range_that_the_project_allows(locked):
    found, wanted = locked
    outside = [str(each) for each in wanted if found[canonicalize_name(each.name)].version not in each.specifier]
    assert outside == [], "run scripts/lock_dependencies.py"


def test_each_pin_has_hashes(locked):
    assert [name for name, pin in locked[0].items() if not pin.hashes] == []


def test_the_template_for_gitlab_has_the_same_pins():
    spec = importlib.util.spec_from_file_location("lock_dependencies", ROOT / "scripts" / "lock_dependencies.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    template = (ROOT / "ci" / "gitlab.yml").read_text()
    assert script.with_requirements(template, (ROOT / "ci" / "requirements.txt").read_text()) == template


@pytest.fixture
def install(tmp_path):
    """Runs ci/install.sh with a python that only writes down what it is to do."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = tmp_path / "log"
    programs = {"python3": f'echo "PYTHONPATH=${{PYTHONPATH:-}} $*" >>{log}', "trainform": "echo trainform 0"}
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)

    def run(what: str | None) -> list[str]:
        environment = {"PATH": f"{folder}:/usr/bin:/bin"} | ({} if what is None else {"TRAINFORM_INSTALL": what})
        subprocess.run(["sh", str(ROOT / "ci" / "install.sh")], env=environment, check=True, capture_output=True)
        return [
            line.replace("-m pip install --quiet --disable-pip-version-check", "pip")
            for line in log.read_text().splitlines(True)
        ]

    return run


@pytest.mark.parametrize("what", [str(ROOT), None], ids=["named", "default"])
def test_a_folder_is_installed_with_nothing_but_hashed_wheels(install, what):
    dependencies, tools, itself = install(what)
    hashed = "PYTHONPATH= pip --require-hashes --only-binary :all: "
    assert dependencies.startswith(hashed)
    assert dependencies.endswith("/ci/requirements.txt\n")
    assert tools.startswith(f"{hashed}--target ")
    assert tools.endswith("/ci/requirements-build.txt\n")
    assert re.match(r"PYTHONPATH=\S+ pip --no-deps --no-build-isolation \S+\n", itself)


def test_a_requirements_file_must_have_hashes(install, tmp_path):
    file = f"{tmp_path}/mine.txt"
    assert install(file) == [f"PYTHONPATH= pip --require-hashes --only-binary :all: --requirement {file}\n"]


def test_anything_else_goes_to_pip_as_it_is(install):
    assert install("trainform==1.2.3") == ["PYTHONPATH= pip trainform==1.2.3\n"]


@pytest.mark.parametrize("image", ["cmp", "krm"])
def test_no_image_installs_in_another_way(image):
    text = (ROOT / "deploy" / image / "Dockerfile").read_text()
    assert "sh /tmp/trainform/ci/install.sh" in text
    assert "pip install" not in text
    context = (ROOT / "deploy" / image / "Dockerfile.dockerignore").read_text().split()
    assert {"!ci", "!LICENSE", "!NOTICE"} <= set(context)


@pytest.mark.parametrize("image", ["cmp", "krm"])
def test_an_image_gets_everything_that_the_package_is_built_from(image):
    lines = (ROOT / "deploy" / image / "Dockerfile.dockerignore").read_text().split()
    context = tuple(f"{line.removeprefix('!')}/" for line in lines if line.startswith("!"))
    wheel, project = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"], PROJECT["project"]
    needed = [*wheel["packages"], *wheel["force-include"], "hatch_build.py", "README.md", *project["license-files"]]
    assert [path for path in needed if not f"{path}/".startswith(context)] == []


@pytest.mark.parametrize("image", ["cmp", "krm"])
def test_an_image_runs_without_rights_and_without_what_built_it(image):
    """The user is a number, or Kubernetes' `runAsNonRoot` would refuse it; not even the base image's pip is left."""
    *_, last = re.split(r"^(?=FROM )", (ROOT / "deploy" / image / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert re.findall(r"^USER (.*)", last, flags=re.MULTILINE) == [{"cmp": "999", "krm": "65534"}[image]]
    assert "pip uninstall" in last
    assert re.findall(r"pip install|apt-get|/tmp", last) == []


@pytest.mark.parametrize("image", ["cmp", "krm"])
def test_hadolint_finds_nothing_in_an_image(image):
    linter, file = Path(sys.executable).with_name("hadolint"), ROOT / "deploy" / image / "Dockerfile"
    ran = subprocess.run([linter, "--no-color", file], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr


@pytest.mark.parametrize("key", ["plugin", "requires", "extends", "packages"])
def test_no_key_of_a_repository_names_a_plugin(key):
    _, problems = parse_settings(f"{key}: [acme-trainform]\n".encode())
    assert [each.code for each in problems] == ["TF101"]


def test_the_notice_names_what_the_schemas_derive_from():
    """In the versions that the script that derives them says."""
    script = (ROOT / "scripts" / "derive_schemas.py").read_text()
    sentence = re.search(r"CRDs of (.*)\.$", script, flags=re.MULTILINE)
    assert sentence
    named = re.findall(r"([\w-]+) v?([\d.]+)", sentence[1])
    assert len(named) == 5
    notice = (ROOT / "NOTICE").read_text()
    assert [f"{name} {version}" for name, version in named if f"{name} {version}" not in notice] == []


def test_the_package_brings_its_licence_and_the_notice():
    assert PROJECT["project"]["license-files"] == ["LICENSE", "NOTICE"]
