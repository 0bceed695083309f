"""The copies: which field of which document becomes which field of a rendered object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainform.core.companions import own_name, runtime_of
from trainform.core.plan import NODE_CONTAINER, TRAINER_STEP
from trainform.k8s.tree import Tree, object_name, value_at
from trainform.review.explain.leaves import Key
from trainform.review.explain.sources import Author, Sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainform.core.plan import Plan
    from trainform.core.pod_set import PodSet
    from trainform.diagnostics import Path
    from trainform.source import Document

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
YUNIKORN_QUEUE = "queue"

KUEUE_LABELS = {
    "kueue.x-k8s.io/queue-name": "localQueue",
    "kueue.x-k8s.io/priority-class": "priorityClass",
    "kueue.x-k8s.io/max-exec-time-seconds": "maxExecTimeSeconds",
}
"""Labels of the JobSet, each with its field of the Environment's `kueue`."""

TOPOLOGY: dict[str, Path] = {
    "kueue.x-k8s.io/podset-required-topology": ("required",),
    "kueue.x-k8s.io/podset-preferred-topology": ("preferred",),
    "kueue.x-k8s.io/podset-unconstrained-topology": ("unconstrained",),
    "kueue.x-k8s.io/podset-slice-required-topology": ("slice", "required"),
    "kueue.x-k8s.io/podset-slice-size": ("slice", "size"),
    "kueue.x-k8s.io/podset-group-name": ("group",),
}
"""Annotations of pods, each with its field of the Environment's `topology`."""

TRAINER = {
    "image": "image",
    "command": "command",
    "args": "args",
    "env": "env",
    "resourcesPerNode": "resources",
}
"""Fields of `spec.trainer`, each with the one of the container `node`."""

GANG: Path = ("spec", "scheduling", "gang")
KUEUE: Path = ("spec", "scheduling", "kueue")
COSCHEDULING: Path = ("spec", "podGroupPolicy", "coscheduling", "scheduleTimeoutSeconds")
TIMEOUT: Key = ("spec", "scheduleTimeoutSeconds")


def sources_of(plan: Plan, objects: Sequence[Tree], documents: Iterable[Document]) -> Sources:
    """Everything that the documents state of `objects`, what wins last.

    `documents` are those in which companions and key files may stand.
    """
    copies = _Copies(plan, [object_name(tree) for tree in objects])
    copies.heads()
    copies.templates()
    copies.gang()
    if copies.environment:
        copies.kueue(copies.environment)
    copies.job()
    for pods in plan.pod_sets:
        copies.pods(pods)
    copies.whole_objects(objects, documents)
    return copies.sources


@dataclass(slots=True, init=False)
class _Copies:
    plan: Plan
    names: list[str]
    sources: Sources
    jobset: str
    trainjob: Author
    runtime: Author
    environment: Author | None

    def __init__(self, plan: Plan, names: list[str]) -> None:
        self.plan = plan
        self.names = names
        self.sources = Sources()
        self.jobset = f"JobSet/{plan.name}"
        self.trainjob = Author("trainjob", plan.job.name, plan.job_document)
        self.runtime = Author("runtime", plan.runtime.name, plan.runtime_document)
        document = plan.destination.document
        self.environment = Author("environment", plan.destination.name, document) if document else None

    def heads(self) -> None:
        """Name and namespace of every object."""
        key: Key = ("metadata", "namespace")
        for name in self.names:
            if self.environment:
                self.sources.copy(self.environment, ("spec", "namespace"), name, key)
            self.sources.copy(self.trainjob, ("metadata", "namespace"), name, key)
            self.sources.copy(self.trainjob, ("metadata", "name"), name, ("metadata", "name"))

    def templates(self) -> None:
        """The runtime's template, node count included, and the patches of it."""
        self.sources.copy(self.runtime, ("spec", "template"), self.jobset, (), early=True)
        for pods in self.plan.pod_sets:
            if pods.step == TRAINER_STEP:
                self._count(self.runtime, ("spec", "mlPolicy", "numNodes"), pods, early=True)
        for author in filter(None, (self.environment, self.trainjob)):
            for manager, path in _patches(author.document):
                by = Author("patch", manager, author.document)
                self.sources.copy(by, path, self.jobset, (), early=True)

    def gang(self) -> None:
        """Of the PodGroup, and of the marks that lead to it."""
        group, queue = f"PodGroup/{self.plan.name}", ("metadata", "annotations", VOLCANO_QUEUE)
        self.sources.copy(self.runtime, COSCHEDULING, group, TIMEOUT)
        topology = ("spec", "podGroupPolicy", "volcano", "networkTopology")
        self.sources.copy(self.runtime, topology, group, ("spec", "networkTopology"))
        self.sources.copy(self.runtime, ("spec", "template", *queue), group, ("spec", "queue"))
        if self.environment:
            self.sources.copy(self.environment, (*GANG, "scheduleTimeoutSeconds"), group, TIMEOUT)
            for target, key in ((group, ("spec", "queue")), (self.jobset, queue), *self._queue_labels()):
                self.sources.copy(self.environment, (*GANG, "queue"), target, key)
        for target, key in ((group, ("spec", "queue")), (self.jobset, queue)):
            self.sources.copy(self.trainjob, queue, target, key)
        label = self.plan.gang.queue_label
        for target, key in self._queue_labels():
            if label and label in key:
                self.sources.copy(self.trainjob, ("metadata", "labels", label), target, key)

    def kueue(self, environment: Author) -> None:
        """What an Environment says about queues and topology."""
        for label, field in KUEUE_LABELS.items():
            key: Key = ("metadata", "labels", label)
            self.sources.copy(environment, (*KUEUE, field), self.jobset, key, spelled=str)
        multi = (*KUEUE, "multiKueue")
        self.sources.copy(environment, multi, self.jobset, ("spec", "managedBy"), spelled=lambda on: on and MULTIKUEUE)
        for pods in self.plan.pod_sets:
            own = (*KUEUE, "steps", pods.name, "topology")
            asked = (*KUEUE, "topology") if value_at(environment.document.tree, own) is None else own
            for annotation, path in TOPOLOGY.items():
                key = (*_pod(pods), "metadata", "annotations", annotation)
                self.sources.copy(environment, (*asked, *path), self.jobset, key, spelled=_as_text)

    def job(self) -> None:
        """What the TrainJob says of the JobSet as a whole."""
        for label in KUEUE_LABELS:
            path = ("metadata", "labels", label)
            self.sources.copy(self.trainjob, path, self.jobset, path)
        for field in ("suspend", "managedBy"):
            self.sources.copy(self.trainjob, ("spec", field), self.jobset, ("spec", field))

    def pods(self, pods: PodSet) -> None:
        """What the TrainJob says of a replicated job. MPI treats the one called `node` as the trainer step."""
        if pods.step == TRAINER_STEP or pods.name == NODE_CONTAINER:
            self._count(self.trainjob, ("spec", "trainer", "numNodes"), pods)
            deadline = (*_job(pods), "activeDeadlineSeconds")
            self.sources.copy(self.trainjob, ("spec", "activeDeadlineSeconds"), self.jobset, deadline)
            for source, field in TRAINER.items():
                key = (*_container(pods, NODE_CONTAINER), field)
                self.sources.copy(self.trainjob, ("spec", "trainer", source), self.jobset, key)
        elif pods.step:
            self._initializer(pods, ("spec", "initializer", pods.step.removesuffix("-initializer")))

    def whole_objects(self, objects: Sequence[Tree], documents: Iterable[Document]) -> None:
        """Encrypted Secrets, and companions of the runtime under the names that the job's own copies have."""
        documents = list(documents)
        for document in documents:
            for tree in objects:
                if tree is document.tree and self.environment:
                    author = Author("environment", self.environment.name, document)
                    self.sources.copy(author, (), object_name(tree), ())
        companions = [each for each in documents if runtime_of(each.tree) == self.plan.runtime.name]
        names = {each.tree["metadata"]["name"]: own_name(self.plan, each.tree) for each in companions}
        for document in companions:
            target = f"{document.tree['kind']}/{names[document.tree['metadata']['name']]}"
            author = Author("runtime", self.plan.runtime.name, document)
            self.sources.copy(author, (), target, (), early=True, renamed=names)

    def _initializer(self, pods: PodSet, path: Path) -> None:
        container = _container(pods, pods.step)
        uri = (*container, "env", ("STORAGE_URI", 0), "value")
        self.sources.copy(self.trainjob, (*path, "storageUri"), self.jobset, uri)
        self.sources.copy(self.trainjob, (*path, "env"), self.jobset, (*container, "env"))
        secret = (*path, "secretRef", "name")
        if (name := value_at(self.trainjob.document.tree, secret)) is not None:
            key = (*container, "envFrom", (str(name), 0), "secretRef", "name")
            self.sources.copy(self.trainjob, secret, self.jobset, key)

    def _count(self, author: Author, path: Path, pods: PodSet, *, early: bool = False) -> None:
        for field in ("parallelism", "completions"):
            self.sources.copy(author, path, self.jobset, (*_job(pods), field), early=early)

    def _queue_labels(self) -> Iterator[tuple[str, Key]]:
        """Labels that name the gang's queue: KAI's on JobSet and pods, YuniKorn's on pods."""
        label = self.plan.gang.queue_label
        if label:
            yield self.jobset, ("metadata", "labels", label)
        for pods in self.plan.pod_sets:
            for each in filter(None, (label, YUNIKORN_QUEUE)):
                yield self.jobset, (*_pod(pods), "metadata", "labels", each)


def _patches(document: Document) -> Iterator[tuple[str, Path]]:
    """Manager and template of each runtimePatch."""
    for index, patch in enumerate(value_at(document.tree, ("spec", "runtimePatches")) or ()):
        path = ("spec", "runtimePatches", index)
        yield str(value_at(patch, ("manager",))), (*path, "trainingRuntimeSpec", "template")


def _job(pods: PodSet) -> Key:
    return ("spec", "replicatedJobs", (pods.name, 0), "template", "spec")


def _pod(pods: PodSet) -> Key:
    return (*_job(pods), "template")


def _container(pods: PodSet, name: str) -> Key:
    return (*_pod(pods), "spec", "containers", (name, 0))


def _as_text(value: Any) -> Any:
    """As annotations have it; what is not asked for is not annotated."""
    return "true" if value is True else value and str(value)
