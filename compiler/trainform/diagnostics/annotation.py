"""What a machine format tells of one problem, in a few plain words: shared by those formats."""

from __future__ import annotations

from trainform.diagnostics.codes import CODES
from trainform.diagnostics.diagnostic import Diagnostic, dotted

STDIN = "<stdin>"
"""The file name of a stream, which no service could show."""


def message(diagnostic: Diagnostic) -> str:
    """`spec.trainer.numNodes: must be a number`, and what to write instead on a line of its own."""
    field = f"{dotted(diagnostic.path)}: " if diagnostic.path else ""
    hint = f"\nhelp: {diagnostic.hint}" if diagnostic.hint else ""
    return field + diagnostic.message + hint


def title(code: str) -> str:
    """The short title of a code. A plugin from elsewhere may bring codes of its own, which have none."""
    return CODES.get(code, code)
