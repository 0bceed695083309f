"""The folders of a run: everything that it writes is below one temporary folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass

from trainform.io.files import write_bytes
from trainform.local.plan.model import LocalFile, LocalMount, LocalPod, LocalVolume
from trainform.local.plan.references import NotHere


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run, which only this user can open."""

    path: str

    @classmethod
    def make(cls) -> RunFolder:
        return cls(os.path.realpath(tempfile.mkdtemp(prefix="trainform-run-")))

    def remove(self) -> None:
        """Files that a process made unreadable stay."""
        shutil.rmtree(self.path, ignore_errors=True)

    def of_pod(self, pod: LocalPod) -> PodFolder:
        """A new folder for a pod with its volumes, as each start of a pod gets."""
        parent = os.path.join(self.path, "pods")
        os.makedirs(parent, exist_ok=True)
        folder = PodFolder(tempfile.mkdtemp(prefix=f"{pod.name}-", dir=parent), {})
        self.fill(pod, folder)
        return folder

    def fill(self, pod: LocalPod, folder: PodFolder) -> None:
        """Write the files of a pod's volumes."""
        for volume in pod.volumes:
            folder.volumes[volume.name] = self._make(volume, folder.path)

    def _make(self, volume: LocalVolume, pod: str) -> str:
        if volume.host:
            return volume.host
        parent = os.path.join(self.path, "claims") if volume.claim else os.path.join(pod, "volumes")
        folder = below(parent, volume.claim or volume.name)
        os.makedirs(folder, exist_ok=True)
        for file in volume.files:
            _write(folder, file)
        return folder


def _write(folder: str, file: LocalFile) -> None:
    path = below(folder, file.path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    write_bytes(path, file.data, mode=0o600, new=True)
    os.chmod(path, file.mode & 0o777)


def inside(folder: str, path: str) -> str:
    """A path below `folder`, or the folder itself. Raises NotHere for one that leads out of it, or cannot be."""
    if "\0" in path:
        raise NotHere("TF891", f'"{path}" is not a path: it has a NUL character', "remove the character")
    joined = os.path.normpath(os.path.join(folder, path))
    if joined != folder and not joined.startswith(folder + os.sep):
        raise NotHere("TF891", f'"{path}" leads out of its volume', "write a path without `..`")
    return joined


def below(folder: str, path: str) -> str:
    """A path below `folder`. Raises NotHere for another one."""
    joined = inside(folder, path)
    if joined == folder:
        raise NotHere("TF891", f'"{path}" is no name in a volume', "write a relative path, such as data/train.csv")
    return joined


@dataclass(frozen=True, slots=True)
class PodFolder:
    """The folder of a pod, and those of its volumes by name."""

    path: str
    volumes: dict[str, str]

    def source(self, mount: LocalMount) -> str:
        """What a mount shows: the volume, or a folder or file in it. A missing folder is made, as the kubelet does."""
        source = inside(self.volumes[mount.volume], mount.sub_path)
        if not os.path.lexists(source):
            os.makedirs(source)
        return source

    def sources(self, mounts: tuple[LocalMount, ...]) -> dict[str, str]:
        """By mount path."""
        return {mount.path: self.source(mount) for mount in mounts if mount.volume in self.volumes}
