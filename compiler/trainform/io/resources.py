"""What ships with trainform."""

from __future__ import annotations

import os
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_CATALOGUES = (
    os.path.join(_PACKAGE, "catalogue"),
    os.path.join(_PACKAGE, "..", "..", "runtimes"),
)
"""The catalogue in a wheel, and where an editable install leaves it: in the source repository."""


class ShippedFile(NamedTuple):
    """A file of the catalogue: its name without folder (`torch-distributed.yaml`), its text."""

    name: str
    text: str


def shipped_runtimes() -> list[ShippedFile]:
    """The files of the catalogue of runtimes, by name."""
    folder = next(filter(os.path.isdir, _CATALOGUES))
    names = sorted(name for name in os.listdir(folder) if name.endswith(".yaml"))
    return [ShippedFile(name, _text(os.path.join(folder, name))) for name in names]


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
