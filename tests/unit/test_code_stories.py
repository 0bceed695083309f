"""Pages of codes whose example is a whole repository: files and commands are played in the order of the page. The last
command shows the code before the cure, and after it no more."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.markdown import Block, blocks
from support.stories import EMPTY, Said, begin, in_process, is_step, play
from trainform.diagnostics.codes import CODES

PAGES = Path(__file__).parents[2] / "docs" / "codes"

UNTOLD = [
    "TF701",
    "TF707",
    "TF713",
    "TF720",
    "TF721",
    "TF732",
    "TF735",
    "TF901",
    "TF902",
    "TF903",
    "TF904",
    "TF905",
    "TF906",
]
"""Codes of the repository whose pages tell the example in words: they need a full disk, another version of trainform,
another program, or a plugin with a bug. This list may only become shorter."""


def stories() -> dict[str, tuple[list[Block], list[Block]]]:
    """The steps of each page that has any, before and after the heading of the cure."""
    found = {}
    for code in CODES:
        page = PAGES / f"{code}.md"
        cure = page.read_text(encoding="utf-8").partition("\n## Cure\n")[0].count("\n") + 1
        steps = [block for block in blocks(page) if is_step(block)]
        before = [step for step in steps if step.line < cure]
        if before:
            found[code] = (before, steps[len(before) :])
    return found


STORIES = stories()

Play = Callable[[list[Block]], Said]


@pytest.fixture
def playing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    request: pytest.FixtureRequest,
) -> Play:
    """Plays steps in an empty repository; what the last command said."""
    folder = tmp_path / "story"
    begin(EMPTY, folder)
    place = in_process(
        folder, monkeypatch, capfdbinary, tmp_path / "programs", update=request.config.getoption("--update-golden")
    )
    return lambda steps: play(steps, place)


@pytest.mark.parametrize("code", STORIES)
def test_the_story_shows_the_code_and_its_cure_ends_it(playing: Play, code: str):
    before, after = STORIES[code]
    assert re.search(rf"\b{code}\b", playing(before).text)
    cured = playing(after)
    assert cured.text
    assert not re.search(rf"\b{code}\b", cured.text)
    assert cured.code in (0, 1)
    assert " error TF" not in cured.text


def test_pages_of_the_repository_without_a_story_are_known():
    without = [code for code in CODES if code.startswith(("TF7", "TF9")) and code not in STORIES]
    assert without == UNTOLD
