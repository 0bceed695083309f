"""Print text with or without color, JSON and tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from trainform.cli.streams import wants_colour
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.escape import json_text, log, one_line, utf8


def print_line(text: str, stream: TextIO | None = None) -> None:
    """Print one line, whatever names are in it, to `stream` or standard output."""
    (stream or sys.stdout).write(f"{one_line(text)}\n")


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print lines of text, the names and values in which are escaped, to `stream` or standard output."""
    (stream or sys.stdout).write(text)


def flush() -> None:
    """Show what was printed, in a command that goes on."""
    sys.stdout.flush()


def print_diagnostics(diagnostics: Iterable[Diagnostic], stream: TextIO, *, short: bool = False) -> None:
    """`short`: see `render_text`."""
    told = list(diagnostics)
    if told:  # most runs have none and need not import this
        from trainform.diagnostics.text import render_text

        stream.write(render_text(told, colour=wants_colour(stream), short=short))


def print_brief(diagnostics: Iterable[Diagnostic], besides: Iterable[Diagnostic], stream: TextIO) -> None:
    """Print the most important diagnostics, all of `besides`, and how many more `validate` shows."""
    from trainform.diagnostics.order import brief

    told, left_out = brief(diagnostics)
    told += besides
    print_diagnostics(told, stream)
    if left_out:
        more = " more" if told else ""
        stream.write(f"{left_out}{more}: `trainform validate` shows them all\n")


def print_json(document: dict[str, Any] | list[Any]) -> None:
    print_bytes(json_of(document).encode() + b"\n")


def json_of(document: dict[str, Any] | list[Any]) -> str:
    """The JSON text of a document as we print it."""
    import json

    return json_text(json.dumps(document, ensure_ascii=False, indent=2))


def print_result(kind: str, **fields: Any) -> None:
    """Print one of the JSON documents of our API."""
    from trainform.diagnostics.documents import API_VERSION

    print_json({"apiVersion": API_VERSION, "kind": kind, **fields})


def print_page(text: str) -> None:
    """Print Markdown, HTML, XML or workflow commands: UTF-8 and LF on every platform."""
    print_bytes(page_bytes(text))


def page_bytes(text: str) -> bytes:
    """A page as it is printed or written to a file."""
    return utf8(log(text))


def print_bytes(data: bytes) -> None:
    """Print bytes unchanged: UTF-8 and LF on every platform."""
    out = sys.stdout.buffer
    out.write(data)
    out.flush()


def print_parts(parts: Iterable[str]) -> None:
    """Print the parts of one long text unchanged, as bytes: together they would take twice the memory."""
    for part in parts:
        sys.stdout.buffer.write(part.encode())


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print left-aligned columns with two spaces between them."""
    from trainform.diagnostics.console import aligned

    for line in aligned([head, *(list(map(one_line, row)) for row in rows)]):
        print_line(line)
