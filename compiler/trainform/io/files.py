"""Read and write small files without file objects, which make several more system calls per file. A file is opened only
here. What a repository holds is read by `links.read_file`, which also looks where the folders above it lead."""

from __future__ import annotations

import errno
import os
from stat import S_ISREG

LIMIT = 64 * 2**20
"""Maximum bytes of a file in a repository. Inputs are limited further when they are decoded."""

_BINARY = getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_READ = os.O_RDONLY | _BINARY
_READ_PLAIN = _READ | _NOFOLLOW | _NONBLOCK | getattr(os, "O_NOCTTY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | _BINARY | _NOFOLLOW
_NOT_PLAIN = (errno.ELOOP, errno.EMLINK, errno.ENXIO)
"""What opening a link (without following it) or a socket gives."""


class NotPlainFile(OSError):
    """A link, a folder, a device, a pipe or a socket."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EINVAL, "not a regular file", path)


def read_bytes(path: str) -> bytes:
    """The contents of a file of an installed package, which may be a link. Raises OSError."""
    return _read(os.open(path, _READ), path, limit=None)


def read_plain(path: str, limit: int | None = LIMIT) -> bytes:
    """The contents of a regular file; a link is not followed. Raises NotPlainFile for anything else, and OSError if it
    cannot be read or has more bytes than `limit`."""
    if not _NOFOLLOW and os.path.islink(path):
        raise NotPlainFile(path)
    try:
        file = os.open(path, _READ_PLAIN)
    except OSError as error:
        if error.errno in _NOT_PLAIN:
            raise NotPlainFile(path) from error
        raise
    return _read(file, path, limit)


def _read(file: int, path: str, limit: int | None) -> bytes:
    """Read and close a file, in one call of `read` if it has the size that its inode says."""
    try:
        found = os.fstat(file)
        if not S_ISREG(found.st_mode):
            raise NotPlainFile(path)
        left = found.st_size if limit is None else limit
        if found.st_size > left:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        data = os.read(file, found.st_size + 1)
        if len(data) == found.st_size:
            return data
        return _read_on(file, path, data, limit)
    finally:
        os.close(file)


def _read_on(file: int, path: str, data: bytes, limit: int | None) -> bytes:
    """The rest of a file that grows or shrinks while it is read, or whose file system gives less than asked for."""
    pieces, size = [data], len(data)
    while piece := os.read(file, 1 << 16):
        pieces.append(piece)
        size += len(piece)
        if limit is not None and size > limit:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return b"".join(pieces)


def bytes_or_none(path: str) -> bytes | None:
    """The contents of a regular file; None when there is none or it cannot be read."""
    try:
        return read_plain(path)
    except OSError:
        return None


def write_bytes(path: str, data: bytes, *, mode: int = 0o666, new: bool = False) -> None:
    """Create or replace a file, never through a link; `new`: it must not exist. Raises OSError."""
    file = os.open(path, _WRITE | (os.O_EXCL if new else os.O_TRUNC), mode)
    try:
        while (written := os.write(file, data)) < len(data):
            data = data[written:]
    finally:
        os.close(file)
