"""The hook of the build: the project's addresses, and a README that reads well on a package index."""

from __future__ import annotations

import importlib.util

import pytest

from release.archives import members
from release.build import URL_VARIABLE
from release.index import description, readme_problems
from support.ci import ROOT
from unit.release.conftest import FILES, URL

spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
assert spec is not None
assert spec.loader is not None
hook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hook)

BLOB, TREE, RAW = (f"{URL}/{kind}/v1.2.3" for kind in ("blob", "tree", "raw"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](docs/a.md)", f"[a]({BLOB}/docs/a.md)"),
        ("[a](docs/a.md#part)", f"[a]({BLOB}/docs/a.md#part)"),
        ("[a](docs/adr/)", f"[a]({TREE}/docs/adr)"),
        ("![a](docs/a.svg)", f"![a]({RAW}/docs/a.svg)"),
        ("[![a](a.png)](docs/a.md)", f"[![a]({RAW}/a.png)]({BLOB}/docs/a.md)"),
        ("[over\ntwo lines](a.md)", f"[over\ntwo lines]({BLOB}/a.md)"),
        ("[`code`](a.md)", f"[`code`]({BLOB}/a.md)"),
        ("[a](https://example.com/a)", "[a](https://example.com/a)"),
        ("[a](mailto:a@example.com)", "[a](mailto:a@example.com)"),
        ("[a](#part)", "[a](#part)"),
        ("`[a](a.md)`", "`[a](a.md)`"),
        ("```\n[a](a.md)\n```\n", "```\n[a](a.md)\n```\n"),
    ],
)
def test_links_to_files_lead_to_the_tag(text, expected):
    assert hook.with_absolute_links(text, URL, "v1.2.3") == expected


def test_the_archives_say_where_the_project_lives(archives):
    metadata = members(archives.wheel)["trainform-1.2.3.dist-info/METADATA"].decode()
    assert [line for line in metadata.splitlines() if line.startswith("Project-URL: ")] == [
        f"Project-URL: Homepage, {URL}",
        f"Project-URL: Documentation, {TREE}/docs",
        f"Project-URL: Changelog, {BLOB}/CHANGELOG.md",
        f"Project-URL: Issues, {URL}/issues",
        f"Project-URL: Source, {TREE}",
    ]
    assert f"[deviations]({BLOB}/docs/codes/TF101.md), `[code](stays)`" in metadata
    assert members(archives.sdist)["trainform-1.2.3/PKG-INFO"].decode() == metadata


def test_a_build_without_an_address_has_the_readme_as_it_is(monkeypatch, project):
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    metadata: dict[str, object] = {"version": "1.2.3"}
    hook.Addresses(str(project), {}).update(metadata)
    assert metadata["urls"] == {}
    assert metadata["readme"] == {"content-type": "text/markdown", "text": FILES["README.md"]}


def test_an_sdist_keeps_what_it_has(monkeypatch, project):
    monkeypatch.setenv(URL_VARIABLE, URL)
    metadata = {"version": "1.2.3", "readme": "from PKG-INFO"}
    hook.Addresses(str(project), {}).update(metadata)
    assert metadata == {"version": "1.2.3", "readme": "from PKG-INFO", "urls": {}}


def test_the_readme_of_this_project_reads_well_on_an_index():
    text = hook.with_absolute_links((ROOT / "README.md").read_text(), URL, "v1.2.3")
    assert text.count(URL) > 30
    assert list(readme_problems(text, URL, "v1.2.3", ROOT)) == []


def test_the_release_sets_the_variable_that_the_hook_reads(archives):
    assert hook.VARIABLE == URL_VARIABLE
    assert BLOB in description(members(archives.wheel)["trainform-1.2.3.dist-info/METADATA"])
