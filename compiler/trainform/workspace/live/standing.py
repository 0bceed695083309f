"""How the jobs of an environment stand in a cluster, now and while it changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.cluster import MAY_PASS, ClusterError, NotAllowed, NotFound
from trainform.cluster.client import MOST_OBJECTS
from trainform.cluster.served import Served
from trainform.cluster.watch import BrokenOff, Changed, Listed, WatchSource
from trainform.k8s.pulled.access import STATUS_RULES, WATCH_RULES, AccessRule
from trainform.k8s.tree import Tree, metadata_of, name_of, text
from trainform.review.live.judge import ORPHANED, first_failed, is_orphan, judged, workloads_by_jobset
from trainform.review.live.model import FailedPod, LiveJob, LiveStatus

if TYPE_CHECKING:
    from trainform.cluster.client import Client
    from trainform.cluster.connection import Connection
    from trainform.cluster.resource import ApiResource
    from trainform.cluster.watch import News
    from trainform.io.paths import JobId

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


class Standing:
    """How the jobs of an environment stand: what git has, what the cluster had when it was asked, and what it told
    since. Raises ClusterError."""

    def __init__(
        self,
        environment: str,
        rendered: RenderedJobSets,
        chosen: Sequence[JobId],
        connection: Connection,
        *,
        with_orphans: bool,
    ) -> None:
        self._environment, self._rendered = environment, rendered
        self.connection = connection
        self._look = look = _Look(connection.client, sorted({job[1] for job in rendered.own}))
        self._with_orphans = with_orphans
        self._chosen = {(job[1], name_of(rendered.own[job])): job for job in chosen}
        self._known = {(job[1], name_of(tree)) for job, tree in rendered.own.items()} | rendered.others
        self._live = look.jobsets()
        self._workloads = look.workloads()
        self._troubles: dict[WatchSource, str] = {}
        self._jobs: dict[Named, LiveJob] = {}
        self._judge([*self._chosen, *self._live])

    @property
    def sources(self) -> Sequence[WatchSource]:
        """What was asked, to be watched from there on."""
        return self._look.sources

    def status(self) -> LiveStatus:
        jobs = sorted(self._jobs.values(), key=lambda job: (job.namespace, job.name))
        unreadable = ["/".join(job[1:]) for job in self._rendered.unreadable]
        notes = [*self._look.notes, *dict.fromkeys(self._troubles.values())]
        _, context, server = self.connection
        return LiveStatus(self._environment, jobs, context, server, notes, unreadable)

    def take(self, source: WatchSource, news: News) -> None:
        """What a watch tells. Raises ClusterError if it is over, and the jobs cannot be followed without it."""
        self._troubles.pop(source, None)
        if isinstance(news, BrokenOff):
            self._troubles[source] = f"the connection was lost, and is tried again: {news.reason}"
        elif isinstance(news, ClusterError):
            self._look.tell_denied(source, news)
        else:
            try:
                self._store(source, news)
            except MAY_PASS as error:
                self._troubles[source] = f"not everything is known: {error}"

    def _store(self, source: WatchSource, news: Listed | Changed) -> None:
        if len(self._live) + len(self._workloads) > MOST_OBJECTS:
            raise ClusterError(f"the cluster has more than {MOST_OBJECTS:,} JobSets and Workloads")
        of_workloads = source.resource.kind == "Workload"
        store = self._workloads if of_workloads else self._live
        named = workloads_by_jobset if of_workloads else _by_name
        if isinstance(news, Listed):
            before = {key for key in store if source.namespace in ("", key[0])}
            found = named(news.trees)
            for key in before:
                del store[key]
            store.update(found)
            self._judge(before | found.keys())
            return
        found = named([news.tree])
        for key, tree in found.items():
            if not news.gone:
                store[key] = tree
            elif key in store and name_of(store[key]) == name_of(tree):  # not if another Workload took its place
                del store[key]
        self._judge(found)

    def _judge(self, keys: Iterable[Named]) -> None:
        for key in keys:
            before, job = self._jobs.pop(key, None), self._judged(key)
            if job is None:
                continue
            self._jobs[key] = job  # whatever becomes of the next request
            if job.state == "failed":
                pod = before.pod if before and before.pod else self._look.failed_pod(*key)
                self._jobs[key] = job._replace(pod=pod)

    def _judged(self, key: Named) -> LiveJob | None:
        namespace, name = key
        live = self._live.get(key)
        if key in self._chosen:
            job = self._chosen[key]
            return judged(namespace, job[2], self._rendered.own[job], live, self._workloads.get(key))
        is_stray = self._with_orphans and live and key not in self._known and is_orphan(live, self._environment)
        return LiveJob(namespace, name, name, "orphaned", ORPHANED) if is_stray else None


class _Look:
    """Looks at a cluster: in all namespaces where that is allowed, else in those that git has. What a user may not see
    beyond JobSets becomes a note."""

    def __init__(self, client: Client, namespaces: Sequence[str]) -> None:
        self._client, self._namespaces = client, namespaces
        self._served = Served(client)
        self.notes: list[str] = []
        self.sources: list[WatchSource] = []

    def jobsets(self) -> dict[Named, Tree]:
        """Raises ClusterError if there are none to see."""
        if self._served.find(JOBSET, "JobSet") is None:
            raise ClusterError(f"JobSet is not installed in this cluster: it does not serve {JOBSET[0]}")
        try:
            found = self._listed(JOBSET, "JobSet")
        except NotAllowed as error:
            raise ClusterError(f"{error}; a role needs {STATUS_RULES[0]}") from error
        return _by_name(found)

    def workloads(self) -> dict[Named, Tree]:
        try:
            return workloads_by_jobset(self._listed(WORKLOAD, "Workload"))
        except NotAllowed:
            self._lacks("why jobs are queued is not known", STATUS_RULES[1])
            return {}

    def tell_denied(self, source: WatchSource, error: ClusterError) -> None:
        """A watch is over. Raises the error if jobs cannot be followed without it."""
        kind = source.resource.kind
        jobsets, workloads = (rule for rule in WATCH_RULES if rule.verb == "watch")
        if isinstance(error, NotAllowed):
            cure = f"a role needs {workloads if kind == 'Workload' else jobsets}"
        elif isinstance(error, NotFound):
            cure = f"see whether {kind} is still installed in this cluster, as {source.resource.version}"
        else:
            raise error
        if kind != "Workload":
            raise ClusterError(f"{error}; {cure}") from error
        self._note("why jobs are queued is not followed", cure)

    def failed_pod(self, namespace: str, jobset: str) -> FailedPod | None:
        pods = self._served.find(("v1",), "Pod")
        if pods is None:
            return None
        try:
            found = first_failed(self._client.listed(pods, namespace, labelSelector=f"{LABEL_OF_PODS}={jobset}"))
        except NotAllowed:
            self._lacks("which pods failed is not known", STATUS_RULES[2])
            return None
        if found is None:
            return None
        query = {"container": found.container, "tailLines": str(LINES), "limitBytes": str(BYTES)}
        try:
            log = self._client.log(pods.path(namespace, found.name), **query)
        except NotAllowed:
            self._lacks("logs cannot be read", STATUS_RULES[3])
            return found
        except ClusterError:
            return found  # the log is gone with its node
        return found._replace(log=tuple(log.splitlines()[-LINES:]))

    def _lacks(self, what: str, rule: AccessRule) -> None:
        self._note(what, f"a role needs {rule}")

    def _note(self, what: str, cure: str) -> None:
        told = f"{what}: {cure}"
        if told not in self.notes:
            self.notes.append(told)

    def _listed(self, versions: Iterable[str], kind: str) -> list[Tree]:
        resource = self._served.find(versions, kind)
        if resource is None:
            return []
        try:
            return self._of(resource, "")
        except NotAllowed:
            found = [tree for namespace in self._namespaces for tree in self._of(resource, namespace)]
        if kind == "JobSet":
            self.notes.append("orphans are looked for only in the namespaces of git: listing all is not allowed")
        return found

    def _of(self, resource: ApiResource, namespace: str) -> list[Tree]:
        trees, version = self._client.listing(resource, namespace)
        self.sources.append(WatchSource(resource, namespace, version))
        return [*trees]


def _by_name(trees: Iterable[Tree]) -> dict[Named, Tree]:
    return {(text(metadata_of(tree), "namespace"), name_of(tree)): tree for tree in trees}
