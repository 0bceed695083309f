"""What a local run consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainform.k8s.tree import Tree

ContainerKind = Literal["init", "sidecar", "main"]
"""`sidecar`: an init container with `restartPolicy: Always`, which runs beside the others."""


class LocalFile(NamedTuple):
    """A file of a volume; `path` is relative to the volume's folder."""

    path: str
    data: bytes
    mode: int = 0o644


class LocalVolume(NamedTuple):
    """A volume of a pod as a folder. `host` is a folder of this machine (`hostPath`); `claim` is the name of a
    claim, whose folder all pods share; otherwise the folder is the pod's own and starts with `files`."""

    name: str
    files: tuple[LocalFile, ...] = ()
    claim: str = ""
    host: str = ""
    read_only: bool = False


class LocalMount(NamedTuple):
    """Where a container sees a volume, or the element `sub_path` of it."""

    path: str
    volume: str
    sub_path: str = ""
    read_only: bool = False


class Probe(NamedTuple):
    """A command that succeeds once the container is ready. Times in seconds."""

    command: tuple[str, ...]
    delay: int
    period: int
    timeout: int


@dataclass(frozen=True, slots=True)
class LocalContainer:
    """One process. `variables` are what Kubernetes would set, beside the environment of `trainform run` itself."""

    name: str
    kind: ContainerKind
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(repr=False)  # may hold secrets
    working_folder: str
    mounts: tuple[LocalMount, ...]
    probe: Probe | None


@dataclass(frozen=True, slots=True)
class LocalPod:
    """One pod. `gpus`: how many devices it asks for; `grace` is in seconds."""

    name: str
    host: str
    address: str
    containers: tuple[LocalContainer, ...]
    volumes: tuple[LocalVolume, ...]
    restarts_in_place: bool
    gpus: int
    grace: int

    def of_kind(self, *kinds: ContainerKind) -> list[LocalContainer]:
        return [each for each in self.containers if each.kind in kinds]


@dataclass(frozen=True, slots=True)
class LocalJob:
    """One Job of a step, with a pod for each completion index. `spec` is its JobSpec, whose policies apply. `deadline`
    is in seconds."""

    name: str
    step: str
    pods: tuple[LocalPod, ...]
    parallelism: int
    deadline: int | None
    spec: Tree = field(repr=False)


class Dependency(NamedTuple):
    """A step that another one waits for."""

    step: str
    status: Literal["Ready", "Complete"]


@dataclass(frozen=True, slots=True)
class LocalStep:
    """One replicated job."""

    name: str
    jobs: tuple[LocalJob, ...]
    waits_for: tuple[Dependency, ...]


@dataclass(frozen=True, slots=True)
class LocalRun:
    """One attempt of a job: JobSet's restarts make a new one. `hosts` maps the names of each pod to its address."""

    name: str
    steps: tuple[LocalStep, ...]
    hosts: Mapping[str, str]
    spec: Tree = field(repr=False)

    @property
    def pods(self) -> list[LocalPod]:
        return [pod for step in self.steps for job in step.jobs for pod in job.pods]
