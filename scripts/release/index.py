"""What a package index would show: whether it takes the metadata, and how it renders the README."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from packaging.metadata import Metadata, RawMetadata, parse_email
from readme_renderer import markdown
from trove_classifiers import classifiers

_LEFTOVERS = re.compile(r"\]\(|\*\*|```|\|\s*-{3}|<!--|</?[a-z]+>")
"""Markdown or HTML that is still there as text."""

_WANTED = frozenset(
    ("description", "description_content_type", "license_expression", "license_files", "requires_python", "summary")
)


def metadata_problems(data: bytes, *, with_urls: bool) -> Iterator[str]:
    """`data` is METADATA or PKG-INFO."""
    raw, unparsed = parse_email(data)
    yield from (f"metadata: nobody reads {name}" for name in sorted(unparsed))
    try:
        Metadata.from_raw(raw)
    except ExceptionGroup as errors:
        yield from (f"metadata: {error}" for error in errors.exceptions)
    unknown = sorted(set(raw.get("classifiers", ())) - classifiers)
    yield from (f"metadata: unknown classifier {each}" for each in unknown)
    wanted = {*_WANTED, "project_urls"} if with_urls else _WANTED
    yield from (f"metadata: no {key}" for key in sorted(wanted) if not raw.get(key))


def description(data: bytes) -> str:
    raw: RawMetadata = parse_email(data)[0]
    return raw.get("description", "")


def readme_problems(text: str, url: str, tag: str, tree: Path) -> Iterator[str]:
    """`tree` holds the files of the tag. Without an address, `url`, links may be relative to it."""
    html = markdown.render(text)
    if html is None:
        yield "README: does not render"
        return
    page = Page()
    page.feed(html)
    yield from (f"README: shows {found!r} as text" for found in _LEFTOVERS.findall("".join(page.text)))
    for link in page.links:
        if link.removeprefix("#") not in page.ids and (problem := _problem(link, url, tag, tree)):
            yield f"README: {link} {problem}"


class Page(HTMLParser):
    """The links and pictures of a page, where links can lead on it, and its text that is not code."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.text: list[str] = []
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in ("code", "pre")
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.ids |= {value or "" for name, value in attrs if name == "id"}

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.text.append(data)


def _problem(link: str, url: str, tag: str, tree: Path) -> str:
    """Why a link leads nowhere on the page of an index; empty if it does not."""
    path, own = link, not url
    for kind in ("blob", "tree", "raw") if url else ():
        start = f"{url}/{kind}/{tag}/"
        if link.startswith(start):
            path, own = link.removeprefix(start), True
    if re.match(r"https?://", path):
        return ""
    if not own:
        return "is relative: an index has no such file"
    file = path.partition("#")[0]
    return "" if not file or (tree / file).exists() else "leads to no file of the commit"
