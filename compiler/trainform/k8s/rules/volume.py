"""The API server's rules for pod volumes."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.k8s.names import dns1123_label
from trainform.k8s.rules.parts import Found, check_name
from trainform.k8s.rules.resource import parsed
from trainform.k8s.tree import Tree, number, table, tables, text

_NAMED_BY = {"secret": "secretName", "configMap": "name", "persistentVolumeClaim": "claimName"}
"""Sources that reference another object, and the field with its name."""

_MOST_MODE = 0o777
_EXAMPLES = "emptyDir: {}, persistentVolumeClaim, configMap, secret"


def check(spec: Tree, path: Path, found: Found) -> frozenset[str]:
    """Checks the volumes of a pod spec; returns their names."""
    names = []
    for index, volume in enumerate(tables(spec, "volumes")):
        names.append(text(volume, "name"))
        at = (*path, "volumes", index)
        check_name(volume, "name", dns1123_label, "TF525", at, found, may_be_empty=False)
        sources = [key for key, value in volume.items() if key != "name" and value is not None]
        if len(sources) == 1:
            _check_source(sources[0], table(volume, sources[0]), at, found)
        elif sources:
            message = f"has {len(sources)} sources, but only one is allowed: {', '.join(sources)}"
            found.tell(at, "TF525", message, "keep one of them")
        else:
            found.tell(at, "TF525", "has no source", f"write one, such as {_EXAMPLES}")
    return frozenset(names)


def _check_source(kind: str, source: Tree, path: Path, found: Found) -> None:
    path = (*path, kind)
    if (key := _NAMED_BY.get(kind)) and not text(source, key):
        found.tell((*path, key), "TF525", "is required but missing")
    if kind in ("secret", "configMap"):
        _check_files(source, path, found)
    if kind == "hostPath" and ".." in text(source, "path").split("/"):
        found.tell((*path, "path"), "TF525", "must not contain `..`")
    if kind == "emptyDir" and (limit := parsed(source.get("sizeLimit"))) and limit.nano < 0:
        found.tell((*path, "sizeLimit"), "TF525", "must not be negative")


def _check_files(source: Tree, path: Path, found: Found) -> None:
    _check_mode(source, "defaultMode", path, found)
    for index, item in enumerate(tables(source, "items")):
        at = (*path, "items", index)
        _check_mode(item, "mode", at, found)
        if reason := relative_path(text(item, "path")):
            found.tell((*at, "path"), "TF525", reason)


def _check_mode(tree: Tree, key: str, path: Path, found: Found) -> None:
    mode = number(tree, key)
    if mode is not None and not 0 <= mode <= _MOST_MODE:
        found.tell((*path, key), "TF525", f"must be between 0 and 0777 octal ({_MOST_MODE} decimal), not {mode}")


def relative_path(path: str) -> str | None:
    """Why a path that must stay inside a volume is rejected, or None."""
    if path.startswith("/"):
        return "must be a relative path, without a leading `/`"
    return "must not contain `..`" if ".." in path.split("/") else None
