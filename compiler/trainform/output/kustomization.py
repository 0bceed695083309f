"""`kustomization.yaml`: what an engine, or `kubectl kustomize`, applies from a folder. Every folder has one. Without it
Flux would apply every YAML file that it finds, and Argo CD JSON files too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainform.output.emitter import HEADER, emit

FILE = "kustomization.yaml"

_OURS = re.compile(
    r"""(?:\#.*
      | apiVersion:\ kustomize\.config\.k8s\.io/v1beta1
      | kind:\ Kustomization
      | resources:(?:\ \[\])?
      | -\ "?(?P<name>[a-z0-9][a-z0-9-]*)"?            # a namespace or a job: never a file
      | (?:<{7}|\|{7}|={7}|>{7}).*                      # what git leaves where two branches added jobs
    )?""",
    re.VERBOSE,
).fullmatch


def kustomization(resources: Iterable[str]) -> bytes:
    """The file for a folder that holds `resources`, files or folders, in any order."""
    return HEADER + kustomization_text(resources).encode()


def kustomization_text(resources: Iterable[str]) -> str:
    """A `kustomization.yaml` with these resources, sorted."""
    version = "kustomize.config.k8s.io/v1beta1"
    return emit({"apiVersion": version, "kind": "Kustomization", "resources": sorted(resources)})


def folders_in(data: bytes) -> list[str] | None:
    """The sorted folders that one of our `kustomization.yaml` files lists; None if it contains anything else. A shared
    folder's file has no digest in any lock, or two branches could never each add a job: it is ours as long as it is
    only a list of folders. Merge-conflict markers do not change that."""
    lines = [_OURS(line.rstrip()) for line in data.decode(errors="replace").split("\n")]
    if not all(lines):
        return None
    return sorted(line["name"] for line in lines if line and line["name"])
