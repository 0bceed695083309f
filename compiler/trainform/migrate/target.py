"""What an old job becomes: replicated jobs, a framework, and the TrainJob's own settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trainform.core.jobset_view import NODE_CONTAINER
from trainform.core.trainer import COMPLETION_INDEX
from trainform.k8s.tree import Tree
from trainform.migrate.old import Replica

GLOBAL_INDEX = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"
"""The field path of a pod's number among all Jobs of its JobSet, where each of its Jobs is one pod."""

ELASTIC_BACKEND = "PET_RDZV_BACKEND"
"""A variable that every pod has whose program takes part in the rendezvous of an elastic job."""


class RolePods(NamedTuple):
    """A replicated job to be: `pods` of `replica`'s template with the variables that the operator would set; `fixed`
    are those that are the same for every job. `apart`: each pod is a Job of its own, so that it has a number among all
    pods. `settings`: further fields of the replicated job. `first_decides`: it is done once its first pod is; only the
    trainer's."""

    name: str
    replica: Replica
    pods: int
    variables: list[Tree]
    apart: bool = False
    fixed: Sequence[Tree] = ()
    settings: Tree | None = None
    first_decides: bool = False

    def host(self, job: str, index: int = 0) -> str:
        """The DNS name of one of its pods."""
        where = f"{index}-0" if self.apart else f"0-{index}"
        return f"{job}-{self.name}-{where}.{job}"


@dataclass(slots=True, kw_only=True)
class Target:
    """The first of `groups` has the trainer's step unless `trainer` names another. `framework` is a member of
    `mlPolicy` with its `settings`; empty for plain jobs. `nodes` is the TrainJob's `numNodes`. `jobset` has fields of
    the JobSet besides its replicated jobs, `gang` is a `podGroupPolicy`."""

    groups: list[RolePods]
    nodes: int
    trainer: str = NODE_CONTAINER
    framework: str = ""
    settings: Tree = field(default_factory=dict)
    processes: int | None = None
    jobset: Tree = field(default_factory=dict)
    gang: Tree = field(default_factory=dict)

    @property
    def keeps_rendezvous(self) -> bool:
        """Whether the pods meet as those of the elastic job did."""
        return any(each.get("name") == ELASTIC_BACKEND for group in self.groups for each in group.variables)


def variable(name: str, value: object) -> Tree:
    return {"name": name, "value": str(value)}


def field_variable(name: str, path: str) -> Tree:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def index_variable(name: str) -> Tree:
    """The number of a pod in its replicated job."""
    return field_variable(name, COMPLETION_INDEX)
