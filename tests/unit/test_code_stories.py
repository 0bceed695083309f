"""Pages whose example is a whole repository: files (```` ```yaml file=jobs/llm.yaml ````) and commands
(```` ```console ````) are played in the order of the page. The last command shows the code before the cure, and after
it no more."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from trainform.cli.main import run
from trainform.diagnostics.codes import CODES

PAGES = Path(__file__).parents[2] / "docs" / "codes"
BLOCK = re.compile(r"^```(?:\w+ file=(?P<file>\S+)|console)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)

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


class Step(NamedTuple):
    """A file to write, or commands with some lines of what they print."""

    file: str
    text: str


def steps(text: str) -> list[Step]:
    return [Step(each["file"] or "", each["text"]) for each in BLOCK.finditer(text)]


def stories() -> dict[str, tuple[list[Step], list[Step]]]:
    """The steps of each page that has any, before and after the heading of the cure."""
    found = {}
    for code in CODES:
        before, _, after = (PAGES / f"{code}.md").read_text(encoding="utf-8").partition("\n## Cure\n")
        if steps(before):
            found[code] = (steps(before), steps(after))
    return found


STORIES = stories()


class Told(NamedTuple):
    code: int
    text: str


Play = Callable[[list[Step]], Told]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Play:
    """Plays steps in an empty repository; what the last call of trainform said."""
    monkeypatch.chdir(tmp_path)
    nobody = {f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for name, value in ({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | nobody).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "trainform.yaml").write_text("")
    subprocess.run(["git", "init", "--quiet"], check=True)

    def command(line: str) -> Told:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        words = line.split()
        code = run(words[1:]) if words[0] == "trainform" else subprocess.run(["sh", "-ec", line]).returncode
        sys.stdout.flush()
        said = capfdbinary.readouterr()
        return Told(code, (said.out + said.err).decode())

    def script(text: str) -> Told:
        told = Told(0, "")
        for line in text.splitlines():
            if line.startswith("$ "):
                told = command(line.removeprefix("$ "))
                assert told.code == 0 or line.startswith("$ trainform "), told.text
            else:
                assert line.removesuffix("…").strip() in told.text
        return told

    def all_of(given: list[Step]) -> Told:
        told = Told(0, "")
        for step in given:
            if step.file:
                path = tmp_path / step.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step.text)
            else:
                told = script(step.text)
        return told

    return all_of


@pytest.mark.parametrize("code", STORIES)
def test_the_story_shows_the_code_and_its_cure_ends_it(play: Play, code: str):
    before, after = STORIES[code]
    assert re.search(rf"\b{code}\b", play(before).text)
    cured = play(after)
    assert cured.text
    assert not re.search(rf"\b{code}\b", cured.text)
    assert cured.code in (0, 1)
    assert " error TF" not in cured.text


def test_pages_of_the_repository_without_a_story_are_known():
    without = [code for code in CODES if code.startswith(("TF7", "TF8", "TF9")) and code not in STORIES]
    assert without == UNTOLD
