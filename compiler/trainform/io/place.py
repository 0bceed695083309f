"""Diagnostics about a file as a whole, such as one that cannot be read."""

from __future__ import annotations

from typing import NamedTuple

from trainform.diagnostics import Diagnostic, Path


class WholeFile(NamedTuple):
    """A `Place` without lines: it may be a folder, or not exist."""

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
