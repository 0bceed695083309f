"""The message and title of a problem, shared by the machine-readable formats."""

from __future__ import annotations

from trainform.diagnostics.codes import CODES
from trainform.diagnostics.diagnostic import Diagnostic, dotted

STDIN = "<stdin>"
"""The file name of stdin, which services cannot show."""


def message(diagnostic: Diagnostic) -> str:
    """`spec.trainer.numNodes: must be a number`, with the hint on its own line."""
    field = f"{dotted(diagnostic.path)}: " if diagnostic.path else ""
    hint = f"\nhelp: {diagnostic.hint}" if diagnostic.hint else ""
    return field + diagnostic.message + hint


def title(code: str) -> str:
    """The short title of a code; codes of third-party plugins have none."""
    return CODES.get(code, code)
