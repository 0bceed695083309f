"""What is measured is installed with its dependencies and nothing else, and files go where there is room."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import install, machine


def test_dependencies_are_those_of_users():
    names = {each.metadata["Name"].lower() for each in install.dependencies("trainform")}
    assert {"click", "pydantic", "pydantic_core", "pyyaml", "markupsafe"} <= names
    assert not names & {"trainform", "pytest", "hatchling", "kubernetes", "cryptography"}


def test_a_distribution_is_copied_without_its_scripts(tmp_path):
    jinja2 = next(each for each in install.dependencies("trainform") if each.metadata["Name"].lower() == "jinja2")
    install.copy(jinja2, tmp_path)
    assert (tmp_path / "jinja2" / "__init__.py").exists()
    assert (tmp_path / install.metadata_folder(jinja2) / "METADATA").exists()


def test_a_peer_that_is_missing_is_told(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(install, "FOLDER", tmp_path)
    monkeypatch.setenv("PATH", "")
    peers = install.find_peers(download=False)
    assert (peers.kubectl, peers.helm, peers.jsonnet) == (None, None, None)
    assert set(peers.missing) == {"kubectl kustomize", "helm", "jsonnet"}
    assert "not measured: kubectl kustomize: kubectl is not installed" in capfd.readouterr().err


@pytest.mark.parametrize(("needed", "kind"), [(1 << 20, "memory"), (1 << 60, "disk")])
def test_files_go_to_memory_where_half_of_it_suffices(monkeypatch, tmp_path, needed, kind):
    monkeypatch.setattr(machine, "MEMORY", tmp_path)
    monkeypatch.setattr(machine, "_free_memory", lambda: 1 << 32)
    assert machine.scratch_parent(needed)[1] == kind


def test_without_a_folder_in_memory_files_go_to_disk(monkeypatch):
    monkeypatch.setattr(machine, "MEMORY", Path("/no/such/folder"))
    assert machine.scratch_parent(1)[1] == "disk"
