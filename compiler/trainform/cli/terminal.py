"""Print text with or without color, JSON and tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from trainform.diagnostics import Diagnostic


def wants_colour(stream: TextIO) -> bool:
    """Whether to color text: only on a terminal that supports it, and not if NO_COLOR is set."""
    dumb = os.environ.get("TERM") == "dumb"
    return stream.isatty() and not dumb and not os.environ.get("NO_COLOR")


def print_diagnostics(diagnostics: Iterable[Diagnostic], stream: TextIO) -> None:
    told = list(diagnostics)
    if told:  # most runs have none and need not import this
        from trainform.diagnostics.text import render_text

        stream.write(render_text(told, colour=wants_colour(stream)))


def print_brief(diagnostics: Iterable[Diagnostic], besides: Iterable[Diagnostic], stream: TextIO) -> None:
    """Print the most important diagnostics, all of `besides`, and how many more `validate` shows."""
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
    # A file name may hold a lone surrogate, which JSON writes as Python does: \udce9.
    print_bytes(text.encode(errors="backslashreplace") + b"\n")


def print_result(kind: str, **fields: Any) -> None:
    """Print one of the JSON documents of our API."""
    from trainform.diagnostics.documents import API_VERSION

    print_json({"apiVersion": API_VERSION, "kind": kind, **fields})


def print_bytes(data: bytes) -> None:
    """Print bytes unchanged: UTF-8 and LF on every platform."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print left-aligned columns with two spaces between them."""
    from trainform.diagnostics.console import aligned

    sys.stdout.writelines(f"{line}\n" for line in aligned([head, *rows]))
