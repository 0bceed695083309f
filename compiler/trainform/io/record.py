"""Records of what was proven, in git's own folder: never committed, of this clone alone, free to be deleted."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from trainform.io.git import GitError, git_folder


def read(root: str, purpose: str) -> dict[str, Any] | None:
    """The record for a purpose; None where there is none that can be read."""
    try:
        with open(_path(root, purpose), "rb") as file:
            tree = json.load(file)
    except (GitError, OSError, ValueError):
        return None
    return tree if isinstance(tree, dict) else None


def write(root: str, purpose: str, tree: dict[str, Any]) -> None:
    """Whole or not at all. Raises GitError and OSError."""
    path = _path(root, purpose)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = f"{path}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8", errors="surrogatepass") as file:
        json.dump(tree, file)
    os.replace(draft, path)


def _path(root: str, purpose: str) -> str:
    """A checkout may hold several repositories of ours, each below a folder of its own."""
    place = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return os.path.join(git_folder(root), "trainform", f"{place}-{purpose}.json")
