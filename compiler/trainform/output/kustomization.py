"""`kustomization.yaml`: for the bootstraps, for a job's own folder if its Environment asks for one, and as earlier
versions wrote it. No engine needs it: each of them reads plain folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256

from trainform.output.emitter import HEADER, emit

FILE = "kustomization.yaml"

_OWN_FILES = (
    b"# Lists the files of this job, for `kubectl kustomize`. An engine must leave it out: see docs/gitops.md.\n"
)
"""Also tells the file apart from what earlier versions wrote into every job's folder."""

_ENTRY = re.compile(r"- \"?(?P<name>[a-z0-9][a-z0-9.-]*)\"?").fullmatch


def job_kustomization(files: Iterable[str]) -> bytes:
    """The file for the folder of a job with these files, in any order."""
    return HEADER + _OWN_FILES + kustomization_text(sorted(files)).encode()


def kustomization_text(resources: Iterable[str]) -> str:
    """A `kustomization.yaml` with these resources."""
    version = "kustomize.config.k8s.io/v1beta1"
    return emit({"apiVersion": version, "kind": "Kustomization", "resources": [*resources]})


def earlier_list(names: Iterable[str]) -> bytes:
    """What earlier versions wrote into each folder: the files of a job, the jobs of a namespace, the namespaces of an
    environment."""
    return HEADER + kustomization_text(names).encode()


def is_earlier_list(data: bytes) -> bool:
    """Whether these are the bytes of an earlier version's list of folders, in any order, as merges reordered it. Only
    the names are taken from it: everything else must be what that version wrote."""
    lines = data.decode(errors="replace").split("\n")
    names = [found["name"] for line in lines if (found := _ENTRY(line))]
    return data == earlier_list(names)


def without_earlier_list(files: Mapping[str, str]) -> Mapping[str, str]:
    """The digests of a job's files without the list that an earlier version wrote; the same if there is none."""
    if FILE not in files:
        return files
    others = {name: digest for name, digest in files.items() if name != FILE}
    return others if files[FILE] == sha256(earlier_list(sorted(others))).hexdigest() else files
