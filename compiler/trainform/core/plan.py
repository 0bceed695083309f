"""The plan: one job on its way from TrainJob and runtime to finished objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from trainform.core.cluster.facts import NO_FACTS, Facts
from trainform.core.destination import patch_path
from trainform.core.gang import NO_GANG, Gang, Stage, gangs_of
from trainform.core.jobset_view import NODE_CONTAINER, TRAINER_STEP, JobSetView
from trainform.core.pod_set import PodSet, TrainerFields
from trainform.core.provenance import SHIPPED, Ledger, Source, blame
from trainform.core.secrets import KeyFiles, KeyKind, SecretNeed
from trainform.diagnostics import Diagnostic, Path, Place, Severity
from trainform.diagnostics.deviations import DEVIATIONS
from trainform.diagnostics.order import has_errors
from trainform.k8s.tree import Tree, object_name, value_at

Kind = TypeVar("Kind", bound="Model")

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    from trainform.api import Environment, Read, Runtime, TrainJob
    from trainform.api.base import Model
    from trainform.core.destination import Destination
    from trainform.core.guests.originals import Original
    from trainform.source import Document


class Where(TypedDict, total=False):
    """Location of a problem: `path` of `place` (default: the TrainJob), or a `source`. `point` is a more exact caret
    position if `path` is the wider field that the controller's own validation names. `object` and `object_path` name
    the finished object in which the problem shows."""

    path: Path
    place: Place | None
    source: Source | None
    point: Path
    object: str
    object_path: Path


@dataclass(slots=True, eq=False, kw_only=True)
class Plan:
    """A JobSet template taken apart, with every field in one place. `job` and `runtime` are never modified.

    `metadata` and `spec` are the JobSet's, without `replicatedJobs`: those are `pod_sets`, in the runtime's order.
    `secrets` are the key Secrets that the pods need,
    `keys` the Environment's encrypted ones. `framework` is the runtime's (`torch`, `mpi`, `jax`, `xgboost`, `flux`),
    empty for plain jobs.
    """

    job: TrainJob
    runtime: Runtime
    job_document: Document
    runtime_document: Document
    job_read: Read
    metadata: Tree
    spec: Tree
    destination: Destination
    framework: str = ""
    pod_sets: list[PodSet] = field(default_factory=list)
    trainer: TrainerFields = field(default_factory=TrainerFields)
    facts: Facts = NO_FACTS
    gang: Gang = NO_GANG
    objects: list[Tree] = field(default_factory=list)
    secrets: list[SecretNeed] = field(default_factory=list)
    keys: KeyFiles = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    plugin_settings: Mapping[type[Model], Model] = field(default_factory=dict)
    builders: dict[int, str] = field(default_factory=dict)
    """By the `id` of an object: the plugin that built it; none for the runtime's companions."""
    watched: Sequence[Original] = ()
    """Inputs to be compared after each third-party plugin, because one of them is known to edit them."""
    frozen: dict[str, Document] = field(default_factory=dict)
    """By `Kind/name`: the documents of objects that were rendered earlier, and are only judged."""
    unowned: Mapping[tuple[str, str], Sequence[Tree]] = field(default_factory=dict)
    """Objects of no TrainJob, by kind and name of what they provide; they are not rendered."""
    beside: dict[str, Document] = field(default_factory=dict)
    """By `Kind/name`: the documents of the job's own companions."""
    _jobset: JobSetView | None = None
    _patched: dict[str, tuple[Tree, int]] = field(default_factory=dict)
    """By `Kind/name`: a patched object as it was built, and the last patch that changed it."""
    _images: dict[Path, int] = field(default_factory=dict)
    """By path in the JobSet: the entry of the Environment's `images` that set it."""
    patches: frozenset[int] = frozenset()
    """The indexes of the Environment's patches that matched an object."""

    def settings(self, kind: type[Kind]) -> Kind:
        """The settings of the plugin whose attribute `settings` is `kind`, from the Environment's `spec.plugins`."""
        found = self.plugin_settings[kind]
        assert isinstance(found, kind)
        return found

    @property
    def environment(self) -> Environment:
        return self.destination.environment

    @property
    def environment_document(self) -> Document | None:
        """None without an Environment."""
        return self.destination.document

    @property
    def runtime_is_shipped(self) -> bool:
        """Whether the runtime is one of ours, and so in no file that a user can edit."""
        return self.runtime_document.file.startswith(SHIPPED)

    @property
    def name(self) -> str:
        return str(self.metadata["name"])

    @property
    def stable_name(self) -> str:
        """The TrainJob's name, which is also the JobSet's unless that ends in a content hash."""
        return self.job.metadata.name

    def stable(self, name: str) -> str:
        """An object's `name` without the content hash, if it has one."""
        return name.replace(self.name, self.stable_name)

    @property
    def namespace(self) -> str:
        return str(self.metadata["namespace"])

    @property
    def subdomain(self) -> str:
        """The DNS subdomain of the pods: `network.subdomain`, else the JobSet's name."""
        return (self.spec.get("network") or {}).get("subdomain") or self.name

    @property
    def num_nodes(self) -> int | None:
        """The TrainJob's `spec.trainer.numNodes`; None leaves it to the runtime."""
        trainer = self.job.spec.trainer
        return trainer.num_nodes if trainer else None

    @property
    def num_proc_per_node(self) -> int | None:
        """The TrainJob's `spec.trainer.numProcPerNode`; None leaves it to the runtime."""
        trainer = self.job.spec.trainer
        return trainer.num_proc_per_node if trainer else None

    @property
    def trainer_pod_set(self) -> PodSet | None:
        """The first pod set of the trainer step, the one that upstream uses."""
        return next((pods for pods in self.pod_sets if pods.step == TRAINER_STEP), None)

    @property
    def trainer_container(self) -> Tree | None:
        """The `node` container of the trainer step."""
        pods = self.trainer_pod_set
        return pods.container(NODE_CONTAINER) if pods else None

    @property
    def gangs(self) -> list[Stage]:
        """The pod sets of each gang: of one, unless the Environment wants one for each stage."""
        return gangs_of(self.name, self.pod_sets, self.spec, per_stage=self.gang.per_stage)

    def pod_set(self, name: str) -> PodSet | None:
        """The pod set of the replicated job `name`."""
        return next((pods for pods in self.pod_sets if pods.name == name), None)

    @property
    def jobset(self) -> JobSetView | None:
        """The JobSet among the finished objects, final patches included; None if none was built."""
        for tree in self.objects:
            if tree.get("kind") == "JobSet":
                if self._jobset is None or self._jobset.tree is not tree:
                    self._jobset = JobSetView.of(tree)
                return self._jobset
        return None

    @property
    def failed(self) -> bool:
        return has_errors(self.diagnostics)

    def report(
        self, code: str, message: str, *, severity: Severity = "error", hint: str = "", **where: Unpack[Where]
    ) -> None:
        """Report a problem."""
        path, place, point = where.get("path", ()), where.get("place"), where.get("point", ())
        if source := where.get("source"):
            origin, path = source
            documents = {"runtime": self.runtime_document, "environment": self.destination.document}
            place = documents.get(origin)
        if place is None:
            place, path, point = self.job_document, self.job_read.source_path(path), self.job_read.source_path(point)
        at = place.position(point) if point else None
        shown = where.get("object", ""), where.get("object_path", ())
        self.diagnostics.append(Diagnostic(code, severity, message, hint, path, place, at, self.ledger.actor, *shown))

    def report_object(
        self,
        tree: Tree,
        path: Path,
        code: str,
        message: str,
        *,
        severity: Severity = "error",
        hint: str = "",
        source: Source | None = None,
    ) -> None:
        """Report a problem at `path` of a finished object: at `source`, else at the line of the TrainJob or runtime
        that set it."""
        where: Where = {"source": source, "object": object_name(tree), "object_path": path}
        if source is None:
            where["place"], where["path"] = self.blame(tree, path)
        self.report(code, message, severity=severity, hint=hint, **where)

    def warn(self, code: str, message: str, *, hint: str = "", **where: Unpack[Where]) -> None:
        """Report something that works, but probably not as intended."""
        self.report(code, message, severity="warning", hint=hint, **where)

    def deviates(self, code: str, message: str, *, hint: str = "", **where: Unpack[Where]) -> None:
        """Report, once per code, that the result differs from the controller's by deviation `code`. `message` says what
        the controller would have done. Call it only if the result differs."""
        if all(diagnostic.code != f"TF{code}" for diagnostic in self.diagnostics):
            self.deviates_each(code, message, hint=hint, **where)

    def deviates_each(self, code: str, message: str, *, hint: str = "", **where: Unpack[Where]) -> None:
        """Like `deviates`, but reported at every place."""
        self.report(f"TF{code}", message, severity=DEVIATIONS[code].severity, hint=hint, **where)

    def new_object(self, api_version: str, kind: str, name: str = "", **fields: Any) -> Tree:
        """An object for `Plugin.build`, named like the JobSet by default; `fields` are its spec or data."""
        metadata = {"name": name or self.name, "namespace": self.namespace}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}

    def add(self, builder: str, objects: Iterable[Tree]) -> None:
        """Add the objects that plugin `builder` built."""
        for tree in objects:
            self.objects.append(tree)
            self.builders[id(tree)] = builder

    def need_secret(self, kind: KeyKind, name: str) -> None:
        """Request a key Secret called `name`; plugin `secrets` provides it while objects are built."""
        self.secrets.append(SecretNeed.of(kind, name, self.namespace))

    def label_jobset(self, key: str, value: str, source: Source | None = None) -> None:
        """Label the JobSet. This overrides the template's label; the TrainJob's own overrides this one (D12)."""
        self.ledger.record(("label", key), value)
        self._mark("labels", key, value, source)

    def annotate_jobset(self, key: str, value: str, source: Source | None = None) -> None:
        """Annotate the JobSet."""
        self.ledger.record(("annotation", key, "the JobSet"), value)
        self._mark("annotations", key, value, source)

    def _mark(self, kind: str, key: str, value: str, source: Source | None) -> None:
        self.metadata[kind] = {**(self.metadata.get(kind) or {}), key: value}
        self.record_source(source, "metadata", kind, key, value=value)

    def label_pods(
        self, key: str, value: str, source: Source | None = None, *, steps: Iterable[PodSet] | None = None
    ) -> None:
        """Label every pod template, or those of `steps`."""
        self._record_mark("label", key, value, steps)
        for pods in self.pod_sets if steps is None else steps:
            pods.label(key, value, source)

    def annotate_pods(
        self, key: str, value: str, source: Source | None = None, *, steps: Iterable[PodSet] | None = None
    ) -> None:
        """Annotate every pod template, or those of `steps`."""
        self._record_mark("annotation", key, value, steps)
        for pods in self.pod_sets if steps is None else steps:
            pods.annotate_later(key, value, source)

    def _record_mark(self, kind: str, key: str, value: str, steps: Iterable[PodSet] | None) -> None:
        names = [()] if steps is None else [(pods.name,) for pods in steps]
        for name in names:
            self.ledger.record((kind, key, *name), value)

    def record_source(
        self,
        source: Source | None,
        *path: str | tuple[str, int],
        value: Any = None,
        object: Tree | None = None,
    ) -> None:
        """Record that the element at `path` of the JobSet, or of another `object` of the job, comes from `source`.

        `trainform explain` then names that line instead of the plugin, as long as the document has the value. Verbs of
        plan and pod sets that take a `source` call this; call it yourself for anything else. List entries go by name:
        `("node", 0)` is the first called `node`. Pass `value` if the element is written differently than in the
        document. Free unless the compile is observed.
        """
        if source is not None and self.ledger.copies is not None:
            self.ledger.record_copy(source, path, value, object_name(object) if object else "")

    def patch(self) -> None:
        """Apply the Environment's final patches and images to the built objects, and report what they break."""
        built = {object_name(tree): tree for tree in self.objects} if self.destination.patches else {}
        patched = self.destination.patch(self.objects, self.stable)
        self.objects, problems, changed, self._images, self.patches = patched
        self.diagnostics += problems
        self._patched = {name: (built[name], last) for name, last in changed.items()}

    def blame(self, tree: Tree, path: Path) -> tuple[Document, Path]:
        """The document and path that set the element at `path` of a finished object: its own document if it is frozen
        or a companion, an image or a patch of the Environment, else as `blame` of provenance tells."""
        name = object_name(tree)
        if (document := self.frozen.get(name) or self.beside.get(name)) is not None:
            return document, path
        return self.blame_environment(tree, path) or blame(self, tree, path)

    def blame_environment(self, tree: Tree, path: Path) -> tuple[Document, Path] | None:
        """The Environment and the path in it, if its images or patches set the element at `path` of an object."""
        document = self.destination.document
        if document is None:
            return None
        if tree["kind"] == "JobSet" and path in self._images:
            return document, self.destination.image_path(self._images[path])
        if (patched := self._patched.get(object_name(tree))) is not None:
            before, last = patched
            is_gone = value_at(tree, path, None) is None and value_at(before, path, None) is not None
            if found := self.destination.setter(tree, path, self.stable) or (patch_path(last) if is_gone else ()):
                return document, found
        return None
