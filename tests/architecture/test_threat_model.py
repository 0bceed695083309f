"""Every promise on the page about threats is held by a test that exists, and every hostile test is on the page."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "threat-model.md"
HOSTILE = ROOT / "tests" / "hostile"


def named_tests(text: str) -> list[tuple[str, str]]:
    """Each (file, test) that a page names; the test is empty where it names a whole file."""
    found = []
    file = ""
    for path, name in re.findall(r"\[(tests/[\w/]+\.py)\]|`::(\w+)`", text):
        file = path or file
        found.append((file, name))
    return found


def test_the_reader_of_the_page_sees_files_and_tests():
    text = "[tests/a.py](../tests/a.py)`::test_x`, `::test_y` and [tests/b.py](../tests/b.py)"
    expected = [("tests/a.py", ""), ("tests/a.py", "test_x"), ("tests/a.py", "test_y"), ("tests/b.py", "")]
    assert named_tests(text) == expected


def exists(file: str, test: str) -> bool:
    path = ROOT / file
    if not path.is_file():
        return False
    functions = {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}
    return not test or test in functions


def to_check() -> list[tuple[str, str]]:
    """The hostile tests come as a whole folder."""
    return [
        (file, test)
        for file, test in named_tests(PAGE.read_text())
        if HOSTILE.is_dir() or not file.startswith("tests/hostile/")
    ]


@pytest.mark.parametrize(("file", "test"), to_check())
def test_each_test_that_the_page_names_exists(file, test):
    assert exists(file, test)


def test_every_promise_has_a_test():
    promises = PAGE.read_text().partition("## Promises")[2].partition("\n## ")[0]
    rows = [line for line in promises.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 15
    assert [row for row in rows if not named_tests(row)] == []


def test_every_hostile_test_is_on_the_page():
    named = {file for file, _ in named_tests(PAGE.read_text())}
    files = {path.relative_to(ROOT).as_posix() for path in HOSTILE.glob("test_*.py")}
    assert files - named == set()
