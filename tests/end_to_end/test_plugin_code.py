"""A plugin of another package whose code changes, with a new version and without one."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.repositories import Repository, job, runtime
from trainform.cli.main import run
from trainform.installed import forget_installed

PLUGIN = """\
import trainform


class Team(trainform.Plugin):
    name = "team"

    def enforce_pod_spec(self, plan):
        plan.label_pods("example.com/team", "{team}")
"""


class Acme:
    """The package, installed in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "acme").mkdir()
        self.write("vision", "1.0")

    def write(self, team: str, version: str) -> None:
        (self.folder / "acme/__init__.py").write_text(PLUGIN.format(team=team))
        info = self.folder / "acme-1.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme\nVersion: {version}\n")
        (info / "entry_points.txt").write_text("[trainform.plugins]\nteam = acme:Team\n")
        forget()


def forget() -> None:
    """What this process knows of installed packages."""
    importlib.invalidate_caches()
    sys.modules.pop("acme", None)
    forget_installed()


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Acme]:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Acme(folder)
    monkeypatch.undo()
    forget()


@pytest.fixture
def place(acme: Acme, tmp_path: Path) -> Repository:
    """Two jobs, rendered with the plugin and committed; `check` has found them current."""
    found = Repository(tmp_path / "place")
    found.start_git()
    found.write("runtimes/torch.yaml", runtime())
    for name in ("a", "b"):
        found.write(f"jobs/{name}.yaml", job(name))
    assert run(["--root", str(found.root), "render"]) == 0
    found.commit()
    assert run(["--root", str(found.root), "check"]) == 0
    return found


def states(place: Repository, capfd: pytest.CaptureFixture[str]) -> tuple[set[str], str]:
    capfd.readouterr()
    assert run(["--root", str(place.root), "check", "--format", "json"]) == 0
    out, err = capfd.readouterr()
    return {each["state"] for each in json.loads(out)["jobs"]}, err


def test_jobs_are_current_while_the_code_is_the_same(place, capfd):
    assert states(place, capfd) == ({"current"}, "")


def test_code_that_changed_without_a_new_version_is_said_as_such(place, acme, capfd):
    """Nobody edited the manifests: they are not called edited."""
    acme.write("nlp", "1.0")
    found, said = states(place, capfd)
    assert found == {"unproven"}
    assert said.startswith("the code of acme changed without a new version: ")
    assert run(["--root", str(place.root), "render"]) == 0
    assert "2 jobs are behind: the code of acme changed without a new version" in capfd.readouterr().out


def test_code_that_changed_with_a_new_version_is_another_compiler(place, acme, capfd):
    acme.write("nlp", "2.0")
    found, said = states(place, capfd)
    assert found == {"unproven"}
    assert said.startswith("plugin package acme changed from 1.0 to 2.0: jobs rendered before are unproven")


def test_an_upgrade_takes_the_new_code(place, acme, capfd):
    acme.write("nlp", "1.0")
    assert run(["--root", str(place.root), "upgrade", "--all"]) == 0
    assert states(place, capfd) == ({"current"}, "")
    assert "example.com/team: nlp" in (place.root / "rendered/default/ml/a/jobset-a.yaml").read_text()


def test_a_lockfile_of_an_earlier_version_does_not_say_which_code_it_was(place, acme, capfd):
    for lock in (place.root / ".trainform/locks").rglob("*.lock"):
        tree = json.loads(lock.read_text())
        del tree["pluginCode"]
        lock.write_text(json.dumps(tree))
    assert states(place, capfd) == ({"current"}, "")
