"""Where a job's objects are written, `<rendered>/<environment>/<namespace>/<job>/`, and what its files contain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from trainform.output.emitter import HEADER, emit, emit_stream

MANIFESTS = "manifests.yaml"
"""A job's only manifest file in the layout `per-job`."""


class Layout(NamedTuple):
    """`one_file`: all objects of a job in `manifests.yaml`, else one file for each. `kustomization`: the folder also
    gets a `kustomization.yaml`."""

    one_file: bool = False
    kustomization: bool = False


DEFAULT_LAYOUT = Layout()


def job_folder(rendered: str, environment: str, namespace: str, job: str) -> str:
    """A job's folder, relative to the repository root."""
    return "/".join([rendered, *map(_part, (environment, namespace, job))])


def job_files(objects: Sequence[dict[str, Any]], layout: Layout = DEFAULT_LAYOUT) -> dict[str, bytes]:
    """The files of a job's folder by name."""
    if layout.one_file:
        files = {MANIFESTS: HEADER + emit_stream(objects).encode()}
    else:
        names = file_names(objects)
        files = {name: HEADER + emit(tree).encode() for name, tree in zip(names, objects, strict=True)}
    if layout.kustomization:
        from trainform.output.kustomization import FILE, job_kustomization

        files[FILE] = job_kustomization(files)
    return files


def file_names(objects: Sequence[dict[str, Any]]) -> list[str]:
    """`jobset-llm.yaml` for a JobSet called `llm`; `podgroup.scheduling.volcano.sh-llm.yaml` if two groups have that
    kind."""
    short = [_file_name(tree["kind"], tree["metadata"]["name"]) for tree in objects]
    if len(set(short)) == len(short):
        return short
    times = Counter(short)
    names = [
        name if times[name] == 1 else _file_name(_with_group(tree), tree["metadata"]["name"])
        for name, tree in zip(short, objects, strict=True)
    ]
    if len(set(names)) < len(names):  # a plugin bug: no TrainJob can cause this
        repeated = sorted(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"two objects of one job share a kind and a name: {', '.join(repeated)}")
    return names


def _file_name(kind: str, name: str) -> str:
    return _part(f"{kind.lower()}-{name}.yaml")


def _with_group(tree: dict[str, Any]) -> str:
    group = str(tree["apiVersion"]).rpartition("/")[0]
    return f"{tree['kind']}.{group}" if group else str(tree["kind"])


def _part(name: str) -> str:
    """One part of a path. Names are checked much earlier, so one that escapes the folder is a bug, not a user error."""
    if not is_part(name):
        raise ValueError(f"not a file name: {name!r}")
    return name


_NEVER = frozenset("/\\\0\n")


def is_part(name: str) -> bool:
    """Whether `name` is safe as one part of an output path: neither hidden nor leading out of the folder."""
    return bool(name) and not name.startswith(".") and _NEVER.isdisjoint(name)
