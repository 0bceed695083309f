"""Links and headings of Markdown pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from support.markdown import ROOT, blocks

_LINK = re.compile(r"""\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|(?:src|href|srcset)="([^"]+)\"""")


class Link(NamedTuple):
    """A link or picture: where it stands in `page`, from line 1, and its `target` as written."""

    page: Path
    line: int
    target: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def links(page: Path) -> list[Link]:
    """The links and pictures of a page, without what only looks like one in code."""
    text = _without_code(page)
    return [Link(page, text.count("\n", 0, found.start()) + 1, found[1] or found[2]) for found in _LINK.finditer(text)]


def anchors(page: Path) -> set[str]:
    """What `#…` in a link to a page may name, as forges derive it from the headings."""
    seen: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", _without_blocks(page), re.MULTILINE):
        text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
    return {slug + (f"-{number}" if number else "") for slug, most in seen.items() for number in range(most + 1)}


def _without_code(page: Path) -> str:
    """The text of a page with its code left out and its lines kept."""
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", _blank, _without_blocks(page), flags=re.DOTALL)


def _without_blocks(page: Path) -> str:
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in blocks(page):
        for at in range(block.line - 1, block.line - 1 + block.text.count("\n")):
            lines[at] = ""
    return "\n".join("" if line.lstrip().startswith(("```", "~~~")) else line for line in lines)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")
