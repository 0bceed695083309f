"""The bill of materials, as CycloneDX: trainform, what it derives from, and what it needs to run.

It is made of the lock, ci/requirements.txt, as an installation would list what one platform and one Python need. It has
neither time nor serial number: the same release gives the same bytes. Extras are not in the lock, so not in here.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from packaging.utils import canonicalize_name

_PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;\\]+)(?P<marker>\s*;[^\\\n]+)?", re.MULTILINE)
_NEEDED_BY = re.compile(r"^ +#(?: via)? +(?!via$|-r)([\w.-]+)$", re.MULTILINE)
_DERIVED = re.compile(r"^(?P<name>\S.*) (?P<version>[\d.]+) \(Copyright (?P<holder>.+)\)$", re.MULTILINE)


class Pin(NamedTuple):
    name: str
    version: str
    needed_by: tuple[str, ...]
    """Other pins; none if trainform itself needs it."""
    everywhere: bool
    """Whether every platform and Python needs it."""

    @property
    def purl(self) -> str:
        return purl(self.name, self.version)


def purl(name: str, version: str) -> str:
    return f"pkg:pypi/{canonicalize_name(name)}@{version}"


def pins(requirements: str) -> list[Pin]:
    """The pins of a requirements file that uv wrote."""
    starts = list(_PIN.finditer(requirements))
    ends = [each.start() for each in starts[1:]] + [len(requirements)]
    return [
        Pin(
            found["name"],
            found["version"],
            tuple(_NEEDED_BY.findall(requirements[found.start() : end])),
            found["marker"] is None,
        )
        for found, end in zip(starts, ends, strict=True)
    ]


def bill_of_materials(wheel: Path, tree: Path, version: str, url: str) -> str:
    """`tree` holds the files of the commit."""
    locked = pins((tree / "ci" / "requirements.txt").read_text())
    root = purl("trainform", version)
    needs: dict[str, list[str]] = {root: [], **{pin.purl: [] for pin in locked}}
    known = {pin.name: pin.purl for pin in locked}
    for pin in locked:
        for needing in pin.needed_by or ("",):
            needs[known.get(needing, root)].append(pin.purl)
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "component": _trainform(wheel, (tree / "NOTICE").read_text(), version, url),
        },
        "components": [_component(pin) for pin in locked],
        "dependencies": [{"ref": ref, "dependsOn": sorted(on)} for ref, on in needs.items()],
    }
    return json.dumps(bill, indent=2, ensure_ascii=False) + "\n"


def _trainform(wheel: Path, notice: str, version: str, url: str) -> dict[str, Any]:
    licence = [{"license": {"id": "Apache-2.0"}}]
    ancestors = [
        {
            "type": "library",
            "name": found["name"],
            "version": found["version"],
            "copyright": f"Copyright {found['holder']}",
            "licenses": licence,
        }
        for found in _DERIVED.finditer(notice)
    ]
    reference = purl("trainform", version)
    component: dict[str, Any] = {
        "type": "application",
        "bom-ref": reference,
        "name": "trainform",
        "version": version,
        "purl": reference,
        "licenses": licence,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}],
        "pedigree": {"ancestors": ancestors},
    }
    if url:
        component["externalReferences"] = [{"type": "vcs", "url": url}]
    return component


def _component(pin: Pin) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": pin.purl,
        "name": pin.name,
        "version": pin.version,
        "purl": pin.purl,
        "scope": "required" if pin.everywhere else "optional",
    }
