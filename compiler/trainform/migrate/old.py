"""Jobs of `kubeflow.org`, taken apart: what the operators read of them, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.hints import better_name
from trainform.core.jobset_view import NODE_CONTAINER
from trainform.diagnostics import Diagnostic
from trainform.k8s.names import dns1035_label, dns1123_label
from trainform.k8s.tree import Tree, name_of, number, table, tables, text

if TYPE_CHECKING:
    from trainform.diagnostics import Path, Severity
    from trainform.source import Document


class OldKind(NamedTuple):
    """A kind of job: where its replicas stand, its roles in the order of their ranks, and the operator's defaults: the
    main container, its port, and what happens when a pod fails. `name` begins the names of its runtimes."""

    name: str
    replicas: str
    roles: tuple[str, ...]
    container: str
    port_name: str
    port: int
    restart: str


KINDS = {
    "PyTorchJob": OldKind(
        "torch", "pytorchReplicaSpecs", ("Master", "Worker"), "pytorch", "pytorchjob-port", 23456, "OnFailure"
    ),
    "TFJob": OldKind(
        "tensorflow",
        "tfReplicaSpecs",
        ("Chief", "Master", "Worker", "PS", "Evaluator"),
        "tensorflow",
        "tfjob-port",
        2222,
        "Never",
    ),
    "XGBoostJob": OldKind(
        "xgboost", "xgbReplicaSpecs", ("Master", "Worker"), "xgboost", "xgboostjob-port", 9999, "Never"
    ),
    "JAXJob": OldKind("jax", "jaxReplicaSpecs", ("Worker",), "jax", "jaxjob-port", 6666, "Never"),
    "PaddleJob": OldKind("paddle", "paddleReplicaSpecs", ("Master", "Worker"), "paddle", "master", 36543, "OnFailure"),
    "MPIJob": OldKind("mpi", "mpiReplicaSpecs", ("Launcher", "Worker"), "mpi", "mpi-port", 9999, "Never"),
}
"""Source: kubeflow/training-operator `pkg/apis/kubeflow.org/v1`."""

GROUP = "kubeflow.org"
MPI_OVER_SSH = "kubeflow.org/v2beta1"
"""The MPI Operator's own version; in the others, mpirun reaches its workers with `kubectl exec`."""

MOST_PODS = 10_000
MOST_NAMED_PODS = 1_000
"""Most pods of a job, and of one of a kind whose pods are all told each other's names."""

NAMES_PODS = ("tensorflow", "xgboost")


def is_count(text: str) -> bool:
    """Whether a text is a number of something."""
    return text.isascii() and text.isdigit() and len(text) < 10


class Replica(NamedTuple):
    """One role of an old job: how many pods of which template, which `path` of the document says so, and what happens
    when one fails."""

    role: str
    pods: int
    template: Tree
    restart: str
    path: Path

    @property
    def pod_spec(self) -> Tree:
        return table(self.template, "spec")


@dataclass(slots=True)
class OldJob:
    """A job to migrate, and what is told about it."""

    document: Document
    kind: OldKind
    replicas: dict[str, Replica]
    told: list[Diagnostic] = field(default_factory=list)

    @property
    def spec(self) -> Tree:
        return table(self.document.tree, "spec")

    @property
    def name(self) -> str:
        """Its name; of a generated one, the part that is written."""
        metadata = table(self.document.tree, "metadata")
        return name_of(self.document.tree) or text(metadata, "generateName").rstrip("-.")

    @property
    def total(self) -> int:
        """The pods of all roles."""
        return sum(replica.pods for replica in self.replicas.values())

    @property
    def is_over_ssh(self) -> bool:
        return text(self.document.tree, "apiVersion") == MPI_OVER_SSH

    def port(self, role: str) -> int:
        """The port on which the role listens."""
        for container in tables(self.replicas[role].pod_spec, "containers"):
            for port in tables(container, "ports"):
                if text(port, "name") == self.kind.port_name:
                    return number(port, "containerPort") or self.kind.port
        return self.kind.port

    def main(self, replica: Replica) -> int:
        """The index of the role's main container: of the operator's name, else the first."""
        wanted = text(self.spec, "mainContainer") if self.kind.name == "mpi" else self.kind.container
        names = [text(each, "name") for each in tables(replica.pod_spec, "containers")]
        return names.index(wanted) if wanted in names else 0

    def tell(self, code: str, path: Path, message: str, hint: str = "", severity: Severity = "warning") -> None:
        """Report what is not as it was."""
        place = self.document
        self.told.append(Diagnostic(code, severity, message, hint, path, place, place.key_position(path)))

    def refuse(self, path: Path, message: str, hint: str) -> None:
        """Report why the job cannot be migrated."""
        self.tell("TF850", path, message, hint, "error")

    @property
    def is_refused(self) -> bool:
        return any(each.severity == "error" for each in self.told)

    def check(self, path: Path, tree: Tree, fields: Fields) -> None:
        """Report the fields of the tree at `path` that no operator reads, and values of another type."""
        for key, value in tree.items():
            types = fields.get(key)
            if types is None:
                message = "the operator has no such field, so nothing follows from it here"
                self.tell("TF862", (*path, key), message, "remove it")
            elif value is not None and type(value) not in types:
                self.refuse((*path, key), f"must be {_NAMES[types[0]]}", "write it as the operator reads it")


Fields = dict[str, tuple[type, ...]]
"""The types of values by field."""

_NAMES = {int: "a whole number", str: "a string", bool: "true or false", dict: "a mapping", list: "a list"}

DOCUMENT: Fields = {"apiVersion": (str,), "kind": (str,), "metadata": (dict,), "spec": (dict,), "status": (dict,)}
REPLICA: Fields = {"replicas": (int,), "restartPolicy": (str,), "template": (dict,)}


def take_apart(document: Document) -> OldJob:
    """The job in a document of one of `KINDS`. What keeps it from being migrated is told as an error."""
    job = OldJob(document, KINDS[text(document.tree, "kind")], {})
    job.check((), document.tree, DOCUMENT)
    _check_names(job)
    _take_replicas(job)
    for replica in job.replicas.values():
        _check_containers(job, replica)
    _check_size(job)
    return job


def _take_replicas(job: OldJob) -> None:
    """The roles that have pods. The operator reads their names in any case."""
    path: Path = ("spec", job.kind.replicas)
    found = table(job.spec, job.kind.replicas)
    names = {name.lower(): name for name in found}
    for role in job.kind.roles:
        if name := names.pop(role.lower(), ""):
            job.check((*path, name), table(found, name), REPLICA)
            replica = _replica(job, role, table(found, name), (*path, name))
            if replica.pods > 0:
                job.replicas[role] = replica
    for name in names.values():
        kind = text(job.document.tree, "kind")
        job.refuse((*path, name), f"a {kind} has no role {name}", f"its roles are {', '.join(job.kind.roles)}")


def _check_size(job: OldJob) -> None:
    path: Path = ("spec", job.kind.replicas)
    most = MOST_NAMED_PODS if job.kind.name in NAMES_PODS else MOST_PODS
    if not job.replicas:
        hint = f"write spec.{job.kind.replicas}, as the operator reads it"
        job.refuse(("spec",), f"the job has no pods: nothing in spec.{job.kind.replicas}", hint)
    elif job.total > most:
        job.refuse(path, f"the job has more than {most:,} pods", "write fewer replicas")


def _check_containers(job: OldJob, replica: Replica) -> None:
    """A main container, and none of the others under the name that it gets."""
    containers = tables(replica.pod_spec, "containers")
    if not containers:
        job.refuse(replica.path, f"{replica.role} has no containers", "write template.spec.containers")
        return
    names = [text(each, "name") for each in containers]
    others = [index for index, name in enumerate(names) if name == NODE_CONTAINER and index != job.main(replica)]
    for index in others:
        path = (*replica.path, "template", "spec", "containers", index, "name")
        job.refuse(path, f"the main container of a TrainJob is called {NODE_CONTAINER}", "call this one otherwise")


def _check_names(job: OldJob) -> None:
    """The names of job and namespace are those of files, too."""
    if not job.name:
        job.refuse(("metadata",), "the job has no name", "write metadata.name")
    elif reason := dns1035_label(job.name):
        hint = f"write name: {better_name(job.name)}"
        job.refuse(("metadata", "name"), f'"{job.name}" {reason}', hint)
    namespace = table(job.document.tree, "metadata").get("namespace")
    if namespace is not None and (reason := dns1123_label(str(namespace))):
        job.refuse(("metadata", "namespace"), f'"{namespace}" {reason}', "write the name of a namespace")


def _replica(job: OldJob, role: str, tree: Tree, path: Path) -> Replica:
    kind = job.kind
    pods, default, restart = number(tree, "replicas"), 1, kind.restart
    if (kind.name, role) == ("mpi", "Worker"):
        default = 0
    elif kind.name == "mpi" and job.is_over_ssh:  # there, the launcher is a Job
        restart = "OnFailure"
    pods = default if pods is None else pods
    return Replica(role, pods, table(tree, "template"), text(tree, "restartPolicy") or restart, path)
