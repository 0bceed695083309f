"""`trainform runtimes` and `trainform plugins`."""

from __future__ import annotations

import json

import yaml

from trainform import __version__

MINE = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata:
  name: mine
  namespace: ml
  labels:
    trainer.kubeflow.org/framework: torch
"""


def test_runtimes_of_the_repository_and_of_the_catalogue(root, trainform):
    (root / "runtimes").mkdir()
    (root / "runtimes" / "mine.yaml").write_text(MINE)
    ran = trainform("runtimes", "--format", "json")
    entries = json.loads(ran.out)["runtimes"]
    assert ran.code == 0
    assert entries[0] == {
        "name": "mine",
        "kind": "TrainingRuntime",
        "namespace": "ml",
        "framework": "torch",
        "source": "runtimes/mine.yaml",
        "version": "",
        "replaces": "",
    }
    shipped = {entry["name"]: entry for entry in entries[1:]}
    assert shipped["torch-distributed"]["source"] == "trainform"
    assert shipped["torch-distributed"]["version"] == __version__


def test_a_runtime_of_the_repository_replaces_a_shipped_one(root, trainform):
    (root / "runtimes").mkdir()
    text = MINE.replace("kind: Tra", "kind: ClusterTra").replace("name: mine", "name: torch-distributed")
    (root / "runtimes" / "mine.yaml").write_text(text)
    entries = json.loads(trainform("runtimes", "--format", "json").out)["runtimes"]
    found = [(e["source"], e["replaces"]) for e in entries if e["name"] == "torch-distributed"]
    assert found == [("runtimes/mine.yaml", "trainform")]
    assert "runtimes/mine.yaml (replaces the shipped one)" in trainform("runtimes").out


def test_runtimes_as_a_table(trainform):
    head, *rows = trainform("runtimes").out.splitlines()
    assert head.split() == ["NAME", "KIND", "NAMESPACE", "FRAMEWORK", "SOURCE", "VERSION"]
    assert any(row.startswith("torch-distributed ") for row in rows)


def test_a_broken_runtime_is_told(root, trainform):
    (root / "runtimes").mkdir()
    (root / "runtimes" / "mine.yaml").write_text("kind: [\n")
    ran = trainform("runtimes")
    assert ran.code == 2
    assert "runtimes/mine.yaml:1:7: error" in ran.err


def test_plugins_in_the_order_in_which_they_run(trainform):
    listed = json.loads(trainform("plugins", "--format", "json").out)["plugins"]
    names = [each["name"] for each in listed]
    assert names.index("plain") < names.index("torch") < names.index("jobset")
    assert {"name": "torch", "package": "trainform", "version": __version__, "state": "in use"} in listed


def test_plugins_as_a_table(trainform):
    assert trainform("plugins").out.splitlines()[0].split() == ["NAME", "PACKAGE", "VERSION", "STATE"]


def test_a_shipped_runtime_can_be_seen(root, trainform):
    ran = trainform("runtimes", "show", "torch-distributed")
    assert ran.code == 0
    assert yaml.safe_load(ran.out)["metadata"]["name"] == "torch-distributed"


def test_an_ejected_runtime_is_the_shipped_one_and_is_never_overwritten(root, trainform):
    assert trainform("runtimes", "show", "--eject", "torch-distributed").code == 0
    copy = root / "runtimes" / "torch-distributed.yaml"
    assert copy.read_text() == trainform("runtimes", "show", "torch-distributed").out
    copy.write_text(f"# ours\n{copy.read_text()}")
    ran = trainform("runtimes", "show", "--eject", "torch-distributed")
    assert (ran.code, copy.read_text()[:6]) == (2, "# ours")
    assert "TF706" in ran.err


def test_an_unknown_runtime_has_a_near_name(root, trainform):
    ran = trainform("runtimes", "show", "torch-distribted")
    assert ran.code == 2
    assert 'did you mean "torch-distributed"?' in ran.err
