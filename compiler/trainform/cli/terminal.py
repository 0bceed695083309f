"""Printing: text with or without colour, JSON, tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from trainform.diagnostics import Diagnostic


def wants_colour(stream: TextIO) -> bool:
    """Only on a terminal that can show it, and never with NO_COLOR set to anything."""
    dumb = os.environ.get("TERM") == "dumb"
    return stream.isatty() and not dumb and not os.environ.get("NO_COLOR")


def print_diagnostics(diagnostics: Iterable[Diagnostic], stream: TextIO) -> None:
    told = list(diagnostics)
    if told:  # most runs have nothing to tell, and need nothing to tell it with
        from trainform.diagnostics.text import render_text

        stream.write(render_text(told, colour=wants_colour(stream)))


def print_brief(diagnostics: Iterable[Diagnostic], besides: Iterable[Diagnostic], stream: TextIO) -> None:
    """What a user has to know now; what else `validate` would tell is counted. `besides` is told whole."""
    from trainform.diagnostics.order import brief

    told, left_out = brief(diagnostics)
    told += besides
    print_diagnostics(told, stream)
    if left_out:
        more = " more" if told else ""
        stream.write(f"{left_out}{more}: `trainform validate` shows them all\n")


def print_json(document: dict[str, Any]) -> None:
    import json

    text = json.dumps(document, ensure_ascii=False, indent=2)
    # The name of a file may hold what no text does; JSON spells a lone surrogate as Python does: \udce9.
    print_bytes(text.encode(errors="backslashreplace") + b"\n")


def print_bytes(data: bytes) -> None:
    """Documents leave as they are: UTF-8 and LF, whatever the terminal or the platform prefers."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest entry, two spaces between them."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
