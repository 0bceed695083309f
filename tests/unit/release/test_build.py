"""The same commit gives the same bytes, on every machine and by way of the sdist."""

from __future__ import annotations

import os

from release.archives import members
from release.build import ELSEWHERE, HERE, URL_VARIABLE, build, build_by_way_of_the_sdist, differences
from release.source import find_source
from unit.release.conftest import URL, commit


def test_two_builds_are_the_same_bytes(source, archives, tmp_path):
    again = build_by_way_of_the_sdist(source, ELSEWHERE, tmp_path)
    assert [path.name for path in again] == ["trainform-1.2.3-py3-none-any.whl", "trainform-1.2.3.tar.gz"]
    assert list(differences(archives, again)) == []


def test_what_depends_on_the_machine_is_named(project, tmp_path):
    hook = (project / "hatch_build.py").read_text()
    commit(project, {"hatch_build.py": hook.replace('"text": ', '"text": os.environ["TZ"] + ')})
    source = find_source(project, URL, {})
    one, other = build(source, HERE, tmp_path), build(source, ELSEWHERE, tmp_path)
    wheel, sdist = differences(one, other)
    info = "trainform-1.2.3.dist-info"
    assert wheel == f"two builds of {one.wheel.name} differ: {info}/METADATA, {info}/RECORD"
    assert sdist == f"two builds of {one.sdist.name} differ: trainform-1.2.3/PKG-INFO"


def test_only_what_is_committed_is_built(project, tmp_path):
    source = find_source(project, URL, {})
    (project / "compiler" / "trainform" / "new.py").write_text("")
    (project / "README.md").write_text("changed")
    found = members(build(source, HERE, tmp_path).sdist)
    assert "trainform-1.2.3/compiler/trainform/new.py" not in found
    assert found["trainform-1.2.3/README.md"].startswith(b"# trainform")


def test_the_address_of_another_build_is_not_taken(project, monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, URL_VARIABLE, URL)
    wheel = build(find_source(project, "", {}), HERE, tmp_path).wheel
    assert URL.encode() not in members(wheel)["trainform-1.2.3.dist-info/METADATA"]
