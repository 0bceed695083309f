"""`docs/plugins.md` is true: its package is installed and runs, and its tables and the reference are complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import indent

import pytest

from support.packages import Site, site
from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run
from trainform.core.plugin import STAGES
from trainform.diagnostics.codes import CODES
from trainform.installed import PluginSet
from trainform.testing import GoldenCase, golden_cases

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plugins.md").read_text()
_BLOCK = re.compile(r"^```\w+\n(# (\S+\.\w+)\n.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = {match[2]: match[1] for match in _BLOCK.finditer(PAGE)}
"""The blocks that begin with the name of a file, by that name."""

PACKAGE, PROJECT = "acme_trainform/cost.py", tomllib.loads(BLOCKS["pyproject.toml"])["project"]


@pytest.fixture
def acme(tmp_path):
    """The package of the page, installed."""
    with site(tmp_path / "site") as found:
        plugins = PROJECT["entry-points"]["trainform.plugins"]
        files = {PACKAGE: BLOCKS[PACKAGE], "acme_trainform/__init__.py": ""}
        found.install(PROJECT["name"], PROJECT["version"], plugins, files)
        yield found


@pytest.fixture
def place(acme: Site, tmp_path: Path) -> Repository:
    """A repository with the page's settings."""
    found = Repository(tmp_path / "place")
    found.start_git()
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm").replace("spec:", "  labels: {team: vision}\nspec:", 1))
    for file in ("environments/prod/environment.yaml", "trainform.yaml"):
        found.write(file, BLOCKS[file])
    return found


def trainform(place: Repository, *arguments: str) -> int:
    return run(["--root", str(place.root), *arguments])


def test_the_plugin_of_the_page_renders_with_its_settings(place):
    assert trainform(place, "render") == 0
    folder = place.root / "rendered/prod/ml/llm"
    assert "acme.example/cost-center: team-vision" in (folder / "jobset-llm.yaml").read_text()
    assert 'budget: "500"' in (folder / "configmap-llm-budget.yaml").read_text()


def test_the_error_of_the_page_is_what_is_said(place, capfd):
    file = "environments/prod/environment.yaml"
    place.write(file, BLOCKS[file].replace("budgets", "budget"))
    assert trainform(place, "validate") == 2
    said = re.search(r"^environments.*TF174.*$", PAGE, re.MULTILINE)
    assert said
    assert said[0] in capfd.readouterr().out


def test_the_source_of_the_page_is_what_explain_names(acme, place, capfd):
    """With the page's lines as a plugin's method."""
    (block,) = re.findall(r"^```python\n(TEAM = .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    body = "def enforce_pod_spec(self, plan):\n" + indent(block, "    ")
    acme.plugin("team", body, version=PROJECT["version"], package=PROJECT["name"])
    place.write("environments/prod/environment.yaml", environment())
    assert trainform(place, "explain", "llm", "labels.acme.example/cost-centre") == 0
    assert re.search(r"now +vision +TrainJob llm +jobs/llm.yaml:\d", capfd.readouterr().out)


def test_the_golden_case_of_the_page_passes(acme, tmp_path):
    """As its reader would run it: pytest with the files of the page."""
    project = tmp_path / "project"
    for file, text in BLOCKS.items():
        if file.startswith("tests/"):
            (project / file).parent.mkdir(parents=True, exist_ok=True)
            (project / file).write_text(text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(acme.folder), *sys.path])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        "--rootdir",
        str(project),
        str(project),
    ]
    ran = subprocess.run([*command, "--update-golden"], cwd=project, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    (expected,) = [file for file in BLOCKS if "/expected/" in file]
    assert (project / expected).read_text() == BLOCKS[expected].partition("\n")[2]
    assert "acme.example/cost-center: cc-vision" in (project / expected).with_name("jobset-llm.yaml").read_text()
    ran = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    (project / expected).write_text("edited: true\n")
    ran = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert ran.returncode == 1
    assert '+  budget: "500"' in ran.stdout


def test_the_table_names_every_extension_point_in_its_order():
    assert tuple(re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)) == STAGES


def test_the_page_names_every_code_of_a_plugins_fault_and_of_required_plugins():
    wanted = {code for code in CODES if code.startswith(("TF17", "TF90"))}
    assert wanted <= set(re.findall(r"TF\d+", PAGE))


def test_the_version_that_the_page_requires_is_the_one_that_it_builds(acme):
    assert PluginSet.installed().versions == {"acme-trainform": "1.2.0"}


COUNTER = """\
_seen = 0
def enforce_pod_spec(self, plan):
    P._seen += 1
    plan.label_pods("seen", str(P._seen))
"""


def test_a_golden_case_finds_a_plugin_that_keeps_state(acme, tmp_path):
    acme.plugin("counter", COUNTER)
    folder = tmp_path / "golden" / "team"
    folder.mkdir(parents=True)
    (folder / "input.yaml").write_text(BLOCKS["tests/golden/team/input.yaml"])
    (case,) = golden_cases(tmp_path / "golden")
    with pytest.raises(AssertionError, match="team compiles differently a second time"):
        case.check(update=True)
    assert not (folder / "expected").exists()


def test_a_folder_without_cases_is_no_test(tmp_path):
    with pytest.raises(AssertionError, match="has no golden case"):
        golden_cases(tmp_path)
    assert str(GoldenCase(tmp_path, "team")) == "team"
