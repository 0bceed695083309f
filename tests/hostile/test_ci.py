"""What the scripts for CI do in a checkout of a stranger's: what they import, install, write and edit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.ci import ROOT, sh
from support.repositories import Repository, environment, job, runtime

MARK = "<!-- trainform diff . -->"
HIT = "open({canary!r}, 'w').close()\n"

GH = """\
#!{python}
import json, os, sys
import jq
said = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(" ".join(said) + "\\n")
answer = {{"data": {{"viewer": {{"login": "the-bot"}}}}}} if "graphql" in said else json.loads({comments!r})
if "--jq" in said:
    print("\\n".join(map(str, jq.compile(said[said.index("--jq") + 1]).input_value(answer).all())))
"""


class Checkout(Repository):
    """A checkout that CI looks at, with a rendered job; `canary` is a file that only an attack makes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "checkout")
        self.folder = folder
        self.canary = folder / "hit"
        self.write("environments/prod/environment.yaml", environment())
        self.write("runtimes/torch.yaml", runtime())
        self.write("jobs/llm.yaml", job("llm"))
        self.start_git()
        self.path = os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))
        self.program("python3", f'exec {sys.executable} "$@"')
        self.program("trainform", f'exec {sys.executable} -P -m trainform "$@"')
        assert self.shell("render").returncode == 1  # rendered anew
        self.commit()

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def plant(self, *modules: str) -> None:
        """Modules at the root that show that they were run."""
        for module in modules:
            self.write(module, HIT.format(canary=str(self.canary)))

    def shell(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder}/bin{os.pathsep}{os.environ['PATH']}"
        given = {
            "PATH": path,
            "HOME": str(self.folder),
            "PYTHONPATH": self.path,
            "PIP_NO_INDEX": "1",
            "PIP_DRY_RUN": "1",
        }
        return sh(script, self.root, given | variables)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


# What is imported and installed.

MODULES = (
    "pip.py", "pip/__init__.py", "sitecustomize.py", "usercustomize.py", "logging.py", "yaml.py", "conftest.py",
    "setup.py", "click/__init__.py", "pydantic/__init__.py", "trainform/__init__.py",
)  # fmt: skip


@pytest.mark.parametrize(
    ("script", "modules"),
    [
        ("install", ["pip.py"]),
        ("install", ["logging.py"]),
        ("install", MODULES),
        ("validate", MODULES),
        ("check", MODULES),
        ("pull-request", MODULES),
    ],
)
def test_no_script_imports_from_the_checkout(checkout, script, modules):
    checkout.plant(*modules)
    none = checkout.folder / "none.txt"
    none.write_text("")
    ran = checkout.shell(script, TRAINFORM_INSTALL=str(none))
    assert ran.returncode == 0, ran.stderr
    assert not checkout.canary.exists()


@pytest.mark.parametrize("what", ["trainform", "trainform==1.2.3"])
def test_a_folder_called_like_a_package_is_not_installed(checkout, what):
    """A name is what pip gets from the index; the folder's own list would name any package."""
    checkout.write(f"{what}/ci/requirements.txt", "./evil.whl --hash=sha256:00")
    checkout.program("python3", f'echo "$*" >>{checkout.folder}/log')
    assert checkout.shell("install", TRAINFORM_INSTALL=what).returncode == 0
    (line,) = (checkout.folder / "log").read_text().splitlines()
    assert line.endswith(f" {what}")
    assert "--requirement" not in line


SPAWN = """\
from trainform.io import workers

workers.START_METHOD = "spawn"
if __name__ == "__main__":
    print(*workers.in_processes(abs, [-1, -2], 2))
"""


def test_workers_import_nothing_from_the_current_folder(checkout):
    """Where they are not forked, as on macOS, each is a new interpreter."""
    checkout.plant("multiprocessing.py", "pickle.py", "trainform/__init__.py")
    program = checkout.folder / "program.py"
    program.write_text(SPAWN)
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": checkout.path}
    command = [sys.executable, str(program)]
    ran = subprocess.run(command, cwd=checkout.root, env=variables, capture_output=True, text=True, check=False)
    assert ran.stdout == "1 2\n", ran.stderr
    assert not checkout.canary.exists()


def test_a_package_that_lies_in_the_checkout_brings_no_plugin(checkout):
    """Entry points are those of the environment: a folder at the root is no place for packages."""
    checkout.write("evil-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    checkout.write("evil-1.0.dist-info/entry_points.txt", "[trainform.plugins]\nevil = evil:Evil\n")
    checkout.plant("evil.py")
    ran = checkout.shell("check")
    assert ran.returncode == 0, ran.stderr
    assert not checkout.canary.exists()


# What is written.


@pytest.mark.parametrize("script", ["validate", "pull-request"])
@pytest.mark.parametrize("variable", ["TRAINFORM_SARIF", "TRAINFORM_JUNIT"])
@pytest.mark.parametrize("place", ["out.xml", "reports/out.xml"])
def test_no_report_is_written_through_a_link(checkout, script, variable, place):
    victim = checkout.folder / "victim"
    victim.mkdir()
    (victim / "out.xml").write_text("mine")
    link = checkout.root / place.split("/")[0]
    link.symlink_to(victim if "/" in place else victim / "out.xml")
    ran = checkout.shell(script, **{variable: place})
    assert (victim / "out.xml").read_text() == "mine"
    assert ran.returncode == (2 if "/" in place else 0), ran.stderr
    assert "/" in place or not link.is_symlink()


def test_no_artifact_for_gitlab_is_written_through_a_link(checkout):
    import yaml

    victim = checkout.folder / "victim"
    victim.write_text("mine")
    for file in ("trainform-junit.xml", "trainform-diff.md"):
        (checkout.root / file).symlink_to(victim)
    _, jobs = yaml.safe_load_all((ROOT / "ci/gitlab.yml").read_text())
    lines = "\n".join(jobs["trainform-merge-request"]["script"]).replace("$[[ inputs.root ]]", ".")
    variables = {"PATH": f"{checkout.folder}/bin:{os.environ['PATH']}", "PYTHONPATH": checkout.path}
    variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = "HEAD"
    ran = subprocess.run(["sh", "-e", "-c", lines], cwd=checkout.root, env=variables, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert victim.read_text() == "mine"


# What is edited.


def comment(number: int, author: str, text: str) -> dict[str, object]:
    return {"id": number, "user": {"login": author}, "body": text}


@pytest.mark.parametrize(
    ("comments", "call"),
    [
        ([comment(1, "mallory", f"{MARK}\nlooks good")], "issues/7/comments --field"),
        (
            [comment(1, "mallory", MARK), comment(2, "the-bot", MARK)],
            "--method PATCH repos/team/jobs/issues/comments/2 ",
        ),
        ([comment(1, "the-bot", f"> {MARK}\nanother's")], "issues/7/comments --field"),
    ],
)
def test_a_comment_of_somebody_else_is_not_taken_for_ours(checkout, comments, call):
    """Its author could go on editing it, after a reviewer came to trust it."""
    log = checkout.folder / "log"
    checkout.program("gh", GH.format(python=sys.executable, log=str(log), comments=json.dumps(comments)))
    checkout.write("jobs/bert.yaml", job("bert"))
    assert checkout.shell("render").returncode == 1
    ran = checkout.shell("comment", PR="7", GITHUB_REPOSITORY="team/jobs", TRAINFORM_BASE="HEAD")
    assert ran.returncode == 0, ran.stderr
    assert call in log.read_text().splitlines()[-1]
