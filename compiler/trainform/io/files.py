"""Whole small files, read and written without file objects: those would ask the system several questions more
about each of thousands."""

from __future__ import annotations

import os

_BINARY = getattr(os, "O_BINARY", 0)
_PIECE = 1 << 16
"""Bytes: more than nearly every manifest has."""


def read_bytes(path: str) -> bytes:
    """Raises OSError for what cannot be read."""
    file = os.open(path, os.O_RDONLY | _BINARY)
    try:
        pieces = []
        while piece := os.read(file, _PIECE):  # a pipe gives less at a time than it holds
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(file)


def write_bytes(path: str, data: bytes) -> None:
    """A new file, or an old one with new contents. Raises OSError where the disk does not take it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o666)
    try:
        while (written := os.write(file, data)) < len(data):
            data = data[written:]
    finally:
        os.close(file)
