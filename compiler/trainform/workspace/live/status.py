"""`trainform status`: what is rendered, against the JobSets of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.cluster import ClusterError, NotAllowed
from trainform.cluster.served import Served
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.paths import locked_jobs
from trainform.k8s.pulled.access import STATUS_RULES, AccessRule
from trainform.k8s.tree import Tree, metadata_of, name_of, text
from trainform.review.live.judge import ORPHANED, first_failed, is_orphan, judged, workloads_by_jobset
from trainform.review.live.model import FailedPod, LiveJob, LiveStatus
from trainform.workspace import InvocationError
from trainform.workspace.diff.versions import version_rendered
from trainform.workspace.discovery import discover
from trainform.workspace.live.access import cluster_of, one_environment

if TYPE_CHECKING:
    from trainform.cluster.client import Client
    from trainform.cluster.connection import Login
    from trainform.io.paths import JobId
    from trainform.workspace.discovery import Workspace

JOBSET = ("jobset.x-k8s.io/v1alpha2",)
WORKLOAD = ("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
LABEL_OF_PODS = "jobset.sigs.k8s.io/jobset-name"
LINES = 10
BYTES = 16_384
"""Of the log of a pod that failed."""

Named = tuple[str, str]
"""Namespace and name."""


class RenderedJobSets(NamedTuple):
    """Git's JobSets by job, the names of those that other environments render, as they may be of the same cluster, and
    jobs whose JobSet cannot be read."""

    own: Mapping[JobId, Tree]
    others: frozenset[Named]
    unreadable: Sequence[JobId]


def status(root: str, asked: Sequence[str], jobs: Sequence[str], login: Login) -> LiveStatus:
    """The jobs of one environment, or those that are named, and then no orphans. Raises InvocationError."""
    workspace = discover(root, asked)
    environment = one_environment(workspace).name
    rendered = _rendered(workspace, environment)
    chosen = _chosen(rendered.own, jobs)
    with cluster_of(workspace.repository.root, login) as connection:
        look = _Look(connection.client, sorted({job[1] for job in rendered.own}))
        live = look.jobsets()
        workloads = look.workloads()
        found = [_job(job, rendered.own[job], live, workloads, look) for job in chosen]
        if not jobs:
            found += _orphans(environment, rendered, live)
        found.sort(key=lambda job: (job.namespace, job.name))
        unreadable = ["/".join(job[1:]) for job in rendered.unreadable]
        return LiveStatus(environment, found, connection.context, connection.server, look.notes, unreadable)


def _rendered(workspace: Workspace, environment: str) -> RenderedJobSets:
    """Raises InvocationError if a rendered folder cannot be read."""
    own: dict[JobId, Tree] = {}
    others: set[Named] = set()
    unreadable: list[JobId] = []
    for job in locked_jobs(workspace.repository.root):
        try:
            objects = version_rendered(workspace.locks, job).objects
        except OSError as error:
            raise InvocationError(f"{error.filename or '/'.join(job)}: {error.strerror or error}") from error
        tree = next((each for each in objects if each.get("kind") == "JobSet"), None)
        if job[0] != environment:
            others.update({(job[1], name_of(tree))} if tree else ())
        elif tree is None:
            unreadable.append(job)
        else:
            own[job] = tree
    return RenderedJobSets(own, frozenset(others), unreadable)


def _chosen(own: Mapping[JobId, Tree], asked: Sequence[str]) -> list[JobId]:
    if not asked:
        return [*own]
    known = {name for _, namespace, job in own for name in (job, f"{namespace}/{job}")}
    for name in asked:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InvocationError(f'no rendered job is named "{name}"{f": {hint}" if hint else ""}')
    return [job for job in own if job[2] in asked or f"{job[1]}/{job[2]}" in asked]


def _job(job: JobId, git: Tree, live: Mapping[Named, Tree], workloads: Mapping[Named, Tree], look: _Look) -> LiveJob:
    key = (job[1], name_of(git))
    found = judged(job[1], job[2], git, live.get(key), workloads.get(key))
    return found._replace(pod=look.failed_pod(*key)) if found.state == "failed" else found


def _orphans(environment: str, rendered: RenderedJobSets, live: Mapping[Named, Tree]) -> list[LiveJob]:
    known = {(job[1], name_of(tree)) for job, tree in rendered.own.items()} | rendered.others
    return [
        LiveJob(namespace, name, name, "orphaned", ORPHANED)
        for (namespace, name), tree in live.items()
        if (namespace, name) not in known and is_orphan(tree, environment)
    ]


class _Look:
    """Looks at a cluster: in all namespaces where that is allowed, else in those that git has. What a user may not see
    beyond JobSets becomes a note."""

    def __init__(self, client: Client, namespaces: Sequence[str]) -> None:
        self._client, self._namespaces = client, namespaces
        self._served = Served(client)
        self.notes: list[str] = []

    def jobsets(self) -> dict[Named, Tree]:
        """Raises ClusterError if there are none to see."""
        if self._served.find(JOBSET, "JobSet") is None:
            raise ClusterError(f"JobSet is not installed in this cluster: it does not serve {JOBSET[0]}")
        try:
            found = self._listed(JOBSET, "JobSet")
        except NotAllowed as error:
            raise ClusterError(f"{error}; a role needs {STATUS_RULES[0]}") from error
        return {(text(metadata_of(tree), "namespace"), name_of(tree)): tree for tree in found}

    def workloads(self) -> Mapping[Named, Tree]:
        try:
            return workloads_by_jobset(self._listed(WORKLOAD, "Workload"))
        except NotAllowed:
            self._note("why jobs are queued is not known", STATUS_RULES[1])
            return {}

    def failed_pod(self, namespace: str, jobset: str) -> FailedPod | None:
        pods = self._served.find(("v1",), "Pod")
        if pods is None:
            return None
        try:
            found = first_failed(self._client.listed(pods, namespace, labelSelector=f"{LABEL_OF_PODS}={jobset}"))
        except NotAllowed:
            self._note("which pods failed is not known", STATUS_RULES[2])
            return None
        if found is None:
            return None
        query = {"container": found.container, "tailLines": str(LINES), "limitBytes": str(BYTES)}
        try:
            log = self._client.log(pods.path(namespace, found.name), **query)
        except NotAllowed:
            self._note("logs cannot be read", STATUS_RULES[3])
            return found
        except ClusterError:
            return found  # the log is gone with its node
        return found._replace(log=tuple(log.splitlines()[-LINES:]))

    def _note(self, what: str, rule: AccessRule) -> None:
        told = f"{what}: a role needs {rule}"
        if told not in self.notes:
            self.notes.append(told)

    def _listed(self, versions: Iterable[str], kind: str) -> list[Tree]:
        resource = self._served.find(versions, kind)
        if resource is None:
            return []
        try:
            return self._client.listed(resource)
        except NotAllowed:
            found = [tree for namespace in self._namespaces for tree in self._client.listed(resource, namespace)]
        if kind == "JobSet":
            self.notes.append("orphans are looked for only in the namespaces of git: listing all is not allowed")
        return found
