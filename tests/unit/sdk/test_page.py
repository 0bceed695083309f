"""`docs/sdk.md` is a story: its cells run in order, as in a notebook, and print what the page says."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from trainform.cli.main import run

PAGE = Path(__file__).parents[3] / "docs" / "sdk.md"
BLOCK = re.compile(r"^```(python|text script|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Cell(NamedTuple):
    kind: str
    text: str


def cells() -> list[Cell]:
    return [Cell(*found.groups()) for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]


def pattern(text: str) -> re.Pattern[str]:
    """A text with `…` for any characters of a line."""
    return re.compile(re.escape(text).replace("…", ".*"))


def play(number: int, text: str, scope: dict[str, object]) -> None:
    """Run a cell as notebooks do: Python finds the source of its functions by the cell's name."""
    name = f"<docs/sdk.md cell {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec", dont_inherit=True), scope)


def commands(text: str) -> list[tuple[list[str], str]]:
    """The command lines, without `trainform`, and what each prints."""
    parts = re.split(r"^\$ trainform ", text, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0].split(), part.partition("\n")[2]) for part in parts]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    assert run(["init", str(tmp_path), "--quiet", "--ci", "none"]) == 0
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_story_is_true(repository, capfd):
    scope: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for number, cell in enumerate(cells()):
        if cell.kind == "python":
            play(number, cell.text, scope)
            printed = capfd.readouterr().out
        elif cell.kind == "text script":
            assert printed == f"{scope['name']}\n"
            assert (repository / f"jobs/{str(scope['name']).replace('-', '_')}.py").read_text() == cell.text
        elif cell.kind == "text":
            assert printed == cell.text
        else:
            for words, shown in commands(cell.text):
                assert run(words) == 0
                assert pattern(shown).fullmatch(capfd.readouterr().out)
    assert len(set(scope["names"])) == 3  # type: ignore[call-overload]
    assert run(["validate", "--quiet"]) == 0


def test_the_page_has_cells_of_every_kind():
    assert {cell.kind for cell in cells()} == {"python", "text script", "console", "text"}
