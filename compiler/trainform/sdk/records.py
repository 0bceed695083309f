"""What a repository knows of jobs and runtimes, read once."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from trainform.diagnostics.order import has_errors
from trainform.diagnostics.suggest import did_you_mean, listed
from trainform.io.repository import find_root
from trainform.k8s.tree import Tree, metadata_of, name_of
from trainform.workspace import InvocationError
from trainform.workspace.diff.versions import version_rendered
from trainform.workspace.discovery import Workspace, discover
from trainform.workspace.runtimes import KINDS, known_runtimes
from trainform.workspace.selection import job_id

if TYPE_CHECKING:
    from trainform.source import Document
    from trainform.workspace.inputs import EnvironmentInputs


class Records:
    """One reading of the repository at `root`, for one Environment and one namespace (empty: the Environment's)."""

    def __init__(self, root: str, environment: str, namespace: str = "") -> None:
        self.workspace: Workspace = discover(root, [environment])
        (self._inputs,) = self.workspace.environments
        self.namespace = namespace or self._inputs.namespace
        self.default_namespace = self._inputs.namespace

    @cached_property
    def runtimes(self) -> dict[tuple[str, str], Tree]:
        """The runtimes that a job of the namespace may name, by kind and name; the repository's before shipped ones."""
        known = known_runtimes(self.workspace.repository)
        found: dict[tuple[str, str], Tree] = {}
        for document in [*known.own, *known.shipped]:
            kind = str(document.tree.get("kind"))
            if kind in KINDS and (kind == KINDS[0] or self._namespace_of(document.tree) == self.namespace):
                found.setdefault((kind, name_of(document.tree)), document.tree)
        return found

    def runtime(self, name: str) -> Tree:
        """As the SDK looks for it: that of the namespace, else that of the cluster. Raises LookupError."""
        for kind in reversed(KINDS):
            if (kind, name) in self.runtimes:
                return self.runtimes[kind, name]
        names = sorted({known for _, known in self.runtimes})
        raise LookupError(f'there is no runtime "{name}": {did_you_mean(name, names) or f"known are {listed(names)}"}')

    @cached_property
    def jobs(self) -> dict[str, Document]:
        """The TrainJobs of the namespace by name, in the order of their files."""
        inputs = self._with_jobs
        ids = ((*job_id(inputs, each)[1:], each) for each in inputs.train_jobs())
        return {name: document for namespace, name, document in ids if name and namespace == self.namespace}

    def job(self, name: str) -> Document:
        """Raises LookupError."""
        if name not in self.jobs:
            hint = did_you_mean(name, self.jobs) or "list_jobs() lists what is there"
            raise LookupError(f'there is no TrainJob "{name}" in namespace {self.namespace}: {hint}')
        return self.jobs[name]

    def jobset_of(self, name: str) -> str:
        """The name of the JobSet that a job was rendered to; the job's, if it never was."""
        version = version_rendered(self.workspace.locks, (self._inputs.name, self.namespace, name))
        names = (name_of(tree) for tree in version.objects if tree.get("kind") == "JobSet")
        return next(names, name)

    def written(self, document: Document) -> datetime:
        """When the job's file was written last."""
        path = os.path.join(self.workspace.repository.root, document.file)
        return datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC)

    @cached_property
    def _with_jobs(self) -> EnvironmentInputs:
        (inputs,) = self.workspace.read()
        return inputs

    def _namespace_of(self, tree: Tree) -> str:
        return str(metadata_of(tree).get("namespace") or self.default_namespace)


def root_and_environment(root: str, environment: str | None) -> tuple[str, str]:
    """The repository that holds the folder `root`, and the Environment's name. Raises InvocationError."""
    if not os.path.isdir(root):
        raise InvocationError(f"root: there is no folder {root}")
    found = find_root(root)
    workspace = discover(found, [environment] if environment else ())
    if has_errors(workspace.problems):
        raise InvocationError("; ".join(f"{each.file}: {each.message}" for each in workspace.problems))
    names = [each.name for each in workspace.environments]
    if len(names) > 1:
        raise InvocationError(f'say which Environment: env="{names[0]}", or another of {", ".join(names)}')
    return found, names[0]
