"""Every link of every page leads somewhere, in the repository as forges show it. `./dev site` checks the built site."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from support.links import Link, anchors, links
from support.markdown import ROOT

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
LINKS = [link for page in PAGES for link in links(page) if "://" not in link.target]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page):
    assert [f"{link.place}: {fault}" for link in LINKS if link.page == page and (fault := broken(link))] == []


def broken(link: Link, root: Path = ROOT) -> str | None:
    """Why a link leads nowhere; None if it leads somewhere."""
    path, _, anchor = link.target.partition("#")
    target = (link.page.parent / unquote(path)).resolve() if path else link.page
    if not target.is_relative_to(root) or not target.exists():
        return f"there is no {path}"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return f"{path or 'the page'} has no heading #{anchor}"
    return None


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("[a](other.md), [b](other.md#two-words), [c](#mine), [d](<other.md>)", []),
        ("[a](absent.md)", ["there is no absent.md"]),
        ("[a](other.md#absent)", ["other.md has no heading #absent"]),
        ("[a](#absent)", ["the page has no heading #absent"]),
        ("![a](absent.png)", ["there is no absent.png"]),
        ('<img src="absent.png">', ["there is no absent.png"]),
        ("[a](../outside.md)", ["there is no ../outside.md"]),
        ("`[a](absent.md)` and\n\n    [a](absent.md)", []),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path, text, faults):
    root = tmp_path / "root"
    root.mkdir()
    (root / "other.md").write_text("# Two `words`!\n")
    (tmp_path / "outside.md").write_text("")
    page = root / "page.md"
    page.write_text(f"# Mine\n\n{text}\n")
    assert [fault for link in links(page) if (fault := broken(link, root))] == faults


def test_anchors_are_those_of_forges(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# `rendered/` & co.\n## Twice\n## Twice\n## A [link](x.md)\n```sh\n# no heading\n```\n")
    assert anchors(page) == {"rendered--co", "twice", "twice-1", "a-link"}
