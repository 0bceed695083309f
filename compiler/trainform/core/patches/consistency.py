"""Checks that a job's objects still fit together after an Environment's patches. A PodGroup counts the JobSet's pods
and their requests; a hostfile lists their names. A patch of the JobSet alone leaves a gang that waits forever, or a
launcher that cannot reach its nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.jobset_view import JobSetView, ReplicatedJob
from trainform.core.patches.objects import Patched
from trainform.core.patches.targets import PatchProblem
from trainform.k8s.pod_requests import Requests, pod_requests, scaled_sum
from trainform.k8s.quantity import ZERO, QuantityError, parse
from trainform.k8s.schema import validate as schema
from trainform.k8s.tree import Tree, metadata_of, name_of, object_name, table, tables, text

if TYPE_CHECKING:
    from trainform.diagnostics import Path

GROUP_KEYS = (("labels", "scheduling.x-k8s.io/pod-group"), ("annotations", "scheduling.k8s.io/group-name"))
"""Where a pod names its PodGroup: for coscheduling, and for Volcano."""

_HOSTFILE: Path = ("data", "hostfile")
"""Path of the hostfile in a ConfigMap."""

_Size = tuple[int, int]
"""Replicas of a replicated job, and pods per replica."""

_Pod = tuple[str, int, int]
"""Replicated job, replica index, and pod index."""

_POD = re.compile("(.+)-(0|[1-9][0-9]{0,9})-(0|[1-9][0-9]{0,9})")

_OR_NODES = "or set the number of nodes in the job instead"


def consistency_problems(before: Sequence[Tree], patched: Patched) -> list[PatchProblem]:
    """Objects that no longer fit the JobSet after the patches, each reported at the last patch that touched either.
    `before` are one job's objects as built. Mismatches that existed before are not reported, and a JobSet that violates
    its schema is left to the object checks."""
    old, new = [_only_jobset(objects) if patched.changed else None for objects in (before, patched.objects)]
    if old is None:
        return []
    if new is None:
        return [_removed_jobset(old, patched)]
    others = [tree for tree in before if tree is not old]
    if not others or schema.check("JobSet", new):
        return []
    views = JobSetView.of(old), JobSetView.of(new)
    now = {object_name(tree): tree for tree in patched.objects}
    changes = [_Change(*views, tree, now.get(object_name(tree))) for tree in others]
    return [_told(each, new, patched) for change in changes for each in _misfits(change)]


class _Change(NamedTuple):
    """The JobSet and another object of the job, before and after the patches."""

    old: JobSetView
    new: JobSetView
    then: Tree
    now: Tree | None


class _Misfit(NamedTuple):
    """What is wrong at `path` of the object that was `tree`."""

    tree: Tree
    path: Path
    message: str
    hint: str


def _misfits(change: _Change) -> Iterator[_Misfit]:
    kind, name, now = change.then["kind"], object_name(change.then), change.now
    if now is None:
        yield from _missed(change)
    elif kind == "PodGroup" and name in _named_by_pods(change.old):
        gang = change._replace(old=_gang(change.old, name), new=_gang(change.new, name))
        yield from _members(gang, now)
        yield from _resources(gang, now)
    elif kind == "ConfigMap":
        yield from _hosts(change, now)


def _missed(change: _Change) -> Iterator[_Misfit]:
    """A removed object that pods still depend on."""
    name = object_name(change.then)
    if name in _named_by_pods(change.new):
        jobset = object_name(change.new.tree)
        hint = "keep it, or also patch away the references in the pods"
        yield _Misfit(change.then, (), f"removes {name}, which the pods of {jobset} need", hint)


def _members(change: _Change, now: Tree) -> Iterator[_Misfit]:
    wanted, given = _pod_count(change.new), table(now, "spec").get("minMember")
    before = (_pod_count(change.old), table(change.then, "spec").get("minMember"))
    if given is None or given == wanted or before == (wanted, given):
        return
    message = f"waits for {given} pods, but {object_name(change.new.tree)} has {wanted}"
    yield _Misfit(now, ("spec", "minMember"), message, f"patch it to {wanted}, {_OR_NODES}")


def _resources(change: _Change, now: Tree) -> Iterator[_Misfit]:
    given = _amounts(table(table(now, "spec"), "minResources"))
    wanted = _requests(change.new)
    before = (_requests(change.old), _amounts(table(table(change.then, "spec"), "minResources")))
    if not given or given == wanted or before == (wanted, given):
        return
    message = f"requests {_shown(given)}, but the pods of {object_name(change.new.tree)} request {_shown(wanted)}"
    yield _Misfit(now, ("spec", "minResources"), message, "patch it to the same amounts, or remove it")


def _hosts(change: _Change, now: Tree) -> Iterator[_Misfit]:
    listed, pods = _listed_hosts(now), _HostNames.of(change.new)
    then, pods_then = _listed_hosts(change.then), _HostNames.of(change.old)
    if (listed, pods) == (then, pods_then):
        return
    strangers = [host for host in listed if pods.find(host) is None]
    jobs = {found[0] for host in then if (found := pods_then.find(host))}
    missing = next(pods.missing(listed, jobs), "")
    jobset, hint = object_name(change.new.tree), f"also patch the hostfile, {_OR_NODES}"
    if strangers:
        yield _Misfit(now, _HOSTFILE, f"lists {strangers[0]}, which is not a pod of {jobset}", hint)
    elif missing:
        yield _Misfit(now, _HOSTFILE, f"does not list {missing}, a pod of {jobset}", hint)


def _pod_count(jobset: JobSetView) -> int:
    return sum(job.replicas * job.parallelism for job in jobset.jobs)


def _requests(jobset: JobSetView) -> Requests:
    """The requests of all pods, as in a PodGroup's `minResources`; empty if unreadable."""
    try:
        each = [
            (pod_requests(job.pod_spec, limits_default_requests=True), job.replicas * job.parallelism)
            for job in jobset.jobs
        ]
    except QuantityError:
        return {}
    return _amounts(scaled_sum(each))


def _amounts(resources: Mapping[str, Any]) -> Requests:
    """Amounts by name, without zeros; empty if one is unreadable."""
    try:
        amounts = {name: parse(resources[name]) for name in sorted(resources)}
    except QuantityError:
        return {}
    return {name: amount for name, amount in amounts.items() if amount != ZERO}


def _named_by_pods(jobset: JobSetView) -> set[str]:
    """The PodGroups and ConfigMaps that pods cannot start without, as `Kind/name`."""
    names = set()
    for job in jobset.jobs:
        names |= _groups_of(job)
        for volume in tables(job.pod_spec, "volumes"):
            names.add(f"ConfigMap/{text(table(volume, 'configMap'), 'name')}")
    return names


def _groups_of(job: ReplicatedJob) -> set[str]:
    """The PodGroups that the pods of a step name, as `Kind/name`."""
    metadata = metadata_of(job.pod)
    return {f"PodGroup/{text(table(metadata, field), key)}" for field, key in GROUP_KEYS}


def _gang(jobset: JobSetView, pod_group: str) -> JobSetView:
    """The JobSet with only the members of a PodGroup (`Kind/name`)."""
    return jobset._replace(jobs=[job for job in jobset.jobs if pod_group in _groups_of(job)])


def _only_jobset(objects: Iterable[Tree]) -> Tree | None:
    return next((tree for tree in objects if tree["kind"] == "JobSet"), None)


def _shown(amounts: Requests) -> str:
    return ", ".join(f"{name}: {amount}" for name, amount in amounts.items()) or "nothing"


def _removed_jobset(jobset: Tree, patched: Patched) -> PatchProblem:
    name = object_name(jobset)
    hint = "exclude the job with the Environment's spec.jobs instead"
    message = f"removes {name}, so nothing of the job would run"
    return PatchProblem(patched.changed[name], ("patch",), message, hint, object=name)


def _told(misfit: _Misfit, jobset: Tree, patched: Patched) -> PatchProblem:
    name = object_name(misfit.tree)
    index = max(patched.changed.get(each, -1) for each in (name, object_name(jobset)))
    message = misfit.message if not misfit.path else f"after the patches, {name} {misfit.message}"
    return PatchProblem(index, ("patch",), message, misfit.hint, object=name, object_path=misfit.path)


def _listed_hosts(config_map: Tree) -> list[str]:
    """The first word of each line of a hostfile, without the slots that may follow a colon."""
    lines = (line.split() for line in text(table(config_map, "data"), "hostfile").splitlines())
    return [words[0].partition(":")[0] for words in lines if words and not words[0].startswith("#")]


class _HostNames(NamedTuple):
    """The host names of a JobSet's pods: `<jobset>-<job>-<replica>-<pod>.<subdomain>`. They are counted, never listed:
    a patch may ask for two billion of them."""

    jobset: str
    subdomain: str
    sizes: Mapping[str, _Size]

    @classmethod
    def of(cls, jobset: JobSetView) -> _HostNames:
        name, network = name_of(jobset.tree), table(jobset.spec, "network")
        sizes = {job.name: (job.replicas, job.parallelism) for job in jobset.jobs}
        return cls(name, text(network, "subdomain") or name, sizes)

    def find(self, host: str) -> _Pod | None:
        """The pod of a host name, which may end in namespace and cluster domain; None if it is not one of this
        JobSet's."""
        name, _, domain = host.partition(".")
        start = f"{self.jobset}-"
        parts = _POD.fullmatch(name.removeprefix(start)) if name.startswith(start) else None
        if parts is None or domain.split(".")[0] != self.subdomain:
            return None
        job, replica, pod = parts[1], int(parts[2]), int(parts[3])
        count, size = self.sizes.get(job, (0, 0))
        return (job, replica, pod) if replica < count and pod < size else None

    def missing(self, hosts: Iterable[str], jobs: Collection[str]) -> Iterator[str]:
        """The hosts of the replicated `jobs` that are not in `hosts`, in order."""
        found = {self.find(host) for host in hosts}
        for job in (job for job in self.sizes if job in jobs):
            count, size = self.sizes[job]
            for index in range(count * size):
                replica, pod = divmod(index, size)
                if (job, replica, pod) not in found:
                    yield f"{self.jobset}-{job}-{replica}-{pod}.{self.subdomain}"
