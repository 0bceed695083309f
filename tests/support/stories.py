"""Stories: the files and commands of a page, done in its order, as its reader would.

A file is a block with a name (```` ```yaml file=jobs/llm.yaml ````), commands are a block `console`: lines that begin
with `$ `, each with the lines that it prints. `…` alone stands for any lines, within a line for any text; where nothing
is shown, anything may be printed. A block `python` is executed. `<!-- excerpt of: PATH -->` above a YAML block says
that a file of the story has at least what the block shows. What an HTML comment hides from readers is done, too.

`pytest --update-golden` writes into the page what commands print now; the diff is yours to review.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from difflib import unified_diff
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from support.markdown import ROOT, Block, blocks
from trainform.cli import BUG
from trainform.cli.main import run

EMPTY = "a new repository"
"""How a story begins where no `<!-- story: … -->` says otherwise: git, and an empty trainform.yaml."""

CLONE = "a clone in the folder trainform"
"""Such a story begins with what a new user has. `test_first_job.py` does it in a real shell."""

ANYTHING = "…"


class Said(NamedTuple):
    """The exit code of a command, and what it printed, both streams as a terminal shows them."""

    code: int
    text: str


class Command(NamedTuple):
    """A command with the lines that the page shows below it. `line` is its place in the page, from 1."""

    page: Path
    line: int
    text: str
    shown: list[str]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Story(NamedTuple):
    """What is done one after the other in one folder, from how the story `begins`."""

    begins: str
    steps: list[Block]


class Place(NamedTuple):
    """The folder of a story, and a shell in it. With `update`, pages are corrected rather than found wrong. `wrote` is
    told of each file."""

    folder: Path
    say: Callable[[str], Said]
    update: bool = False
    wrote: Callable[[Block], None] = lambda file: None


def stories(page: Path) -> list[Story]:
    """The stories of a page. A mark `story` begins another one."""
    found = [Story(EMPTY, [])]
    for block in blocks(page):
        if begins := block.marks.get("story"):
            found.append(Story(begins, []))
        if is_step(block):
            found[-1].steps.append(block)
    return [story for story in found if story.steps]


def is_step(block: Block) -> bool:
    """Whether a story does something with a block."""
    if {"untested", "tested by"} & block.marks.keys():
        return False
    return bool(block.file) or block.language in ("console", "python") or "excerpt of" in block.marks


def commands(block: Block) -> Iterator[Command]:
    at, lines = 0, block.text.splitlines()
    while at < len(lines):
        assert lines[at].startswith("$ "), f"{block.place}: begins with no command: write `$ trainform …`"
        end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("$ ")), len(lines))
        yield Command(block.page, block.line + at, lines[at].removeprefix("$ "), lines[at + 1 : end])
        at = end


def play(steps: list[Block], place: Place) -> Said:
    """Do the steps; what the last command said. A program other than trainform that fails, and anything that is not as
    the page shows it, fails the test."""
    said, wrong = Said(0, ""), []
    for block in steps:
        if block.file:
            path = place.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            place.wrote(block)
        elif block.language == "python":
            exec(compile(block.text, block.place, "exec"), {})
        elif wanted := block.marks.get("excerpt of"):
            real = yaml.safe_load((place.folder / wanted).read_text(encoding="utf-8"))
            assert contains(real, yaml.safe_load(block.text)), f"{block.place}: {wanted} does not have all of this"
        else:
            for command in commands(block):
                said = place.say(command.text)
                assert said.code == 0 or command.text.startswith("trainform "), f"{command.place}: {said.text}"
                assert said.code != BUG or "This is a bug in plugin" in said.text, f"{command.place}: {said.text}"
                if command.shown and not matches(command.shown, said.text):
                    wrong.append((command, said.text.splitlines()))
    if wrong and place.update:
        correct(wrong)
    elif wrong:
        pytest.fail("\n\n".join(starmap(difference, wrong)), pytrace=False)
    return said


def difference(command: Command, real: list[str]) -> str:
    """How what a page shows differs from what a command printed."""
    lines = unified_diff(command.shown, real, "the page", "the command", lineterm="", n=1)
    told = f"{command.place}: `{command.text}` prints something else: correct the page, or run pytest --update-golden"
    return "\n".join([told, *lines])


def correct(wrong: list[tuple[Command, list[str]]]) -> None:
    """Write into a page what its commands print now."""
    page = wrong[0][0].page
    lines = page.read_text(encoding="utf-8").splitlines()
    for command, real in reversed(wrong):
        end = command.line + len(command.shown)
        assert lines[command.line - 1 : end] == [f"$ {command.text}", *command.shown], (
            f"{command.place}: another story of this page was corrected: run pytest --update-golden again"
        )
        lines[command.line : end] = real
    page.write_text("\n".join([*lines, ""]), encoding="utf-8")


def matches(shown: list[str], real: str) -> bool:
    """Whether lines with `…` describe a text. Blanks at ends of lines do not count."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == ANYTHING else re.escape(line.rstrip()).replace(ANYTHING, ".*?") + "\n"
        for line in _without_blank_end(shown)
    )
    text = "".join(line.rstrip() + "\n" for line in _without_blank_end(real.splitlines()))
    return re.fullmatch(pattern, text) is not None


def _without_blank_end(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def contains(whole: Any, part: Any) -> bool:
    """Whether an object has at least the fields of another; of a list, its entries in that order."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], part[key]) for key in part)
    if isinstance(part, list):
        rest = iter(whole) if isinstance(whole, list) else iter(())
        return all(any(contains(each, wanted) for each in rest) for wanted in part)
    return bool(whole == part)


NOBODY = {f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **NOBODY}
"""The environment in which no setting of the machine reaches git."""


def begin(story: str, folder: Path) -> None:
    """The files that a story begins with."""
    folder.mkdir(exist_ok=True)
    if story == EMPTY:
        (folder / "trainform.yaml").write_text("")
        init = ["git", "init", "--quiet", "--initial-branch=main", str(folder)]
        subprocess.run(init, env={**os.environ, **ALONE}, check=True)
    else:
        assert story == "an empty folder", f"no story begins with {story!r}"


def in_process(
    folder: Path, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[bytes], programs: Path, *, update: bool
) -> Place:
    """A place whose shell calls trainform in this process, as that is quick. Lines with pipes and the like go to `sh`,
    which finds `trainform` in the folder `programs`."""
    programs.mkdir(exist_ok=True)
    program = programs / "trainform"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m trainform "$@"\n')
    program.chmod(0o755)
    for name, value in (ALONE | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}).items():
        patch.setenv(name, value)
    patch.chdir(folder)

    def say(line: str) -> Said:
        captured.readouterr()
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        plain = line.startswith("trainform ") and not re.search(r"[|&;<>$*`]", line)
        if plain:
            with redirect_stderr(sys.stdout):
                code = run(shlex.split(line, comments=True)[1:])
        else:
            script = ["sh", "-ec", line]
            code = subprocess.run(script, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT).returncode
        sys.stdout.flush()
        return Said(code, captured.readouterr().out.decode())

    return Place(folder, say, update)
