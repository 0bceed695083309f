"""Records of what was proven, in git's own folder: never committed, of this clone alone, free to be deleted."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import Any

from trainform.io.files import write_bytes
from trainform.io.git import GitError, git_folder


def read(root: str, purpose: str) -> dict[str, Any] | None:
    """The record for a purpose; None where there is none as `write` wrote it."""
    try:
        with open(_path(root, purpose), "rb") as file:
            digest, _, text = file.read().partition(b"\n")
    except (GitError, OSError):
        return None
    is_ours = digest.decode(errors="replace") == hashlib.sha256(text).hexdigest()
    tree = json.loads(text) if is_ours else None
    return tree if isinstance(tree, dict) else None


def write(root: str, purpose: str, tree: dict[str, Any]) -> None:
    """Whole or not at all. Raises GitError and OSError."""
    path = _path(root, purpose)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = f"{path}.{os.getpid()}"
    text = json.dumps(tree).encode()
    try:
        write_bytes(draft, f"{hashlib.sha256(text).hexdigest()}\n".encode() + text)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.remove(draft)
        raise


def _path(root: str, purpose: str) -> str:
    """A checkout may hold several repositories of ours, each below a folder of its own."""
    place = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return os.path.join(git_folder(root), "trainform", f"{place}-{purpose}.json")
