"""The site of docs/: its navigation, the pages that it is built from, and the check of what was built."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.ci import faults as faults_of_ci
from support.markdown import ROOT
from website.check import faults
from website.stage import ALSO_PAGES, page, stage

PROJECT = tomllib.loads((ROOT / "scripts" / "website" / "zensical.toml").read_text(encoding="utf-8"))["project"]
URL = "https://example.com/acme/trainform"


def entries(nav: Any) -> Iterator[str]:
    """The pages of a navigation, in its order."""
    if isinstance(nav, str):
        yield nav
    for each in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from entries(each)


def test_the_navigation_has_every_page_once():
    """Codes and decisions are found through their lists."""
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    listed = {each for each in pages if each.startswith(("codes/TF", "adr/0"))}
    wanted, found = (pages - listed) | set(ALSO_PAGES.values()), list(entries(PROJECT["nav"]))
    assert sorted(wanted - set(found)) == [], "give it a place in `nav` of scripts/website/zensical.toml"
    assert sorted(found) == sorted(wanted)


def test_the_first_page_after_home_is_the_first_merged_job():
    assert list(entries(PROJECT["nav"]))[:2] == ["README.md", "first-job.md"]


def test_the_site_has_no_fonts_or_plugins_of_others():
    assert PROJECT["theme"]["font"] is False
    assert list(PROJECT["plugins"]) == ["search"]


# What the pages become


@pytest.mark.parametrize(
    ("name", "text", "staged"),
    [
        ("docs/ci.md", "[a](diff.md#speed)", "[a](diff.md#speed)"),
        ("docs/for/sre.md", "[a](../ci.md)", "[a](../ci.md)"),
        ("docs/ci.md", "[a](#b), [c](https://example.com/x.md)", "[a](#b), [c](https://example.com/x.md)"),
        ("docs/ci.md", "![a](pictures/x.png)", "![a](pictures/x.png)"),
        ("docs/for/sre.md", "[a](../../SECURITY.md#b)", "[a](../security.md#b)"),
        ("CONTRIBUTING.md", "[a](docs/adr/README.md)", "[a](adr/README.md)"),
        ("CONTRIBUTING.md", "[a](SECURITY.md)", "[a](security.md)"),
        ("docs/ci.md", "[`x.py`](../tests/x.py#L3)", f"[`x.py`]({URL}/blob/HEAD/tests/x.py#L3)"),
        ("docs/ci.md", "[the `x` of\nall](../tests/x.py)", f"[the `x` of\nall]({URL}/blob/HEAD/tests/x.py)"),
        ("docs/ci.md", "`[a](../x.py)`", "`[a](../x.py)`"),
        ("docs/ci.md", "```md\n[a](../x.py)\n```\n", "```md\n[a](../x.py)\n```\n"),
        ("docs/ci.md", "```yaml file=jobs/a.yaml\nkind: x\n```\n", '```yaml title="jobs/a.yaml"\nkind: x\n```\n'),
        ("docs/ci.md", "```console\n$ cat a\n  # b\n```\n", "```console\n$ cat a\n  \u2060# b\n```\n"),
        ("docs/ci.md", "```sh\n# b\n```\n", "```sh\n# b\n```\n"),
    ],
)
def test_links_follow_their_targets_and_code_stays(name, text, staged):
    assert page(text, name, URL) == staged


def test_without_an_address_what_is_no_page_is_no_link():
    assert page("See [`x.py`](../tests/x.py), [ci](ci.md).", "docs/a.md", "") == "See `x.py`, [ci](ci.md)."


def test_all_pages_and_pictures_are_staged(tmp_path):
    stage(ROOT, tmp_path / "pages", "")
    staged = {path.relative_to(tmp_path / "pages").as_posix() for path in (tmp_path / "pages").rglob("*.*")}
    assert {*ALSO_PAGES.values(), "README.md", "codes/TF001.md", "pictures/diff-comment.png"} <= staged


# What is wrong with a built site


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "other.html").write_text('<h1 id="top">Other</h1>')
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text("")
    (tmp_path / "style.css").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ('<a href="other.html#top">a</a><a href="folder/">b</a><a href="#c" id="c">c</a>', []),
        ('<a href="https://example.com/absent.html">a</a><a href="mailto:a@example.com">b</a>', []),
        ('<a href="absent.html">a</a>', ["links to absent.html, which is not there"]),
        ('<a href="absent/">a</a>', ["links to absent/, which is not there"]),
        ('<a href="other.html#absent">a</a>', ["links to other.html#absent, which has no such heading"]),
        ('<a href="#absent">a</a>', ["links to #absent, which has no such heading"]),
        ('<img src="absent.png">', ["links to absent.png, which is not there"]),
        ('<link rel="stylesheet" href="style.css">', []),
        ('<link rel="stylesheet" href="//fonts.example.com/a.css">', ["fetches //fonts.example.com/a.css"]),
        ('<script src="https://cdn.example.com/a.js"></script>', ["fetches https://cdn.example.com/a.js"]),
        ("<p>Two ways:\n- one\n- two</p>", ["shows a list or table as text: put a blank line before '- one'"]),
        ("<p>Two:\n| a |\n|---|</p>", ["shows a list or table as text: put a blank line before '| a |'"]),
        ("<article><script>a()</script></article>", ["has what a browser runs: <script>"]),
        ("<article><p onclick='a()'>b</p></article>", ["has what a browser runs: onclick="]),
        (
            "<article><a href=' java\nscript:a()'>b</a></article>",
            ["has what a browser runs: href= java\nscript:a()"],
        ),
        ("<script>theme()</script><article><p>b</p></article><script>theme()</script>", []),
        ("<p>A sentence with a dash\n<code>- x</code> in code</p>", []),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_page_is_found(site, body, wrong):
    (site / "page.html").write_text(body)
    assert faults(site) == [f"page.html: {each}" for each in wrong]


# Templates for CI


@pytest.mark.parametrize(("file", "schema"), [("github.yaml", "github-workflows"), ("gitlab.yml", "gitlab-ci")])
def test_a_template_for_ci_is_valid_and_builds_the_site(file, schema):
    pytest.importorskip("check_jsonschema")
    text = (ROOT / "ci" / "site" / file).read_text(encoding="utf-8")
    assert faults_of_ci(schema, yaml.safe_load(text)) == []
    assert "./dev site" in text
    assert "build/site/html" in text
