"""Lints about host names that do not resolve."""

from __future__ import annotations

import re

from trainform.plugin import Path, ReplicatedJob, Tree
from trainform_plugins.lints.finished import Finished

HOST = r"(?:^|[\s=,@'\"]|//)(?P<job>[a-z][a-z0-9-]*)-(?P<replica>\d+)-(?P<pod>\d+)\.(?P<subdomain>[a-z0-9-]+)"
"""What looks like a JobSet's pod: `<job>-<replicated job>-<replica>-<pod>.<subdomain>`."""


def host_of_no_pod(job: Finished) -> None:
    """A host name of this job that belongs to none of its pods does not resolve.

    Why: the name combines job, replicated job, indexes and subdomain, and people write it by hand. Bites: after a
    change of `numNodes`, of the runtime (replicated job `trainer` instead of `node`), or of `network.subdomain`: the
    frameworks wait until they time out (the hand-written half of D17). Names of other jobs are not checked.
    """
    name = f"{job.plan.name}-"
    first_pods = {_host(job, pods) for pods in job.jobset.jobs if pods.parallelism > 0 and pods.replicas > 0}
    for pods, container, at, text in job.texts:
        if name in text and text not in first_pods:  # frameworks' variables name the first pod
            _check_text(job, pods, container, at, text)


def no_host_names(job: Finished) -> None:
    """Frameworks find their first pod by its host name, which `enableDNSHostnames: false` removes.

    Why: JobSet then creates no headless service, and `PET_MASTER_ADDR` and the like do not resolve. Bites: authors of
    runtimes who turned it off for single pods (the report behind D17: a host name that does not resolve hangs the job).
    """
    network = job.jobset.spec.get("network") or {}
    if job.plan.framework and network.get("enableDNSHostnames") is False:
        job.plan.warn(
            "TF613",
            f"{job.plan.framework} finds its nodes by host name, but the JobSet disables DNS host names",
            hint="remove enableDNSHostnames: false",
            **job.source("spec", "network", "enableDNSHostnames"),
        )


def no_names_before_ready(job: Finished) -> None:
    """Frameworks look up their first pod while it starts, and `publishNotReadyAddresses: false` hides it until then.

    Why: a pod without an address in DNS cannot be found, and it becomes Ready only once the others have found it.
    Bites: authors of runtimes who turned it off for a service. MPI's nodes are Ready before the launcher starts, so
    only a launcher that is a node itself is affected.
    """
    network, framework = job.jobset.spec.get("network") or {}, job.plan.framework
    policy = job.plan.runtime.spec.ml_policy
    is_launcher_apart = policy and policy.mpi and not policy.mpi.run_launcher_as_node
    if framework and network.get("publishNotReadyAddresses") is False and not is_launcher_apart:
        job.plan.warn(
            "TF613",
            f"{framework} looks up its hosts while their pods start, but the JobSet publishes only Ready pods",
            hint="remove publishNotReadyAddresses: false",
            **job.source("spec", "network", "publishNotReadyAddresses"),
        )


def host_network_without_cluster_names(job: Finished) -> None:
    """Pods on the node's network use the node's DNS server, which does not know pods.

    Why: with `hostNetwork`, dnsPolicy `ClusterFirst` (the default) means `Default`. Bites: anyone who turns on
    hostNetwork for RDMA: the rendezvous no longer resolves (Kubernetes' documentation of dnsPolicy; the same hanging
    job as in D17).
    """
    for pods, _ in job.nodes if job.plan.framework else ():
        policy = pods.pod_spec.get("dnsPolicy", "ClusterFirst")
        if pods.pod_spec.get("hostNetwork") and policy == "ClusterFirst":
            job.plan.warn(
                "TF613",
                f"{job.plan.framework} finds its nodes by host name, but pods with hostNetwork use the node's "
                "DNS server, which cannot resolve pods",
                hint="set dnsPolicy: ClusterFirstWithHostNet in addition to hostNetwork",
                **job.source(*pods.pod_path, "spec", "hostNetwork"),
            )
            return


def _host(job: Finished, pods: ReplicatedJob) -> str:
    return f"{job.plan.name}-{pods.name}-0-0.{job.plan.subdomain}"


def _check_text(job: Finished, pods: ReplicatedJob, container: Tree, at: Path, text: str) -> None:
    for match in re.finditer(HOST, text):
        if _is_ours(job, match) and not _is_pod(job, match):
            host = match[0].lstrip(" =,@'\"/\t\n")
            known = ", ".join(_host(job, each) for each in job.jobset.jobs)
            job.plan.warn(
                "TF612",
                f"no pod of this job has the host name {host}",
                hint=f"the host names are {known} and so on; prefer the framework's own variables",
                **job.text(pods, container, at),
            )
            return


def _is_ours(job: Finished, match: re.Match[str]) -> bool:
    """Whether the name is meant for this job, rather than one whose name has ours as a prefix."""
    if match["subdomain"] in (job.plan.subdomain, job.plan.name):
        return match["job"].startswith(f"{job.plan.name}-")
    return any(match["job"] == f"{job.plan.name}-{pods.name}" for pods in job.jobset.jobs)


def _is_pod(job: Finished, match: re.Match[str]) -> bool:
    return match["subdomain"] == job.plan.subdomain and any(
        match["job"] == f"{job.plan.name}-{pods.name}"
        and int(match["replica"]) < pods.replicas
        and int(match["pod"]) < pods.parallelism
        for pods in job.jobset.jobs
    )
