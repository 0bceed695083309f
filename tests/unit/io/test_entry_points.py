"""Entry points are found as `importlib.metadata` finds them, only sooner."""

from __future__ import annotations

import importlib.metadata
import sys
import zipfile

import pytest

from trainform.io import entry_points as module
from trainform.io.entry_points import EntryPoint, entry_points

GROUP = "trainform.plugins"


def by_the_library(group):
    found = importlib.metadata.entry_points(group=group)
    return [
        EntryPoint(each.name, each.value.partition("[")[0], each.dist.name, each.dist.version)
        for each in found
        if each.dist is not None
    ]


def install(folder, name, text, version="1.2", ending="dist-info", head="METADATA"):
    info = folder / f"{name}-{version}.{ending}"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(text)
    (info / head).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not this\n")


@pytest.fixture
def path(monkeypatch, tmp_path):
    """An empty installation: two folders on the path."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder) for folder in folders])
    return folders


def test_those_of_this_environment_are_the_librarys():
    groups = {*importlib.metadata.entry_points().groups, GROUP}
    assert len(groups) > 1
    for group in groups:
        assert sorted(entry_points(group)) == sorted(set(by_the_library(group)))


def test_a_file_is_read_as_the_library_reads_it(path):
    install(
        path[0], "toys", "# words\n[other]\nx = a:b\n\n[trainform.plugins]\n# more\ntoy = toys:Toy\n ant=toys.x:Ant \n"
    )
    assert entry_points(GROUP) == by_the_library(GROUP)
    assert entry_points(GROUP) == [
        EntryPoint("toy", "toys:Toy", "toys", "1.2"),
        EntryPoint("ant", "toys.x:Ant", "toys", "1.2"),
    ]


@pytest.mark.parametrize(("ending", "head"), [("dist-info", "METADATA"), ("egg-info", "PKG-INFO")])
def test_both_ways_of_installing_are_known(path, ending, head):
    install(path[1], "toys", "[trainform.plugins]\ntoy = toys:Toy\n", ending=ending, head=head)
    assert entry_points(GROUP) == by_the_library(GROUP) == [EntryPoint("toy", "toys:Toy", "toys", "1.2")]


def test_the_first_of_one_name_counts(path):
    install(path[0], "Toys", "[trainform.plugins]\ntoy = toys:New\n", "2.0")
    install(path[1], "toys", "[trainform.plugins]\ntoy = toys:Old\n", "1.0")
    assert entry_points(GROUP) == by_the_library(GROUP) == [EntryPoint("toy", "toys:New", "Toys", "2.0")]


def test_a_zip_file_on_the_path_is_left_to_the_library(path, monkeypatch, tmp_path):
    with zipfile.ZipFile(tmp_path / "toys.zip", "w") as archive:
        archive.writestr("toys-1.dist-info/entry_points.txt", "[trainform.plugins]\ntoy = toys:Toy\n")
        archive.writestr("toys-1.dist-info/METADATA", "Name: toys\nVersion: 1\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "toys.zip")])
    assert entry_points(GROUP) == [EntryPoint("toy", "toys:Toy", "toys", "1")]


def test_a_hook_that_may_know_packages_is_left_to_the_library(path, monkeypatch):
    class Finder:
        def find_distributions(self, context=None):
            return iter(())

    asked = []
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])

    def ask(group):
        asked.append(group)
        return []

    monkeypatch.setattr(module, "_asked", ask)
    assert entry_points(GROUP) == []
    assert asked == [GROUP]
