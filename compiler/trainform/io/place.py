"""A file as a whole, as the place of a problem: for files that cannot be read, or not yet."""

from __future__ import annotations

from typing import NamedTuple

from trainform.diagnostics import Diagnostic, Path


class WholeFile(NamedTuple):
    """A `Place` without contents: no line of it is at fault, and it may be a folder, or not be there at all."""

    file: str

    def position(self, path: Path) -> None:
        return None

    def line(self, number: int) -> str:
        return ""


def file_error(code: str, file: str, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(code, "error", message, hint, place=WholeFile(file))


def os_error(code: str, file: str, error: OSError, doing: str) -> Diagnostic:
    """`cannot be read: Permission denied`, for the file or folder `file`."""
    return file_error(code, file, f"{doing}: {error.strerror or error}")
