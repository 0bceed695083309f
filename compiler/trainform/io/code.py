"""Digests of the code of installed packages, which may change without a new version."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from importlib.util import find_spec

from trainform.io.files import read_bytes


def digest_of_modules(modules: Iterable[str]) -> str:
    """SHA-256 (hex) of the modules' files and all other files of their packages."""
    digest = hashlib.sha256()
    for module in sorted({*modules}):
        for file in files_of(module):
            data = read_bytes(file)
            digest.update(f"{module}\0{os.path.basename(file)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def files_of(module: str) -> list[str]:
    """All files of the module's package, sorted; only its own file if it is in none. Empty if it cannot be found."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return []
    if spec is None or not spec.origin:
        return []
    if not spec.parent:
        return [os.path.realpath(spec.origin)]
    found = []
    for above, folders, files in os.walk(os.path.realpath(os.path.dirname(spec.origin))):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        found += [os.path.join(above, name) for name in sorted(files)]
    return found
