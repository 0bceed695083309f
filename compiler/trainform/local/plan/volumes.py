"""The volumes of a pod as folders with files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import normpath

from trainform.k8s.tree import Tree, number, table, tables, text
from trainform.local.plan.model import LocalFile, LocalMount, LocalVolume
from trainform.local.plan.references import JobValues, NotHere, PodFields, Values, key_of
from trainform.local.plan.variables import expand

SHARED_MEMORY = "/dev/shm"
"""The machine's own is used: a container's is small only because container runtimes make it so."""

OWNERS = 0o700
"""Files of Secrets are this user's alone: ssh refuses keys of its own user that others may read, while in a pod they
are root's and shared by `fsGroup`."""

_OWN_FOLDER = ("emptyDir", "ephemeral")


def volumes_of(pod: PodFields, sources: JobValues) -> tuple[LocalVolume, ...]:
    """Raises NotHere for a volume that this machine does not have."""
    return tuple(_volume(volume, pod, sources) for volume in tables(pod.spec, "volumes"))


def _volume(volume: Tree, pod: PodFields, sources: JobValues) -> LocalVolume:
    name = text(volume, "name")
    if any(kind in volume for kind in _OWN_FOLDER) or volume.keys() == {"name"}:
        return LocalVolume(name)
    if claim := table(volume, "persistentVolumeClaim"):
        return LocalVolume(name, claim=text(claim, "claimName"), read_only=bool(claim.get("readOnly")))
    if host := table(volume, "hostPath"):
        return LocalVolume(name, host=text(host, "path"))
    if projected := table(volume, "projected"):
        parts = [file for source in tables(projected, "sources") for file in _projected(source, pod, sources)]
        return _of_files(name, _with_mode(parts, number(projected, "defaultMode")))
    kind = next((key for key in volume if key != "name"), "")
    if kind not in ("configMap", "secret", "downwardAPI"):
        hint = "mount a persistentVolumeClaim, which becomes an empty folder here"
        raise NotHere("TF891", f'volume "{name}" is of type {kind}, which a local run does not have', hint)
    source = table(volume, kind)
    own = {**source, "name": text(source, "name") or text(source, "secretName")}
    files = _with_mode([*_projected({kind: own}, pod, sources)], number(source, "defaultMode"))
    if kind == "secret":
        files = tuple(file._replace(mode=file.mode & OWNERS) for file in files)
    return _of_files(name, files)


def _of_files(name: str, files: tuple[LocalFile, ...]) -> LocalVolume:
    """Raises NotHere for a path that one file has, and the folder of another one: the kubelet cannot make both."""
    paths = {normpath(file.path) for file in files}
    for path in sorted(paths):
        if above := next((each for each in _folders(path) if each in paths), ""):
            message = f'volume "{name}" has a file {above}, and another one in a folder of that name: {path}'
            raise NotHere("TF891", message, "give one of them another path")
    return LocalVolume(name, files, read_only=True)


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _with_mode(files: list[LocalFile], default: int | None) -> tuple[LocalFile, ...]:
    mode = 0o644 if default is None else default
    return tuple(file if file.mode >= 0 else file._replace(mode=mode) for file in files)


def _projected(source: Tree, pod: PodFields, sources: JobValues) -> Iterator[LocalFile]:
    """The files of one source; mode -1 is the volume's default."""
    for kind, read, what in (("configMap", sources.config_map, "ConfigMap"), ("secret", sources.secret, "Secret")):
        if kind in source:
            reference = table(source, kind)
            optional = bool(reference.get("optional"))
            name = text(reference, "name")
            yield from _files(read(name, optional=optional), f'{what} "{name}"', reference, optional)
    for item in tables(table(source, "downwardAPI"), "items"):
        yield LocalFile(text(item, "path"), _field(item, pod).encode(), _mode(item))
    if unknown := source.keys() - {"configMap", "secret", "downwardAPI"}:
        kind = min(unknown)
        raise NotHere("TF891", f"a local run has no {kind} to project into a volume", "remove it for the local run")


def _files(values: Values | None, owner: str, reference: Tree, optional: bool) -> Iterator[LocalFile]:
    """All keys of a ConfigMap or Secret, or the `items` of it."""
    items = tables(reference, "items")
    if not items:
        yield from (LocalFile(key, data, -1) for key, data in (values or {}).items())
    for item in items:
        data = key_of(values, owner, text(item, "key"), optional=optional)
        if data is not None:
            yield LocalFile(text(item, "path"), data, _mode(item))


def _mode(item: Tree) -> int:
    mode = number(item, "mode")
    return -1 if mode is None else mode


def _field(item: Tree, pod: PodFields) -> str:
    if reference := table(item, "fieldRef"):
        return pod.value(text(reference, "fieldPath"))
    reference = table(item, "resourceFieldRef")
    name = text(reference, "containerName")
    container = next((each for each in tables(pod.spec, "containers") if text(each, "name") == name), {})
    return pod.resource(container, reference)


def mounts_of(container: Tree, variables: Mapping[str, str]) -> tuple[LocalMount, ...]:
    """Where the container sees its volumes; `subPathExpr` may refer to its variables."""
    return tuple(
        LocalMount(
            "/" + text(mount, "mountPath").strip("/"),
            text(mount, "name"),
            text(mount, "subPath") or expand(text(mount, "subPathExpr"), variables),
            bool(mount.get("readOnly")),
        )
        for mount in tables(container, "volumeMounts")
        if text(mount, "mountPath").rstrip("/") != SHARED_MEMORY
    )
