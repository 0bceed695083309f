"""The pages of the repository as the generator takes them: links that leave docs/ lead somewhere else."""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

DOCS = "docs"
ALSO_PAGES = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
"""Files outside of docs/ that are pages, too, by the names that they get."""

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^)\s]+)\)")
_CODE = re.compile(
    r"^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence) *$|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)", re.M | re.S
)
_PLACE = "\ue000"
"""Stands for a piece of code, whose brackets are no links."""
_FENCE_OF_FILE = re.compile(r"^( *(?:`{3,}|~{3,})\w*) file=\"?([^\s\"]+)\"?", re.M)

_CONSOLE = re.compile(r"^( *)```console$.*?^\1```$", re.M | re.S)
_LIKE_A_PROMPT = re.compile(r"^(\s*)(?=[#%])", re.M)
"""What is printed, and the highlighter would take for the prompt of root and a command."""
_WORD_JOINER = "\u2060"


def stage(root: Path, out: Path, url: str) -> None:
    """Copies docs/ and the other pages to the folder `out`. `url`: the page of the project, or nothing."""
    shutil.copytree(root / DOCS, out)
    for path in sorted((root / DOCS).rglob("*.md")):
        name = path.relative_to(root).as_posix()
        (out / path.relative_to(root / DOCS)).write_text(
            page(path.read_text(encoding="utf-8"), name, url), encoding="utf-8"
        )
    for name, staged in ALSO_PAGES.items():
        (out / staged).write_text(page((root / name).read_text(encoding="utf-8"), name, url), encoding="utf-8")


def page(text: str, name: str, url: str) -> str:
    """The text of the page `name`, a path from the root. Links follow their targets, blocks that are files have titles,
    and what commands print stays apart from them."""
    code = [found[0] for found in _CODE.finditer(text)]
    prose = _LINK.sub(lambda link: _link(link, name, url), _CODE.sub(_PLACE, text))
    whole = re.sub(_PLACE, lambda _: code.pop(0), prose)
    whole = _CONSOLE.sub(lambda block: _LIKE_A_PROMPT.sub(rf"\1{_WORD_JOINER}", block[0]), whole)
    return _FENCE_OF_FILE.sub(r'\1 title="\2"', whole)


def _link(link: re.Match[str], name: str, url: str) -> str:
    path, mark, anchor = link["target"].partition("#")
    if "://" in path or path.startswith("mailto:") or not path:
        return link[0]
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
    if staged := _staged(target):
        here = posixpath.dirname(_staged(name) or "")
        return f"{link['picture']}[{link['text']}]({posixpath.relpath(staged, here or '.')}{mark}{anchor})"
    return f"[{link['text']}]({url}/blob/HEAD/{target}{mark}{anchor})" if url else link["text"]


def _staged(path: str) -> str | None:
    """Where a file of the repository lies among the pages; None if it is no part of them."""
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    return ALSO_PAGES.get(path)
