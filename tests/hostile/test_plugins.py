"""Packages with plugins that nobody wanted, and pull requests that change which plugins run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.packages import Site, site
from support.repositories import Repository, job, runtime
from trainform.cli.main import run

LABEL = 'def enforce_pod_spec(self, plan):\n    plan.label_pods("example.com/by", "{0}")\n'
REFUSE = 'def validate(self, plan):\n    plan.report("ACME1", "not allowed")\n'
OWNED = "import pathlib\npathlib.Path({0!r}).touch()\n"
REQUIRED = 'plugins:\n  required:\n    acme-trainform: ">=1.2,<2"\n'


@pytest.fixture
def packages(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path / "site") as found:
        yield found


@pytest.fixture
def place(tmp_path: Path) -> Repository:
    found = Repository(tmp_path / "place")
    found.start_git()
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm"))
    return found


def trainform(place: Repository, *arguments: str) -> int:
    return run(["--root", str(place.root), *arguments])


def acme(packages: Site, version: str = "1.2.0", label: str = "acme") -> None:
    packages.plugin("acme", LABEL.format(label), version, "acme-trainform")


def jobset(place: Repository) -> str:
    return (place.root / "rendered/default/ml/llm/jobset-llm.yaml").read_text()


def evil(packages: Site, tmp_path: Path, plugin: str, package: str = "acme-trainform-utils") -> Path:
    """Install a package whose import leaves a mark, which is returned."""
    mark = tmp_path / "owned"
    packages.install(package, "9.9", {plugin: "evil:Evil"}, {"evil.py": OWNED.format(str(mark))})
    return mark


def test_a_package_that_is_not_required_is_not_even_imported(packages, place, tmp_path, capfd):
    acme(packages)
    mark = evil(packages, tmp_path, "helper")
    place.write("trainform.yaml", REQUIRED)
    assert trainform(place, "render") == 0
    assert "example.com/by: acme" in jobset(place)
    assert not mark.exists()
    lock = json.loads((place.root / ".trainform/locks/default/ml/llm.lock").read_text())
    assert lock["plugins"] == {"acme-trainform": "1.2.0"}
    capfd.readouterr()
    assert trainform(place, "plugins", "--format", "json") == 0
    states = {each["package"]: each["state"] for each in json.loads(capfd.readouterr().out)["plugins"]}
    assert states == {"trainform": "in use", "acme-trainform": "in use", "acme-trainform-utils": "not required"}


def test_a_package_cannot_take_the_name_of_a_required_packages_plugin(packages, place, tmp_path):
    acme(packages)
    mark = evil(packages, tmp_path, "acme")
    assert trainform(place, "validate") == 2  # two plugins of one name
    place.write("trainform.yaml", REQUIRED)
    assert trainform(place, "render") == 0
    assert "example.com/by: acme" in jobset(place)
    assert not mark.exists()


def test_a_package_cannot_take_the_name_of_our_own_plugin_where_packages_are_listed(packages, place, tmp_path):
    mark = evil(packages, tmp_path, "torch")
    place.write("trainform.yaml", "plugins: {required: {}}\n")
    assert trainform(place, "render") == 0
    assert not mark.exists()


def test_a_plugin_of_the_right_name_from_another_package_does_not_count(packages, place, tmp_path, capfd):
    mark = evil(packages, tmp_path, "acme")
    place.write("trainform.yaml", REQUIRED)
    assert trainform(place, "render") == 2
    assert not mark.exists()
    assert "trainform.yaml:3:5: error TF170" in capfd.readouterr().err


@pytest.mark.parametrize("command", [["render"], ["validate"], ["check"], ["diff"], ["explain", "llm"], ["report"],
                                     ["capacity"], ["upgrade", "--all"], ["rerun", "llm"], ["keys"], ["plugins"]],
                         ids=lambda command: command[0])  # fmt: skip
def test_each_command_fails_without_a_required_package(packages, place, capfd, command):
    place.write("trainform.yaml", REQUIRED)
    place.commit()
    assert trainform(place, *command) == 2
    captured = capfd.readouterr()
    said = captured.out + captured.err
    assert "trainform.yaml:3:5: error TF170" in said
    assert "pip install 'acme-trainform>=1.2,<2'" in said
    assert not (place.root / "rendered").exists()


@pytest.mark.parametrize(
    ("version", "code"), [("1.1", 2), ("1.2", 0), ("1.9.9", 0), ("2.0", 2), ("1.3rc1", 0), ("no version", 2)]
)
def test_a_version_outside_the_range_is_an_error_at_its_line(packages, place, capfd, version, code):
    acme(packages, version)
    place.write("trainform.yaml", REQUIRED)
    assert trainform(place, "validate") == code
    message = f"this repository requires acme-trainform >=1.2,<2, but {version} is installed"
    assert (message in capfd.readouterr().out) == bool(code)


@pytest.mark.parametrize("name", ["Acme_Trainform", "acme.trainform", "ACME-trainform"])
def test_names_of_packages_are_compared_as_an_index_does(packages, place, name):
    acme(packages)
    place.write("trainform.yaml", f'plugins: {{required: {{{name}: ">=1"}}}}\n')
    assert trainform(place, "render") == 0
    assert "example.com/by: acme" in jobset(place)


def test_a_disabled_plugin_does_not_run_and_diff_says_so(packages, place, capfd):
    packages.plugin("policy", REFUSE)
    assert trainform(place, "render") == 2
    place.commit()
    place.write("trainform.yaml", "plugins: {disabled: [policy]}\n")
    assert trainform(place, "render") == 0
    capfd.readouterr()
    trainform(place, "diff")
    assert "the plugins in trainform.yaml change: a plugin that checks jobs may be disabled" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("plugins: {disabled: [torch]}\n", 1, "TF172"),
        ("plugins:\n  disabled:\n  - acme\n  - lints\n", 4, "TF172"),
        ("plugins: {disabled: [acmee]}\n", 1, "TF172"),
        ("plugins: {disabled: acme}\n", 1, "TF102"),
        ("plugins: {disabled: [1]}\n", 1, "TF703"),
        ("plugins: {disabled: [../x]}\n", 1, "TF703"),
        ("plugins: [acme]\n", 1, "TF102"),
        ("plugins: {required: [acme]}\n", 1, "TF102"),
        ("plugins: {require: {}}\n", 1, "TF101"),
        ("plugins: {load: [evil]}\n", 1, "TF101"),
        ("plugins: {required: {acme-trainform: 1.2}}\n", 1, "TF703"),
        ('plugins: {required: {acme-trainform: ""}}\n', 1, "TF703"),
        ('plugins: {required: {acme-trainform: "1.2"}}\n', 1, "TF703"),
        ('plugins: {required: {acme-trainform: ">=1 @ file:///tmp/evil"}}\n', 1, "TF703"),
        ('plugins: {required: {"git+https://evil": ">=1"}}\n', 1, "TF703"),
        ('plugins: {required: {"--index-url": ">=1"}}\n', 1, "TF703"),
        ('plugins: {required: {"a\'; rm -rf ~ #": ">=1"}}\n', 1, "TF703"),
    ],
)
def test_a_mistake_is_an_error_at_its_line(packages, place, capfd, text, line, code):
    acme(packages)
    place.write("trainform.yaml", text)
    assert trainform(place, "validate") == 2
    assert f"trainform.yaml:{line}:" in (said := capfd.readouterr().out)
    assert f"error {code}" in said


def test_code_of_the_repository_is_never_a_plugin(packages, place, tmp_path, monkeypatch):
    """Metadata of a package in the checkout, which is also the current folder."""
    mark = tmp_path / "owned"
    place.write("acme_trainform-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme-trainform\nVersion: 1.2\n")
    place.write("acme_trainform-1.2.dist-info/entry_points.txt", "[trainform.plugins]\nacme = evil:Evil\n")
    place.write("evil.py", OWNED.format(str(mark)))
    place.write("trainform.yaml", REQUIRED)
    monkeypatch.chdir(place.root)
    assert trainform(place, "validate") == 2
    assert not mark.exists()


def test_what_a_plugin_prints_is_not_in_the_result(packages, place, capfd):
    packages.plugin("noisy", 'def build(self, plan):\n    print("::error::noise")\n    return []\n')
    assert trainform(place, "render") == 0
    capfd.readouterr()
    assert trainform(place, "validate", "--format", "json") == 0
    captured = capfd.readouterr()
    json.loads(captured.out)
    assert "noise" in captured.err


FAULTY = {
    "edit in place": 'plan.runtime.spec.template.spec["replicatedJobs"].append({})',
    "exit": "raise SystemExit(0)",
    "raise": "raise RuntimeError('x')",
}


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_check_blames_the_plugin_and_not_the_user(packages, place, capfd, body):
    """A plugin whose fault shows only after it rendered: here, with a file that says so."""
    packages.plugin("acme", LABEL.format("acme"))
    assert trainform(place, "render") == 0
    place.commit()
    lock = place.root / ".trainform/locks/default/ml/llm.lock"
    before = json.loads(lock.read_text())
    packages.plugin("acme", f"def enforce_pod_spec(self, plan):\n    {body}\n")
    from trainform.installed import PluginSet

    lock.write_text(json.dumps(before | {"pluginCode": dict(PluginSet.installed().code)}))
    capfd.readouterr()
    assert trainform(place, "check") == 2
    captured = capfd.readouterr()
    assert "edited default" not in captured.out
    assert "plugin acme" in captured.err
    assert "enforce_pod_spec" in captured.err


def test_check_blames_a_plugin_that_gives_another_result_each_time(packages, place, capfd):
    body = '_seen = 0\ndef enforce_pod_spec(self, plan):\n    P._seen += 1\n    plan.label_pods("n", str(P._seen))\n'
    packages.plugin("acme", body)
    place.write("jobs/bert.yaml", job("bert"))
    assert trainform(place, "render") == 0
    place.commit()
    capfd.readouterr()
    assert trainform(place, "check", "--no-cache") == 2
    captured = capfd.readouterr()
    assert "edited" not in captured.out
    assert "error TF906: compiled again from the same inputs, this job is different" in captured.err


def test_an_update_of_a_plugin_is_said_as_such(packages, place, capfd):
    acme(packages, "1.2", "old")
    place.write("trainform.yaml", REQUIRED)
    assert trainform(place, "render") == 0
    place.commit()
    assert trainform(place, "check") == 0
    acme(packages, "1.3", "new")
    capfd.readouterr()
    assert trainform(place, "check") == 0
    captured = capfd.readouterr()
    assert captured.out == "1 unproven\n"
    assert captured.err.startswith("plugin package acme-trainform changed from 1.2 to 1.3: jobs rendered before")
    assert trainform(place, "render") == 0
    assert "1 job is behind: plugin package acme-trainform changed from 1.2 to 1.3" in capfd.readouterr().out
    assert "example.com/by: old" in jobset(place)
    assert trainform(place, "upgrade", "--all") == 0
    assert "example.com/by: new" in jobset(place)
    place.write("trainform.yaml", "plugins: {required: {}}\n")
    capfd.readouterr()
    assert trainform(place, "check") == 0
    assert "plugin package acme-trainform 1.3 is no longer used" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["render", "validate"])
def test_a_plugins_fault_ends_with_70_and_names_its_authors(packages, place, capfd, command):
    packages.plugin("acme", FAULTY["raise"].replace("raise", "def build(self, plan): raise"))
    assert trainform(place, command) == 70
    said = capfd.readouterr().err
    assert "This is a bug in plugin acme, not in your files" in said
    assert "Traceback" not in said
    assert not (place.root / "rendered").exists()
