"""What the archives hold: the files of the commit, all that belong there and no others."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

LEGAL = ("LICENSE", "NOTICE")
"""The licence, and what the schemas of others derive from; both belong into each archive."""

_SECRET_NAME = re.compile(r"(^|/)(\.env|\.netrc|\.pypirc|id_(rsa|ed25519|ecdsa)|[^/]+\.(pem|key|p12|pfx))$")
_SECRET = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{64}"
    rb"|AGE-SECRET-KEY-1[A-Z0-9]{58}|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bpypi-AgE[\w-]{50}|\bAKIA[0-9A-Z]{16}\b"
)


def members(archive: Path) -> dict[str, bytes]:
    """The files of a wheel or an sdist, by name."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {info.filename: wheel.read(info) for info in wheel.infolist() if not info.is_dir()}
    with tarfile.open(archive) as sdist:
        files = ((info.name, sdist.extractfile(info)) for info in sdist.getmembers() if not info.isdir())
        return {name: file.read() if file else b"" for name, file in files}


def wheel_problems(wheel: Path, tree: Path, version: str) -> Iterator[str]:
    """`tree` holds the files of the commit. The wheel may hold them and its metadata, but no tests and no bytecode."""
    info, target = f"trainform-{version}.dist-info", _settings(tree)["targets"]["wheel"]
    folders = {each: Path(each).name for each in target["packages"]} | target["force-include"]
    expected: dict[str, bytes | None] = {
        f"{inside}/{name}": data for folder, inside in folders.items() for name, data in _files(tree / folder).items()
    }
    expected |= {f"{info}/licenses/{name}": (tree / name).read_bytes() for name in LEGAL}
    expected |= dict.fromkeys(f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt"))
    found = members(wheel)
    yield from compared(wheel.name, found, expected)
    yield from secrets(wheel.name, found)


def sdist_problems(sdist: Path, tree: Path, version: str) -> Iterator[str]:
    """The sdist holds every file of the commit, so that the tests can be run with it."""
    expected: dict[str, bytes | None] = {f"trainform-{version}/{name}": data for name, data in _files(tree).items()}
    expected[f"trainform-{version}/PKG-INFO"] = None
    found = members(sdist)
    yield from compared(sdist.name, found, expected)
    yield from (f"{sdist.name}: no {each}" for each in LEGAL if f"trainform-{version}/{each}" not in found)


def compared(archive: str, found: Mapping[str, bytes], expected: Mapping[str, bytes | None]) -> Iterator[str]:
    """`expected` has None for what the build writes."""
    for name in sorted(found.keys() | expected.keys()):
        if name not in found:
            yield f"{archive}: {name} is missing"
        elif name not in expected:
            yield f"{archive}: {name} does not belong there"
        elif expected[name] not in (None, found[name]):
            yield f"{archive}: {name} is not as it is committed"


def secrets(archive: str, found: Mapping[str, bytes]) -> Iterator[str]:
    for name, data in found.items():
        if _SECRET_NAME.search(name) or _SECRET.search(data):
            yield f"{archive}: {name} looks like a secret"


def _files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _settings(tree: Path) -> dict[str, dict[str, dict[str, dict[str, str]]]]:
    build: dict[str, dict[str, dict[str, dict[str, str]]]]
    build = tomllib.loads((tree / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    return build
