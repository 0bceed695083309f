"""An old job as a TrainJob and a runtime."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.kinds import API_VERSION
from trainform.core.jobset_view import NODE_CONTAINER, STEP_LABEL, TRAINER_STEP
from trainform.k8s.tree import Tree, metadata_of, table, text, without_nulls
from trainform.migrate.frameworks import target_of
from trainform.migrate.old import OldJob, take_apart
from trainform.migrate.pods import split
from trainform.migrate.policies import (
    QUEUE,
    GangPolicy,
    check_fields,
    fields_of_job,
    fields_of_jobset,
    gang_of,
    tell_of_elasticity,
)

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.migrate.target import Target
    from trainform.source import Document

SHIPPED = {"torch": "torch-distributed", "jax": "jax-distributed", "xgboost": "xgboost-distributed"}
"""By framework: the runtime that is nothing but the framework."""

FRAMEWORK = "trainer.kubeflow.org/framework"
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""What kubectl writes for itself."""

AUTHORS = ("name", "namespace", "labels", "annotations", "generateName")
"""The metadata that an author writes."""


class Migrated(NamedTuple):
    """What became of one old job. `runtime` is None where a shipped one does. `names` are the objects that its pods
    name. Without a `train_job`, the diagnostics say why."""

    document: Document
    train_job: Tree | None
    runtime: Tree | None
    names: frozenset[str]
    diagnostics: list[Diagnostic]


def migrate_job(document: Document) -> Migrated:
    """A document of one of the old kinds as a TrainJob. Never raises for bad input."""
    job = take_apart(document)
    check_fields(job)
    target = None if job.is_refused else target_of(job)
    if target is None or job.is_refused:
        return Migrated(document, None, None, frozenset(), job.told)
    tell_of_elasticity(job, target)
    gang = gang_of(job)
    parts = {group.name: split(job, target, group, gang) for group in target.groups}
    spec = without_nulls(_runtime_spec(job, target, [each.replicated_job for each in parts.values()], gang))
    shipped = SHIPPED.get(target.framework, "")
    runtime = None if shipped and spec == _bare(target.framework) else _runtime(job, target, spec)
    trainer = parts[target.trainer].trainer
    numbers: Tree = {"numNodes": target.nodes}
    if target.processes is not None:
        numbers["numProcPerNode"] = target.processes
    train_job = {
        "apiVersion": API_VERSION,
        "kind": "TrainJob",
        "metadata": _metadata(job, gang),
        "spec": {
            "runtimeRef": {"name": runtime["metadata"]["name"] if runtime else shipped},
            "trainer": without_nulls(_ordered(trainer | numbers)),
            **fields_of_job(job),
        },
    }
    names = frozenset(_words([replica.template for replica in job.replicas.values()]))
    return Migrated(document, train_job, runtime, names, job.told)


_TRAINER = ("image", "command", "args", "numNodes", "numProcPerNode", "resourcesPerNode", "env")


def _ordered(trainer: Tree) -> Tree:
    return {key: trainer[key] for key in _TRAINER if key in trainer}


def _runtime_spec(job: OldJob, target: Target, replicated_jobs: list[Tree], gang: GangPolicy) -> Tree:
    policy: Tree = {"numNodes": 1}
    if target.framework:
        policy[target.framework] = target.settings
    jobset = {**target.jobset, **fields_of_jobset(job)}
    if gang.policy:  # a gang starts as one: no part of it can wait for another
        replicated_jobs = [{key: each[key] for key in each if key != "dependsOn"} for each in replicated_jobs]
    return {
        "mlPolicy": policy,
        **({"podGroupPolicy": gang.policy} if gang.policy else {}),
        "template": {"spec": {**jobset, "replicatedJobs": replicated_jobs}},
    }


def _bare(framework: str) -> Tree:
    """The spec of a shipped runtime without its image."""
    pod = {"spec": {"containers": [{"name": NODE_CONTAINER}]}}
    template = {"metadata": {"labels": {STEP_LABEL: TRAINER_STEP}}, "spec": {"template": pod}}
    jobs = [{"name": NODE_CONTAINER, "template": template}]
    return {"mlPolicy": {"numNodes": 1, framework: {}}, "template": {"spec": {"replicatedJobs": jobs}}}


def _runtime(job: OldJob, target: Target, spec: Tree) -> Tree:
    """A runtime that is called after its content, so that every job that needs it finds it, whenever it is migrated."""
    digest = sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:8]
    name = target.framework or job.kind.name
    metadata: Tree = {"name": f"{name}-{digest}"}
    if target.framework:
        metadata["labels"] = {FRAMEWORK: target.framework}
    return {"apiVersion": API_VERSION, "kind": "ClusterTrainingRuntime", "metadata": metadata, "spec": spec}


def _metadata(job: OldJob, gang: GangPolicy) -> Tree:
    found = metadata_of(job.document.tree)
    kept: Tree = {"name": job.name}
    for key in ("namespace", "labels"):
        if found.get(key):
            kept[key] = found[key]
    annotations = {key: value for key, value in table(found, "annotations").items() if key != APPLIED}
    if gang.queue:
        annotations[QUEUE] = gang.queue
    if annotations:
        kept["annotations"] = annotations
    if not text(found, "name"):
        message = f"a TrainJob in git needs a name of its own: it is called {job.name}"
        job.tell("TF863", ("metadata", "generateName"), message, "rename it in the TrainJob if you like")
    servers = [key for key in found if key not in AUTHORS]
    if servers:
        message = f"only a server writes {', '.join(servers)}: left out"
        job.tell("TF107", ("metadata", servers[0]), message, severity="info")
    return kept


def _words(value: object) -> set[str]:
    """Every string of a tree."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        return set().union(*map(_words, value)) if value else set()
    return {value} if isinstance(value, str) else set()
