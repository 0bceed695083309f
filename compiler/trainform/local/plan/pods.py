"""The pods of a JobSet, with what JobSet's controller, the Job controller and the kubelet add to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha1, sha256

from trainform.core.jobset_view import JobSetView, ReplicatedJob
from trainform.core.resources import gpu_count
from trainform.k8s.labels import annotations_of, labels_of
from trainform.k8s.tree import Tree, metadata_of, name_of, number, table, tables, text
from trainform.local.plan.model import (
    ContainerKind,
    Dependency,
    LocalContainer,
    LocalJob,
    LocalPod,
    LocalRun,
    LocalStep,
    Probe,
)
from trainform.local.plan.probes import probe_of
from trainform.local.plan.references import JobValues, Machine, NotHere, PodFields
from trainform.local.plan.variables import COMPLETION_INDEX, command_of, variables_of
from trainform.local.plan.volumes import mounts_of, volumes_of

Addresses = Callable[[int], str]
"""The address of the n-th pod, counted from 0."""

MOST_PODS = 200
"""One machine starts no more of them: each pod takes processes, an address and folders."""

GRACE = 30
"""Seconds between SIGTERM and SIGKILL, if a pod does not set them."""


@dataclass(frozen=True, slots=True)
class PodPlace:
    """One pod's place in its JobSet. `number` counts all pods."""

    jobset: JobSetView
    step: ReplicatedJob
    replica: int
    index: int
    number: int
    attempt: int

    @property
    def job(self) -> str:
        return f"{name_of(self.jobset.tree)}-{self.step.name}-{self.replica}"

    @property
    def pod(self) -> str:
        """The host name, which is also the pod's here: a cluster adds a random ending to the pod's name."""
        return f"{self.job}-{self.index}"

    @property
    def subdomain(self) -> str:
        return text(table(self.jobset.spec, "network"), "subdomain") or name_of(self.jobset.tree)


def plan_run(jobset: Tree, sources: JobValues, addresses: Addresses, machine: Machine, attempt: int = 0) -> LocalRun:
    """What to start for a rendered JobSet; `attempt` counts JobSet's restarts. Raises NotHere for what this machine
    cannot provide."""
    view = JobSetView.of(jobset)
    asked = sum(step.replicas * _completions(step) for step in view.jobs)
    if asked > MOST_PODS:
        message = f"the job has {asked:,} pods, and a local run starts at most {MOST_PODS}"
        raise NotHere("TF891", message, "run it with fewer nodes: --nodes 2")
    steps, hosts, count = [], {}, 0
    for step in view.jobs:
        jobs = []
        for replica in range(step.replicas):
            places = [
                PodPlace(view, step, replica, index, count + index, attempt) for index in range(_completions(step))
            ]
            count += len(places)
            pods = tuple(_pod(place, sources, addresses(place.number), machine) for place in places)
            hosts.update(_hosts(places, addresses))
            deadline = number(step.job_spec, "activeDeadlineSeconds")
            name = f"{name_of(jobset)}-{step.name}-{replica}"
            jobs.append(LocalJob(name, step.name, pods, max(step.parallelism, 1), deadline, step.job_spec))
        steps.append(LocalStep(step.name, tuple(jobs), _waits_for(view, step)))
    return LocalRun(name_of(jobset), tuple(steps), hosts, view.spec)


def _completions(step: ReplicatedJob) -> int:
    completions = number(step.job_spec, "completions")
    return step.parallelism if completions is None else completions


def _hosts(places: Iterable[PodPlace], addresses: Addresses) -> dict[str, str]:
    """Every name of a pod that a cluster's DNS would resolve from within the namespace, the longest first."""
    found = {}
    for place in places:
        namespace = text(metadata_of(place.jobset.tree), "namespace") or "default"
        full = f"{place.pod}.{place.subdomain}"
        for name in (f"{full}.{namespace}.svc.cluster.local", f"{full}.{namespace}.svc", f"{full}.{namespace}", full):
            found[name] = addresses(place.number)
        found[place.pod] = addresses(place.number)
    return found


def _waits_for(view: JobSetView, step: ReplicatedJob) -> tuple[Dependency, ...]:
    """`dependsOn`; with the older `startupPolicy: InOrder`, each step waits until the one before it is ready."""
    named = tuple(
        Dependency(text(each, "name"), "Complete" if text(each, "status") == "Complete" else "Ready")
        for each in tables(step.tree, "dependsOn")
    )
    place = view.jobs.index(step)
    if named or place == 0 or text(table(view.spec, "startupPolicy"), "startupPolicyOrder") != "InOrder":
        return named
    return (Dependency(view.jobs[place - 1].name, "Ready"),)


def _pod(place: PodPlace, sources: JobValues, address: str, machine: Machine) -> LocalPod:
    fields = PodFields(_metadata(place), place.step.pod_spec, address, machine)
    spec = fields.spec
    containers = [
        _container(each, "sidecar" if text(each, "restartPolicy") == "Always" else "init", fields, sources)
        for each in place.step.init_containers
    ]
    containers += [_container(each, "main", fields, sources) for each in place.step.containers]
    grace = number(spec, "terminationGracePeriodSeconds")
    return LocalPod(
        place.pod,
        place.pod,
        address,
        tuple(containers),
        volumes_of(fields, sources),
        text(spec, "restartPolicy") != "Never",
        sum(gpu_count(table(each, "resources")) for each in place.step.containers),
        GRACE if grace is None else grace,
    )


def _container(tree: Tree, kind: ContainerKind, pod: PodFields, sources: JobValues) -> LocalContainer:
    variables = variables_of(tree, pod, sources)
    return LocalContainer(
        text(tree, "name"),
        kind,
        command_of(tree, variables),
        variables,
        text(tree, "workingDir"),
        mounts_of(tree, variables),
        _probe(tree, kind, pod),
    )


def _probe(tree: Tree, kind: ContainerKind, pod: PodFields) -> Probe | None:
    """The probe that says when others may start: of a sidecar the startup probe, else the readiness probe."""
    probe = table(tree, "startupProbe") if kind == "sidecar" else table(tree, "readinessProbe")
    return probe_of(probe, tree, pod.address) if probe and kind != "init" else None


JOBSET, BATCH = "jobset.sigs.k8s.io", "batch.kubernetes.io"


def _metadata(place: PodPlace) -> Tree:
    """A pod's metadata as a container can read it."""
    template = place.step.pod
    marks = _jobset_marks(place)
    is_indexed = text(place.step.job_spec, "completionMode") != "NonIndexed"
    index = {COMPLETION_INDEX: str(place.index)} if is_indexed else {}
    job = {f"{BATCH}/job-name": place.job, "job-name": place.job}
    controller = _uid(place.job)
    job |= {f"{BATCH}/controller-uid": controller, "controller-uid": controller}
    namespace = text(metadata_of(place.jobset.tree), "namespace") or "default"
    return {
        "name": place.pod,
        "namespace": namespace,
        "uid": _uid(f"{namespace}/{place.pod}/{place.attempt}"),
        "labels": {**labels_of(template), **marks, **job, **index},
        "annotations": {**annotations_of(template), **marks, **index},
    }


def _jobset_marks(place: PodPlace) -> dict[str, str]:
    """What JobSet sets as labels and as annotations. Source: jobset `pkg/controllers/jobset_controller.go`,
    labelAndAnnotateObject."""
    jobs, name = place.jobset.jobs, name_of(place.jobset.tree)
    namespace = text(metadata_of(place.jobset.tree), "namespace") or "default"
    group = text(place.step.tree, "groupName") or "default"
    before = jobs[: jobs.index(place.step)]
    of_group = [each for each in jobs if (text(each.tree, "groupName") or "default") == group]
    return {
        f"{JOBSET}/jobset-name": name,
        f"{JOBSET}/jobset-uid": _uid(f"{namespace}/{name}"),
        f"{JOBSET}/replicatedjob-name": place.step.name,
        f"{JOBSET}/replicatedjob-replicas": str(place.step.replicas),
        f"{JOBSET}/global-replicas": str(sum(each.replicas for each in jobs)),
        f"{JOBSET}/job-index": str(place.replica),
        f"{JOBSET}/job-global-index": str(sum(each.replicas for each in before) + place.replica),
        f"{JOBSET}/job-key": sha1(f"{namespace}/{place.job}".encode(), usedforsecurity=False).hexdigest(),
        f"{JOBSET}/group-name": group,
        f"{JOBSET}/group-replicas": str(sum(each.replicas for each in of_group)),
        f"{JOBSET}/job-group-index": str(sum(each.replicas for each in before if each in of_group) + place.replica),
        f"{JOBSET}/restart-attempt": str(place.attempt),
    }


def _uid(name: str) -> str:
    """An id in the form of a UUID: the same in each run, where a cluster's is random."""
    digits = sha256(name.encode()).hexdigest()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
