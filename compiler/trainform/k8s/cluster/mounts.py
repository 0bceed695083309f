"""Files that containers look for in volumes made of keys, and that are not there."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trainform.diagnostics import Path
from trainform.k8s.cluster.references import CONTAINERS
from trainform.k8s.tree import Tree, table, tables, text, texts

Files = frozenset[str]

KeysOf = Callable[[str, str], "Files | None"]
"""The keys of the object of a kind and name; None if they are not known."""

_PLAIN = r"/[^\s*?$\[\]{}()'\"`;|&<>,:]+"
"""A path that no shell changes."""


class Lost(NamedTuple):
    """A file of a volume that `path` of the pod spec asks for, beside those that the volume has, in order."""

    file: str
    volume: str
    path: Path
    files: Sequence[str]


def lost_files(pod_spec: Tree, keys_of: KeysOf) -> Iterator[Lost]:
    """What `subPath` and the words of commands ask for. A volume may have files that nobody knows here: of it, nothing
    is told. Nobody can write into such a volume, so that a word is no file that the program makes."""
    known = ((text(each, "name"), _files(each, keys_of)) for each in tables(pod_spec, "volumes"))
    files = {name: sorted(found) for name, found in known if found}
    for field in CONTAINERS if files else ():
        for index, container in enumerate(tables(pod_spec, field)):
            path: Path = (field, index)
            for each in (*_sub_paths(container, files), *_words(container, files)):
                yield each._replace(path=(*path, *each.path))


def _sub_paths(container: Tree, files: Mapping[str, Sequence[str]]) -> Iterator[Lost]:
    for index, mount in enumerate(tables(container, "volumeMounts")):
        volume, wanted = text(mount, "name"), text(mount, "subPath")
        if wanted and volume in files and not _has(files[volume], wanted):
            yield Lost(wanted, volume, ("volumeMounts", index, "subPath"), files[volume])


def _words(container: Tree, files: Mapping[str, Sequence[str]]) -> Iterator[Lost]:
    mounts = {posixpath.normpath(text(each, "mountPath")): each for each in tables(container, "volumeMounts")}
    for field in ("command", "args"):
        for index, word in enumerate(texts(container, field)):
            path = word.partition("=")[2] if word.startswith("-") else word
            if not re.fullmatch(_PLAIN, path):
                continue
            over = max((each for each in mounts if _is_in(path, each)), key=len, default="")
            mount = mounts.get(over, {})
            volume = text(mount, "name")
            is_whole = not (mount.get("subPath") or mount.get("subPathExpr"))
            if volume in files and is_whole and not _has(files[volume], wanted := posixpath.relpath(path, over)):
                yield Lost(wanted, volume, (field, index), files[volume])


def _is_in(path: str, folder: str) -> bool:
    return posixpath.normpath(path).startswith(folder.rstrip("/") + "/")


def _has(files: Sequence[str], path: str) -> bool:
    """Whether one of the files, which are in order, is at `path` or below it."""
    wanted = posixpath.normpath(path)
    return wanted == "." or _next(files, wanted) == wanted or _next(files, f"{wanted}/").startswith(f"{wanted}/")


def _next(files: Sequence[str], path: str) -> str:
    """The file that is at `path` or would come after it; empty if none does."""
    place = bisect_left(files, path)
    return files[place] if place < len(files) else ""


def _files(volume: Tree, keys_of: KeysOf) -> Files | None:
    """The paths of all files in a volume; None if they are not known."""
    sources = tables(table(volume, "projected"), "sources") or [volume]
    found = [_of_source(each, keys_of) for each in sources]
    known = [each for each in found if each is not None]
    return Files().union(*known) if len(known) == len(found) else None


def _of_source(source: Tree, keys_of: KeysOf) -> Files | None:
    for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if inner := table(source, field):
            return _of_object(inner, kind, keys_of)
    return None


def _of_object(source: Tree, kind: str, keys_of: KeysOf) -> Files | None:
    """A source without a name is an error, told elsewhere; one that is optional may be empty on purpose."""
    name = text(source, "name") or text(source, "secretName")
    keys = None if source.get("optional") is True else keys_of(kind, name)
    if keys is None or "items" not in source:
        return keys
    return Files(posixpath.normpath(text(item, "path")) for item in tables(source, "items"))
