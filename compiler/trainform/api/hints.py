"""Hints for problems of a document's shape."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any

from trainform.diagnostics import Path
from trainform.k8s.schema.messages import misspelt

_RUNTIMES = "`trainform runtimes` lists the names"
_REQUIRED: dict[Path, str] = {
    ("metadata",): "write metadata: {name: …}",
    ("metadata", "name"): "write name: …, below metadata",
    ("spec", "runtimeRef"): f"write runtimeRef: {{name: torch-distributed}}; {_RUNTIMES}",
    ("spec", "runtimeRef", "name"): f"write name: torch-distributed; {_RUNTIMES}",
}
_VARIABLE = ("name", "value", "valueFrom")


def absent(path: Path, beside: Any, known: Collection[str]) -> str:
    """How to write a required field that the mapping `beside` lacks; `known` are its fields."""
    fields = beside if isinstance(beside, dict) else {}
    return misspelt(str(path[-1]), known, fields) or _REQUIRED.get(path, "")


def stray(path: Path, key: Any, value: Any) -> str:
    """How to write the entry `key: value` of a mapping at `path` that should be a list."""
    if path[-1] != "env":
        return ""
    if key in _VARIABLE:
        return "write each variable as an entry: - {name: …, value: …}"
    return f"write - {{name: {key}, value: {json.dumps(str(value), ensure_ascii=False)}}}"


def better_name(name: str) -> str:
    """An RFC 1035 label similar to `name`."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    better = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return better if better[:1].isalpha() else f"job-{better}".rstrip("-")


def elsewhere(path: Path, levels: Sequence[tuple[Path, Collection[str]]]) -> str:
    """A hint to fix the indentation if another mapping knows the unknown field at `path`. `levels` are the document's
    upper mappings with their fields."""
    for place, known in levels:
        if path[-1] in known and place != path[:-1]:
            return f"{path[-1]} is a field of {'.'.join(map(str, place)) or 'the document itself'}: fix its indentation"
    return ""
