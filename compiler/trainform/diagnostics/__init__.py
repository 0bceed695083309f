"""What is wrong, where, and what to write instead: the compiler's interface to its users."""

from trainform.diagnostics.diagnostic import (
    Diagnostic,
    Path,
    Place,
    Position,
    Severity,
    dotted,
)

__all__ = ["Diagnostic", "Path", "Place", "Position", "Severity", "dotted"]
