"""Every code block of every page is tested, or says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.markdown import ROOT, prose
from support.stories import EMPTY, Place, Said, Story, begin, in_process, play, stories

COOKBOOK = sorted((ROOT / "docs" / "cookbook").glob("[a-z]*.md"))


@pytest.fixture
def place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    request: pytest.FixtureRequest,
) -> Place:
    """A new repository, and trainform in this process."""
    folder = tmp_path / "story"
    begin(EMPTY, folder)
    update = request.config.getoption("--update-golden")
    return in_process(folder, monkeypatch, capfdbinary, tmp_path / "programs", update=update)


@pytest.mark.parametrize("page", COOKBOOK, ids=lambda page: page.stem)
def test_a_recipe_prints_what_it_shows_and_its_repository_is_in_order(page: Path, place: Place):
    (story,) = stories(page)
    play(story.steps, place)
    assert place.say("trainform check").code == 0
    found = json.loads(place.say("trainform validate --format json").text)["diagnostics"]
    told = {each["code"] for each in found if each["severity"] != "info"}
    unexplained = sorted(code for code in told if code not in prose(page))
    assert unexplained == [], place.say("trainform validate").text


def test_the_cookbook_lists_every_recipe():
    index = (ROOT / "docs" / "cookbook" / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in COOKBOOK if f"({page.name})" not in index] == []
