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
RUNS = {"script", "iframe", "object", "embed", "form", "base", "meta"}
"""Elements that the text of a page must not have: it comes with pull requests, and browsers would obey them."""


class Page(HTMLParser):
    """What other pages may lead to, what this one leads to, and the text of its paragraphs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.paragraphs: list[str] = []
        self.active: list[str] = []
        self._in_paragraph = False
        self._in_text = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in_text |= tag == "article"
        if self._in_text:
            self.active += [f"<{tag}>"] if tag in RUNS else []
            self.active += [f"{name}=" for name in given if name.startswith("on")]
            self.active += [f"{name}={value}" for name, value in given.items() if _is_code(value)]
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
        self._in_text = self._in_text and tag != "article"

    def handle_data(self, data: str) -> None:
        if self._in_paragraph:
            self.paragraphs[-1] += data


def _is_code(value: str) -> bool:
    """Whether a browser would run an address; it passes over blanks and control characters."""
    return re.sub(r"[\x00-\x20]", "", value).lower().startswith(("javascript:", "vbscript:", "data:text"))


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
    yield from (f"has what a browser runs: {each}" for each in page.active)
    for text in page.paragraphs:
        if found := _UNREAD.search(text):
            line = text[found.start() :].partition("\n")[0]
            yield f"shows a list or table as text: put a blank line before {line!r}"
