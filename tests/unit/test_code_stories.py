"""Pages whose example is a whole repository: files (```` ```yaml file=jobs/llm.yaml ````) and commands
(```` ```console ````) are played in the order of the page; a file with a plugin is installed as a package. The last
command shows the code before the cure, and after it no more."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.packages import Site, site
from trainform.cli.main import run
from trainform.diagnostics.codes import CODES

PAGES = Path(__file__).parents[2] / "docs" / "codes"
BLOCK = re.compile(r"^```(?:\w+ file=(?P<file>\S+)|console)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)

UNTOLD = ["TF713"]
"""Codes of the repository whose pages tell the example in words: it needs another version of trainform. This list may
only become shorter."""

PLUGIN = re.compile(r"^class (\w+)\(trainform\.Plugin\):\n    name = \"([\w-]+)\"$", re.MULTILINE)


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
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("story") / "site") as found:
        yield found


def install(packages: Site, step: Step) -> None:
    """Install a file as a package with all plugins in it."""
    module = step.file.removesuffix(".py")
    plugins = {name: f"{module}:{kind}" for kind, name in PLUGIN.findall(step.text)}
    packages.install(module, "1.0", plugins, {step.file: step.text})


def ended(line: str, words: list[str]) -> int:
    """The exit code of a line: of trainform with these words, or of another program."""
    return run(words) if line.startswith("trainform ") else subprocess.run(["sh", "-ec", line]).returncode


@pytest.fixture
def play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], packages: Site
) -> Play:
    """Plays steps in an empty repository; what the last call of trainform said."""
    monkeypatch.chdir(tmp_path)
    nobody = {f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for name, value in ({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | nobody).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "trainform.yaml").write_text("")
    subprocess.run(["git", "init", "--quiet"], check=True)

    def command(line: str) -> Told:
        words, _, source = line.partition(" <")
        given = (tmp_path / source).read_bytes() if line.startswith("trainform ") and source else b""
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = ended(line, words.split()[1:])
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
            if PLUGIN.search(step.text):
                install(packages, step)
            elif step.file:
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
    without = [code for code in CODES if code.startswith(("TF7", "TF9")) and code not in STORIES]
    assert without == UNTOLD
