"""A file as a whole, as the place of a problem: for files that cannot be read, or not yet."""

from __future__ import annotations

from typing import NamedTuple

from trainform.diagnostics import Diagnostic, Path, Position


class WholeFile(NamedTuple):
    """A `Place` without contents: every path stands at the file's beginning."""

    file: str

    def position(self, path: Path) -> Position:
        return Position(1, 1)

    def line(self, number: int) -> str:
        return ""


def file_error(code: str, file: str, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(code, "error", message, hint, place=WholeFile(file))


def os_error(code: str, file: str, error: OSError, doing: str) -> Diagnostic:
    """`cannot be read: Permission denied`, for the file or folder `file`."""
    return file_error(code, file, f"{doing}: {error.strerror or error}")
