"""Builds that must not depend on the machine: the same commit gives the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from release.archives import members
from release.source import Source, export, unpack

URL_VARIABLE = "TRAINFORM_PROJECT_URL"
"""What hatch_build.py reads."""


class Archives(NamedTuple):
    wheel: Path
    sdist: Path


class Surroundings(NamedTuple):
    """What is different from machine to machine."""

    folder: str
    umask: int
    age: int
    """How old the files are, in seconds."""
    variables: Mapping[str, str]


HERE = Surroundings("here", 0o022, 0, {"LC_ALL": "C", "PYTHONHASHSEED": "0", "TZ": "UTC"})
ELSEWHERE = Surroundings(
    "else where/deeper", 0o077, 10**9, {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati"}
)


def build(source: Source, around: Surroundings, work: Path) -> Archives:
    """The sdist and the wheel, both from the files of the commit."""
    tree, out = _tree(source, around, work)
    _hatchling(source, around, tree, out, "sdist", "wheel")
    return _built(out)


def build_by_way_of_the_sdist(source: Source, around: Surroundings, work: Path) -> Archives:
    """The sdist, and the wheel that is built from it, as distributions do: without knowing the project's address."""
    tree, out = _tree(source, around, work)
    _hatchling(source, around, tree, out, "sdist")
    with tarfile.open(_only(out, "*.tar.gz")) as archive:
        unpack(archive, tree.parent / "unpacked")
    unpacked = _only(tree.parent / "unpacked", "*")
    _hatchling(source._replace(url=""), around, unpacked, out, "wheel")
    return _built(out)


def differences(one: Archives, other: Archives) -> Iterator[str]:
    for first, second in zip(one, other, strict=True):
        if first.name != second.name:
            yield f"two builds give {first.name} and {second.name}"
        elif first.read_bytes() != second.read_bytes():
            before, after = members(first), members(second)
            named = sorted(name for name in before | after if before.get(name) != after.get(name))
            where = ", ".join(named[:5]) or "the archive's own data"
            yield f"two builds of {first.name} differ: {where}{' …' if len(named) > 5 else ''}"


def _tree(source: Source, around: Surroundings, work: Path) -> tuple[Path, Path]:
    """The files of the commit with the rights and times of these surroundings, and a folder for what is built."""
    tree, out = work / around.folder / "tree", work / around.folder / "out"
    export(source, tree)
    time = source.time - around.age
    for path in tree.rglob("*"):
        path.chmod(path.stat().st_mode & ~around.umask)
        os.utime(path, (time, time))
    return tree, out


def _hatchling(source: Source, around: Surroundings, tree: Path, out: Path, *targets: str) -> None:
    command = [sys.executable, "-P", "-m", "hatchling", "build", "--directory", str(out)]
    variables = {"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": str(source.time), **around.variables}
    if source.url:
        variables[URL_VARIABLE] = source.url
    for target in targets:
        subprocess.run(
            [*command, "--target", target],
            cwd=tree,
            env=variables,
            umask=around.umask,
            capture_output=True,
            text=True,
            check=True,
        )


def _built(out: Path) -> Archives:
    return Archives(_only(out, "*.whl"), _only(out, "*.tar.gz"))


def _only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found
