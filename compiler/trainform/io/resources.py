"""Files that ship with trainform."""

from __future__ import annotations

import os
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_CATALOGUES = (
    os.path.join(_PACKAGE, "catalogue"),
    os.path.join(_PACKAGE, "..", "..", "runtimes"),
)
"""The runtime catalog: in a wheel, and in the source repository for an editable install."""
_PAGES = (
    os.path.join(_PACKAGE, "codes"),
    os.path.join(_PACKAGE, "..", "..", "docs", "codes"),
)
"""The pages of the codes, likewise."""


class ShippedFile(NamedTuple):
    """A catalog file; `name` has no folder, such as `torch-distributed.yaml`."""

    name: str
    text: str


def shipped_runtimes() -> list[ShippedFile]:
    """The catalog files, sorted by name."""
    folder = next(filter(os.path.isdir, _CATALOGUES))
    names = sorted(name for name in os.listdir(folder) if name.endswith(".yaml"))
    return [ShippedFile(name, _text(os.path.join(folder, name))) for name in names]


def shipped_runtime(name: str) -> str:
    """The path of a catalog file, by its name, such as `torch-distributed.yaml`."""
    return os.path.abspath(os.path.join(next(filter(os.path.isdir, _CATALOGUES)), name))


def code_page(code: str) -> str:
    """The page of a registered code, in Markdown."""
    return _text(os.path.join(next(filter(os.path.isdir, _PAGES)), f"{code}.md"))


def documentation() -> str:
    """The address of the folder `docs` of this release, as its package says. A build without a release has none."""
    from importlib.metadata import PackageNotFoundError, metadata  # rarely needed

    try:
        told = metadata("trainform").get_all("Project-URL", [])
    except PackageNotFoundError:
        return ""
    addresses: dict[str, str] = dict(each.split(", ", 1) for each in told)
    return addresses.get("Documentation", "")


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
