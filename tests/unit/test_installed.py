"""The plugins that installed packages declare, with the versions of those packages."""

from __future__ import annotations

import sys

import pytest

from trainform.core.given.model import NOTHING_GIVEN
from trainform.core.registry import ORDER, EntryPoint
from trainform.installed import declared_plugins, given_by
from trainform_plugins import torch


@pytest.fixture
def folders(monkeypatch, tmp_path):
    """Two empty folders that packages may be installed in, before all others."""
    found = [tmp_path / "first", tmp_path / "second"]
    for folder in found:
        folder.mkdir()
    monkeypatch.setattr(sys, "path", [*map(str, found), *sys.path])
    declared_plugins.cache_clear()
    yield found
    declared_plugins.cache_clear()


def install(folder, name, text, version="1.2", ending="dist-info", head="METADATA"):
    info = folder / f"{name}-{version}.{ending}"
    info.mkdir()
    (info / "entry_points.txt").write_text(text)
    (info / head).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not this\n")


def foreign():
    return [each for each in declared_plugins() if each.package != "trainform"]


def test_our_own_are_declared_as_anybodys():
    own = [each for each in declared_plugins() if each.package == "trainform"]
    assert sorted(each.name for each in own) == sorted(ORDER)
    assert {bool(each.version) for each in own} == {True}


@pytest.mark.parametrize(("ending", "head"), [("dist-info", "METADATA"), ("egg-info", "PKG-INFO")])
def test_those_of_other_packages_have_their_versions(folders, ending, head):
    text = "[other]\nx = a:b\n\n[trainform.plugins]\n# more\ntoy = toys:Toy\n ant=toys.x:Ant [extra]\n"
    install(folders[1], "toys", text, ending=ending, head=head)
    assert foreign() == [EntryPoint("toy", "toys:Toy", "toys", "1.2"), EntryPoint("ant", "toys.x:Ant", "toys", "1.2")]


def test_of_two_installations_of_one_package_the_first_counts(folders):
    install(folders[0], "Toys", "[trainform.plugins]\ntoy = toys:New\n", "2.0")
    install(folders[1], "toys", "[trainform.plugins]\ntoy = toys:Old\n", "1.0")
    assert foreign() == [EntryPoint("toy", "toys:New", "Toys", "2.0")]


def test_what_a_framework_gives_is_that_of_its_shipped_plugin():
    assert given_by("torch") is torch.GIVEN
    assert given_by("") == NOTHING_GIVEN
