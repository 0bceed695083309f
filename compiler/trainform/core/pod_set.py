"""Pod sets: a plan's replicated jobs, and the verbs that edit their containers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trainform.core.jobset_view import STEP_LABEL
from trainform.core.provenance import Key, Ledger, Source
from trainform.k8s.tree import copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainform.diagnostics import Path
    from trainform.k8s.tree import Tree


@dataclass(slots=True)
class TrainerFields:
    """The effective TrainJob settings of the `node` container, which plugins may rewrite. None leaves a field to the
    runtime. `env` entries are Kubernetes EnvVar trees."""

    image: str | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[Tree] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class PodSet:
    """One replicated job: identical pods, `count` of them per replica.

    `job` is the replicated job's tree, a copy that plugins may edit. `name` and `step` (its step label, or the empty
    string) never change. `path` is the replicated job's place in the runtime document.
    """

    name: str
    step: str
    job: Tree
    path: Path
    count: int = 1
    ledger: Ledger = field(default_factory=Ledger)
    wanted_ports: dict[str, tuple[list[Tree], list[Tree]]] = field(default_factory=dict)
    """By container: its declared ports, and those that plugins requested."""
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    """What `sync` adds to the pod template."""

    @classmethod
    def of(cls, replicated_job: Tree, path: Path, ledger: Ledger) -> PodSet:
        """Take over a copy of a replicated job of the runtime's template, which other jobs use as well."""
        job = copied(replicated_job)
        template = _mapping(job, "template")
        metadata = _mapping(template, "metadata")
        spec = _mapping(template, "spec")
        pod = _mapping(spec, "template")
        _mapping(pod, "metadata")
        pod_spec = _mapping(pod, "spec")
        for kind in ("initContainers", "containers"):
            if kind in pod_spec:
                pod_spec[kind] = pod_spec[kind] or []
        name, step = str(job.get("name", "")), str((metadata.get("labels") or {}).get(STEP_LABEL, ""))
        return cls(name, step, job, path, max(spec.get("parallelism", 1), 1), ledger)

    @property
    def replicas(self) -> int:
        """Number of Jobs; upstream's CRD defaults it to 1."""
        replicas: int = self.job.get("replicas", 1)
        return replicas

    @property
    def template(self) -> Tree:
        """The Job template: `metadata` and the JobSpec."""
        template: Tree = self.job["template"]
        return template

    @property
    def job_spec(self) -> Tree:
        spec: Tree = self.job["template"]["spec"]
        return spec

    @property
    def pod(self) -> Tree:
        """The pod template: `metadata` and the PodSpec."""
        pod: Tree = self.job["template"]["spec"]["template"]
        return pod

    @property
    def pod_spec(self) -> Tree:
        spec: Tree = self.job["template"]["spec"]["template"]["spec"]
        return spec

    @property
    def containers(self) -> list[Tree]:
        containers: list[Tree] = self.pod_spec.get("containers") or []
        return containers

    @property
    def all_containers(self) -> Iterator[Tree]:
        """Init containers, then containers."""
        yield from self.pod_spec.get("initContainers") or ()
        yield from self.containers

    def container(self, name: str) -> Tree | None:
        """The container `name`, excluding init containers."""
        return next((container for container in self.containers if container.get("name") == name), None)

    @property
    def step_label_path(self) -> Path:
        """Path of the step label in the runtime document."""
        return (*self.path, "template", "metadata", "labels", STEP_LABEL)

    def container_path(self, container: Tree) -> Path:
        """Path of one of this pod set's containers in the runtime document."""
        pod_spec = (*self.path, "template", "spec", "template", "spec")
        for kind in ("initContainers", "containers"):
            for index, other in enumerate(self.pod_spec.get(kind) or ()):
                if other is container:
                    return (*pod_spec, kind, index)
        return pod_spec

    def record_source(
        self, source: Source | None, *path: str | tuple[str, int], value: Any = None, container: Tree | None = None
    ) -> None:
        """Record that the element at `path` of the Job's spec, or of one of its containers, comes from `source`. Pass
        `value` if it is written differently than in the document. Free unless the compile is observed."""
        if source is not None and self.ledger.copies is not None:
            self.ledger.record_copy(source, (*self._key(container), *path), value)

    def _key(self, container: Tree | None) -> Key:
        spec: Key = ("spec", "replicatedJobs", (self.name, 0), "template", "spec")
        if container is None:
            return spec
        kind = str(self.container_path(container)[-2])
        return (*spec, "template", "spec", kind, (str(container.get("name")), 0))

    def set_count(self, count: int, source: Source | None = None) -> None:
        """Run `count` pods per replica."""
        self.count = count
        self.record_source(source, "parallelism", value=count)
        self.record_source(source, "completions", value=count)

    def sync(self) -> None:
        """Update the template to the count, and set its labels and annotations."""
        self.job_spec["parallelism"] = self.job_spec["completions"] = self.count
        metadata = self.pod["metadata"]
        for kind, marks in (("labels", self.labels), ("annotations", self.annotations)):
            if marks:
                metadata[kind] = {**(metadata.get(kind) or {}), **marks}

    def label(self, key: str, value: str, source: Source | None = None) -> None:
        """Label the pod template, once its count is final."""
        self.labels[key] = value
        self.record_source(source, "template", "metadata", "labels", key, value=value)

    def annotate_later(self, key: str, value: str, source: Source | None = None) -> None:
        """Annotate the pod template, once its count is final."""
        self.annotations[key] = value
        self.record_source(source, "template", "metadata", "annotations", key, value=value)

    def annotate(self, key: str, value: str, source: Source | None = None) -> None:
        """Annotate the pod template at once."""
        metadata = self.pod["metadata"]
        metadata["annotations"] = {**(metadata.get("annotations") or {}), key: value}
        self.record_source(source, "template", "metadata", "annotations", key, value=value)

    def host(self, job: str, subdomain: str, *, replica: int = 0, pod: int = 0) -> str:
        """The DNS name of one pod within the namespace."""
        return f"{job}-{self.name}-{replica}-{pod}.{subdomain}"

    def set_env(self, container: Tree, *variables: Tree, source: Source | None = None) -> None:
        """Upsert EnvVar trees: a variable of the same name keeps its place in the list. `source` is the document field
        that each variable's value comes from, if any."""
        where = self._place(container)
        for variable in variables:
            name = variable["name"]
            self.ledger.record(("variable", name, where), variable)
            self.record_source(source, "env", (name, 0), "value", value=variable.get("value"), container=container)
        upsert(container, "env", variables)

    def add_port(self, container: Tree, port: int, protocol: str = "TCP") -> None:
        """Declare a port unless the container already declares that number and protocol (D01)."""
        ports = container.get("ports") or []
        wanted = {"containerPort": port, "protocol": protocol}
        self.ledger.record(("port", f"{port}/{protocol}", self._place(container)), port)
        self.wanted_ports.setdefault(str(container.get("name")), (ports, []))[1].append(wanted)
        if all((p.get("containerPort"), p.get("protocol", "TCP")) != (port, protocol) for p in ports):
            container["ports"] = [*ports, wanted]

    def add_volume(self, *volumes: Tree) -> None:
        """Upsert volumes by name."""
        for volume in volumes:
            self.ledger.record(("volume", volume["name"], self.name), volume)
        upsert(self.pod_spec, "volumes", volumes)

    def mount(self, container: Tree, *mounts: Tree) -> None:
        """Upsert volume mounts by mount path."""
        where = self._place(container)
        for mount in mounts:
            self.ledger.record(("mount", mount["mountPath"], where), mount)
        upsert(container, "volumeMounts", mounts, key="mountPath")

    def _place(self, container: Tree) -> str:
        """The ledger's name for a container."""
        return f"{self.name}/{container.get('name', '')}"


def _mapping(parent: Tree, key: str) -> Tree:
    """The mapping at `key`, created if it is missing."""
    child: Tree = parent.get(key) or {}
    parent[key] = child
    return child


def upsert(owner: Tree, field: str, items: Iterable[Tree], key: str = "name") -> None:
    """Upsert `items` into the list `owner[field]`, identified by `key`. As upstream: an element with the same key is
    replaced in place, a new one is appended. The list itself is replaced, never edited, as `items` may be of the same
    one. Source: kubeflow/trainer `pkg/apply/apply.go`."""
    merged = list(owner.get(field) or ())
    places = {item.get(key): index for index, item in enumerate(merged)}
    for item in items:
        index = places.setdefault(item.get(key), len(merged))
        if index == len(merged):
            merged.append(item)
        else:
            merged[index] = item
    if merged:
        owner[field] = merged
