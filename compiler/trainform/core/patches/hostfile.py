"""The hosts of a hostfile for MPI, against the pods that a JobSet makes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.tree import Tree, name_of, table, text

if TYPE_CHECKING:
    from trainform.core.jobset_view import JobSetView
    from trainform.diagnostics import Path

HOSTFILE: Path = ("data", "hostfile")
"""Where a ConfigMap holds one."""

Size = tuple[int, int]
"""Replicas of a replicated job, and pods of each."""

Pod = tuple[str, int, int]
"""Replicated job, replica, and index of the pod."""

_POD = re.compile("(.+)-(0|[1-9][0-9]{0,9})-(0|[1-9][0-9]{0,9})")


def listed_hosts(config_map: Tree) -> list[str]:
    """The first word of each line of a hostfile, without the slots that may follow a colon."""
    lines = (line.split() for line in text(table(config_map, "data"), "hostfile").splitlines())
    return [words[0].partition(":")[0] for words in lines if words and not words[0].startswith("#")]


class HostNames(NamedTuple):
    """The host names of a JobSet's pods: `<jobset>-<job>-<replica>-<pod>.<subdomain>`.

    They are counted, never listed: a patch may ask for two thousand million of them.
    """

    jobset: str
    subdomain: str
    sizes: Mapping[str, Size]

    @classmethod
    def of(cls, jobset: JobSetView) -> HostNames:
        name, network = name_of(jobset.tree), table(jobset.spec, "network")
        sizes = {job.name: (job.replicas, job.parallelism) for job in jobset.jobs}
        return cls(name, text(network, "subdomain") or name, sizes)

    def find(self, host: str) -> Pod | None:
        """The pod of a host name, which may go on with namespace and cluster; None for a stranger."""
        name, _, domain = host.partition(".")
        start = f"{self.jobset}-"
        parts = _POD.fullmatch(name.removeprefix(start)) if name.startswith(start) else None
        if parts is None or domain.split(".")[0] != self.subdomain:
            return None
        job, replica, pod = parts[1], int(parts[2]), int(parts[3])
        count, size = self.sizes.get(job, (0, 0))
        return (job, replica, pod) if replica < count and pod < size else None

    def missing(self, hosts: Iterable[str], jobs: Collection[str]) -> Iterator[str]:
        """The hosts of the replicated `jobs` that are not among `hosts`, in order."""
        found = {self.find(host) for host in hosts}
        for job in (job for job in self.sizes if job in jobs):
            count, size = self.sizes[job]
            for index in range(count * size):
                replica, pod = divmod(index, size)
                if (job, replica, pod) not in found:
                    yield f"{self.jobset}-{job}-{replica}-{pod}.{self.subdomain}"
