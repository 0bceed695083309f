"""The code blocks of Markdown pages, and what a comment above a block says of how it is tested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_MARK = re.compile(r"^ *<!-- (?P<name>untested|tested by|part of|excerpt of|story): (?P<value>.+?) -->$")
_ITEM = re.compile(r"^ *(?:[-*+]|\d+[.)]) +")


class Block(NamedTuple):
    """A code block. `line` is that of its first line in `page`, from 1; `language` is empty for an indented block.

    `file` is where the block's text belongs (```` ```yaml file=jobs/llm.yaml ````). `marks` are the comments above it:
    `<!-- untested: it needs a cluster -->`.
    """

    page: Path
    line: int
    language: str
    file: str
    marks: dict[str, str]
    text: str

    @property
    def place(self) -> str:
        """Page and line, as an editor opens them."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Every fenced and every indented block of a page, in order."""
    return list(_blocks(page, page.read_text(encoding="utf-8").splitlines()))


def prose(page: Path) -> str:
    """The text of a page without its blocks."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(page):
        text = text.replace(block.text, "")
    return text


def _blocks(page: Path, lines: list[str]) -> Iterator[Block]:
    marks: dict[str, str] = {}
    text_column = 0  # where the text of the list item around a line begins
    at = 0
    while at < len(lines):
        line = lines[at]
        after_blank = at == 0 or not lines[at - 1].strip() or bool(marks)
        if fence := _FENCE.match(line):
            end = _end_of_fence(lines, at, fence)
            language, file = _info(fence["info"])
            yield Block(page, at + 2, language, file, marks, _text(lines[at + 1 : end], len(fence["indent"])))
            at, marks = end + 1, {}
        elif after_blank and _column(line) >= text_column + 4:
            end = _end_of_indent(lines, at, text_column + 4)
            yield Block(page, at + 1, "", "", marks, _text(lines[at:end], text_column + 4))
            at, marks = end, {}
        else:
            marks, text_column = _after(line, marks, text_column)
            at += 1


def _after(line: str, marks: dict[str, str], text_column: int) -> tuple[dict[str, str], int]:
    """The marks that hold for what follows a line of prose, and the column of the list item that it is in."""
    if mark := _MARK.match(line):
        return marks | {mark["name"]: mark["value"]}, text_column
    if line.strip() in ("", "<!--", "-->"):  # what is hidden is a block like others
        return marks, text_column
    if item := _ITEM.match(line):
        return {}, item.end()
    return {}, text_column if _column(line) else 0


def _end_of_fence(lines: list[str], start: int, fence: re.Match[str]) -> int:
    for at in range(start + 1, len(lines)):
        if lines[at].strip() == fence["fence"]:
            return at
    return len(lines)


def _end_of_indent(lines: list[str], start: int, column: int) -> int:
    """One past the last line of an indented block; blank lines within it belong to it."""
    end = start
    for at in range(start, len(lines)):
        if not lines[at].strip():
            continue
        if _column(lines[at]) < column:
            break
        end = at
    return end + 1


def _column(line: str) -> int:
    """The column of the first character; 0 for a blank line."""
    return len(line) - len(line.lstrip()) if line.strip() else 0


def _info(info: str) -> tuple[str, str]:
    """The language and the file of a fence."""
    language, _, rest = info.strip().partition(" ")
    file = re.search(r"\bfile=\"?([^\s\"]+)", rest)
    return language, file[1] if file else ""


def _text(lines: list[str], column: int) -> str:
    return "".join(line[min(column, _column(line)) :] + "\n" for line in lines)
