"""Command lines that a page names without running them: do the commands and options exist?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from support.markdown import Block
from trainform.cli.app import app

ROOT = Path(__file__).parents[2]
MODULES = {"mutate": "mutation", "bench": "benchmarks"}
"""The module below `tests/` that a command of `./dev` runs, where its name is another one."""


def of_this_project(block: Block) -> list[list[str]]:
    """The words of each line of `trainform`, `./dev` or a script; none if this is no block of commands."""
    return [words for words in _commands(block) if _is_ours(words[0])] if block.language in ("", "sh") else []


def _commands(block: Block) -> Iterator[list[str]]:
    """The words of each command, without comments and the variables before it."""
    for line in block.text.replace("\\\n", " ").splitlines():
        for command in re.split(r" && | \| ", line):
            words = _words(command)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words = words[1:]
            if words:
                yield words


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, comments=True)
    except ValueError:  # an apostrophe of prose
        return command.split()


def _is_ours(program: str) -> bool:
    return program.rpartition("/")[2] == "trainform" or program == "./dev" or program.startswith(("ci/", "scripts/"))


def verify(words: list[str]) -> None:
    """Fail unless a line's program, command and options exist. Arguments may stand for others: JOB."""
    program, *rest = words
    if program == "./dev":
        _verify_dev(rest)
    elif program.rpartition("/")[2] == "trainform":
        _verify_trainform(rest)
    else:
        assert (ROOT / program).is_file(), f"there is no {program}"


def _verify_trainform(words: list[str]) -> None:
    command: click.Command = app
    context = click.Context(app)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found, f"trainform has no command {words[0]!r}"
        command, words = found, words[1:]
        context = click.Context(command, parent=context)
    command.make_parser(context).parse_args(args=words)


def _verify_dev(words: list[str]) -> None:
    """Options of `./dev` are those in its help, or of the module that it runs."""
    command, *rest = words
    help = (ROOT / "dev").read_text(encoding="utf-8")
    assert f"\n  {command} " in help, f"./dev has no command {command}"
    sources = (ROOT / "tests" / MODULES.get(command, command)).glob("*.py")
    known = help + "".join(path.read_text(encoding="utf-8") for path in sources)
    unknown = [word for word in rest if word.startswith("--") and word.partition("=")[0] not in known]
    assert unknown == [], f"./dev {command} has no such option"
