"""Whether the built site holds together: every link leads somewhere, nothing comes from elsewhere, and lists and tables
are what they are on a forge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_UNREAD = re.compile(r"^(?:[-*] |\d+\. |\|)", re.M)
"""A line of a paragraph that was meant to be an item of a list or a row of a table."""
FETCHED = {"src", "srcset", "poster", "data"}


class Page(HTMLParser):
    """What other pages may lead to, what this one leads to, and the text of its paragraphs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.paragraphs: list[str] = []
        self._in_paragraph = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "link":
            self.fetched += [given.get("href", "")] if given.get("rel") != "canonical" else []
        elif "href" in given:
            self.links.append(given["href"])
        self.fetched += [given[name] for name in FETCHED if name in given]
        if tag == "p":
            self._in_paragraph = True
            self.paragraphs.append("")
        elif tag == "code" and self._in_paragraph:
            self.paragraphs[-1] += "`"

    def handle_endtag(self, tag: str) -> None:
        self._in_paragraph = self._in_paragraph and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._in_paragraph:
            self.paragraphs[-1] += data


def faults(site: Path) -> list[str]:
    """What is wrong, one line each."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site)}: {fault}"
        for path, page in pages.items()
        if path.name != "404.html"  # its links begin at the top of whatever serves it
        for fault in (*_links(path, pages), *_others(page))
    ]


def _links(path: Path, pages: dict[Path, Page]) -> Iterator[str]:
    page = pages[path]
    for link in (*page.links, *page.fetched):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or not link:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            yield f"links to {link}, which is not there"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
            yield f"links to {link}, which has no such heading"


def _others(page: Page) -> Iterator[str]:
    yield from (f"fetches {each}" for each in page.fetched if urlsplit(each).netloc)
    for text in page.paragraphs:
        if found := _UNREAD.search(text):
            line = text[found.start() :].partition("\n")[0]
            yield f"shows a list or table as text: put a blank line before {line!r}"
