"""Diagnostics, the compiler's interface to its users: what is wrong, where, and how to fix it."""

from trainform.diagnostics.diagnostic import (
    Diagnostic,
    Path,
    Place,
    Position,
    Severity,
    dotted,
)

__all__ = ["Diagnostic", "Path", "Place", "Position", "Severity", "dotted"]
