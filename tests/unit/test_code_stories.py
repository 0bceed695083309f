"""Pages of codes whose example is a whole repository: files and commands are played in the order of the page; a file
with a plugin is installed as a package. The last command shows the code before the cure, and after it no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from support.markdown import Block, blocks
from support.packages import Site, site
from support.stories import EMPTY, Said, begin, in_process, is_step, play
from trainform.diagnostics.codes import CODES

PAGES = Path(__file__).parents[2] / "docs" / "codes"

UNTOLD = ["TF894"]
"""Codes of the repository whose pages tell the example in words: it needs another machine. This list may only become
shorter."""

PLUGIN = re.compile(r"^class (\w+)\(trainform\.Plugin\):\n    name = \"([\w-]+)\"$", re.MULTILINE)


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
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("story") / "site") as found:
        yield found


def install(packages: Site, file: Block) -> None:
    """Install a file as a package with all plugins in it, if there are any."""
    module = file.file.removesuffix(".py")
    if plugins := {name: f"{module}:{kind}" for kind, name in PLUGIN.findall(file.text)}:
        packages.install(module, "1.0", plugins, {file.file: file.text})


@pytest.fixture
def playing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    request: pytest.FixtureRequest,
    packages: Site,
) -> Play:
    """Plays steps in an empty repository; what the last command said."""
    folder = tmp_path / "story"
    begin(EMPTY, folder)
    place = in_process(
        folder, monkeypatch, capfdbinary, tmp_path / "programs", update=request.config.getoption("--update-golden")
    )
    return lambda steps: play(steps, place._replace(wrote=partial(install, packages)))


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
    without = [code for code in CODES if code.startswith(("TF7", "TF8", "TF9")) and code not in STORIES]
    assert without == UNTOLD
