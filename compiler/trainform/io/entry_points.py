"""The entry points of installed packages, without the 10 ms and more that `importlib.metadata` takes to start.

Packages are found as it finds them: the folders of `sys.path` in order, in each the folders `*.dist-info` and
`*.egg-info` with a file `entry_points.txt`; of two with one name, the first counts. Where packages may lie
anywhere else, in a zip file or with an import hook, it is asked itself.
Source: https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple


class EntryPoint(NamedTuple):
    """`value` is `module:attribute`; `package` and `version` are those of the distribution."""

    name: str
    value: str
    package: str = ""
    version: str = ""


def entry_points(group: str) -> list[EntryPoint]:
    """All entry points of one group, in the order in which packages are found."""
    if any(map(_is_unusual, sys.path)) or any(map(_brings_packages, sys.meta_path)):
        return _asked(group)
    found: dict[str, list[EntryPoint]] = {}
    for folder in dict.fromkeys(sys.path):
        for info in _infos(folder or "."):
            found.setdefault(_stem(info), list(_declared(info, group)))
    return [each for points in found.values() for each in points]


def _is_unusual(path: str) -> bool:
    return os.path.isfile(path)  # a zip file: a folder in one has no entry in a listing


def _brings_packages(finder: object) -> bool:
    """Whether a hook other than Python's own may know of packages."""
    own = getattr(finder, "__module__", "") == "_frozen_importlib_external"
    return not own and hasattr(finder, "find_distributions")


def _infos(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if name.endswith((".dist-info", ".egg-info"))]


def _stem(info: str) -> str:
    """The normalized name of the distribution, from that of its folder."""
    return os.path.basename(info).rpartition(".")[0].partition("-")[0].lower().replace(".", "_")


def _declared(info: str, group: str) -> Iterator[EntryPoint]:
    declared = [line.strip() for line in _lines(os.path.join(info, "entry_points.txt"))]
    if f"[{group}]" not in declared:
        return
    package, version = _head(info)
    for line in declared[declared.index(f"[{group}]") + 1 :]:
        if line.startswith("["):
            return
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            yield EntryPoint(name.strip(), value.partition("[")[0].strip(), package, version)


def _head(info: str) -> tuple[str, str]:
    """Name and version, as the package's metadata has them."""
    fields: dict[str, str] = {}
    for file in ("METADATA", "PKG-INFO"):
        for line in _lines(os.path.join(info, file)):
            if not line:
                break
            name, _, value = line.partition(":")
            fields.setdefault(name, value.strip())
    return fields.get("Name", ""), fields.get("Version", "")


def _lines(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read().splitlines()
    except OSError:
        return []


def _asked(group: str) -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return [
        EntryPoint(each.name, each.value, each.dist.name if each.dist else "", each.dist.version if each.dist else "")
        for each in entry_points(group=group)
    ]
