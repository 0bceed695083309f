"""Read and write small files without file objects, which make several more system calls per file."""

from __future__ import annotations

import os

_BINARY = getattr(os, "O_BINARY", 0)
_PIECE = 1 << 16
"""Bytes; nearly every manifest is smaller."""


def read_bytes(path: str) -> bytes:
    """The contents of a file. Raises OSError when it cannot be read."""
    file = os.open(path, os.O_RDONLY | _BINARY)
    try:
        pieces = []
        while piece := os.read(file, _PIECE):  # a pipe may return less than it holds
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(file)


def bytes_or_none(path: str) -> bytes | None:
    """The contents of a file; None when it cannot be read."""
    try:
        return read_bytes(path)
    except OSError:
        return None


def write_bytes(path: str, data: bytes) -> None:
    """Create or replace a file. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o666)
    try:
        while (written := os.write(file, data)) < len(data):
            data = data[written:]
    finally:
        os.close(file)
