"""The reference of the command line, from the texts that `--help` shows."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from trainform.cli.app import app

HEAD = """\
# Commands

Every command with its options, as `trainform COMMAND --help` prints them; generated from the code.
"""
SHARED = ("--root", "--env", "--shard", "--workers", "--no-cache", "--quiet", "--verbose")
"""Options that mean the same in every command that has them."""
TESTED = "<!-- tested by: tests/unit/test_generated_pages.py -->"
WIDTH = 10_000
"""No line is broken."""
EXTRAS = re.compile(r" *\[((?:default: |x>=)[^\]]*)\]$")
"""What click adds to the text of an option: `[default: 1; x>=1]`."""

PARTS = re.compile(r"""`[^`]*`|(?P<code>"trainform[^"]*"|(?<![\w-])--[a-z][\w-]*)|[<*]""")
"""Code, what should be code, and what Markdown would take for markup."""


def commands() -> str:
    root = click.Context(app, info_name="trainform", terminal_width=WIDTH, max_content_width=WIDTH)
    found = [each for each in _all(root) if each.parent]
    shared = {name: option for each in reversed(found) for name, option in _options(each).items()}
    lines = [HEAD, *_paragraphs(app), "", "## Options of many commands", ""]
    lines += ["These mean the same wherever a command has them.", ""]
    lines += [shared[name] for name in SHARED]
    lines += ["", "`--root` and `--env` may also stand before the command's name. Every command has `-h, --help`."]
    for each in found:
        lines += ["", *_section(each)]
    return "\n".join(lines) + "\n"


def _section(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f"{'#' * (1 + context.command_path.count(' '))} {context.command_path}"
    yield ""
    yield from _paragraphs(command)
    yield from ("", f"Usage: `{context.command_path} {' '.join(command.collect_usage_pieces(context))}`")
    options = _options(context)
    own = [text for name, text in options.items() if name not in SHARED]
    yield from ("", *own) if own else ()
    shared = [f"`{name}`" for name in SHARED if name in options]
    yield from ("", f"Also: {', '.join(shared)}.") if shared else ()


def _all(context: click.Context) -> Iterator[click.Context]:
    """A command and all below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command
            yield from _all(click.Context(command, parent=context, info_name=name))


def _options(context: click.Context) -> dict[str, str]:
    """Each option as an item of a list, by its long name."""
    found = {}
    for option in context.command.get_params(context):
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record and "--help" not in option.opts:
            names, text = record
            meaning = _prose(EXTRAS.sub(_extras, text).strip())
            found[max(option.opts, key=len)] = f"- `{names}`" + (f": {meaning}" if meaning else "")
    return found


def _extras(found: re.Match[str]) -> str:
    """`[default: 1; x>=1]` as sentences."""
    words = found[1].replace("default:", "Default:").replace("x>=", "At least ").split("; ")
    return "".join(f" {each}." for each in words)


def _prose(text: str) -> str:
    """Text with its options and commands as code, whose placeholders (`<env>`) and stars are no markup."""
    return PARTS.sub(_part, text)


def _part(found: re.Match[str]) -> str:
    if found["code"]:
        return f"`{found['code'].strip(chr(34))}`"
    return {"<": "&lt;", "*": "\\*"}.get(found[0], found[0])


def _paragraphs(command: click.Command) -> Iterator[str]:
    """The text of a command."""
    for number, paragraph in enumerate(inspect.cleandoc(command.help or "").split("\n\n")):
        yield from [""] if number else []
        if paragraph.startswith("\b\n"):
            yield from _kept(paragraph.removeprefix("\b\n"))
        else:
            yield _prose(" ".join(paragraph.split()))


def _kept(text: str) -> Iterator[str]:
    """A block that click does not wrap: a sentence with a list, or lines of code."""
    head, *items = text.split("\n- ")
    if items:
        yield from (head, "", *(f"- {' '.join(item.split())}" for item in items))
    else:
        yield from (TESTED, "```text", *text.splitlines(), "```")
