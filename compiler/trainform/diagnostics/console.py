"""Text for a terminal: styles and aligned columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypedDict

from trainform.diagnostics.excerpt import columns

MOST_LINES = 20
"""Most lines of one list on a screen; the rest is counted."""

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Style(TypedDict, total=False):
    """The `click.style` arguments that we use."""

    fg: str
    bold: bool
    dim: bool


def styled(text: str, style: Style, *, colour: bool) -> str:
    """`text` with ANSI escapes; unchanged without `colour` or if `text` or `style` is empty."""
    if not (colour and text and style):
        return text
    import click

    return click.style(text, **style)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """One line per row, with columns padded to their widest cell and two spaces between them. Cells may be styled."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    padded = ([cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  ".join(cells).rstrip() for cells in padded]


def _width(cell: str) -> int:
    return columns(_ESCAPES.sub("", cell))
