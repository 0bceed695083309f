"""The pods of an old job, split: what a TrainJob says of its main container, and the rest, which is the runtime's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.jobset_view import NODE_CONTAINER, STEP_LABEL, TRAINER_STEP
from trainform.installed import given_by
from trainform.k8s.tree import Tree, copied, table, tables, text, texts
from trainform.migrate.labels import with_labels
from trainform.migrate.policies import GangPolicy, restarts

if TYPE_CHECKING:
    from trainform.diagnostics import Path
    from trainform.migrate.old import OldJob
    from trainform.migrate.target import RolePods, Target

OF_TRAINER = {"image": "image", "command": "command", "args": "args", "env": "env", "resources": "resourcesPerNode"}
"""By the container's field: the field of `spec.trainer` that sets it."""

MOST_ITEMS = 128
MOST_CHARACTERS = 65536
"""Limits of command, args and variables of a TrainJob, and of a word in them."""

BY_EXEC = ("OMPI_MCA_plm_rsh_agent",)
"""Variables that make mpirun start processes through the API server, which it cannot here."""

OF_CONTAINER = ("kubectl.kubernetes.io/default-container", "kubectl.kubernetes.io/default-logs-container")
"""Annotations of pods whose value is the name of a container."""


class Split(NamedTuple):
    """A replicated job of the runtime, and the fields of `spec.trainer` that its main container has."""

    replicated_job: Tree
    trainer: Tree


def split(job: OldJob, target: Target, group: RolePods, gang: GangPolicy) -> Split:
    """The replicated job of a group. Only the trainer's has fields that the TrainJob sets."""
    is_trainer = group.name == target.trainer
    template = with_labels(job, _with_hosts(job, target, group), (*group.replica.path, "template"))
    spec = table(template, "spec")
    containers = tables(spec, "containers")
    main = containers[job.main(group.replica)]
    old_name = text(main, "name")
    variables = _variables(job, target, group, main)
    own = {**main, "env": variables}
    carried = {field for field in OF_TRAINER if is_trainer and _fits(own.get(field))}
    trainer = {OF_TRAINER[field]: _renamed(own[field], old_name) for field in OF_TRAINER if field in carried}
    main_now = {key: value for key, value in own.items() if key not in carried}
    main_now["env"] = [*main_now.get("env", ()), *group.fixed]
    new = [_container(main_now) if each is main else _sidecar(each, group) for each in containers]
    job_fields, pod_fields = restarts(job, group.replica, NODE_CONTAINER)
    pod = {**_metadata(template, old_name), "spec": _pod_spec(target, gang, {**spec, "containers": new}, pod_fields)}
    tree = {
        "name": group.name,
        **({"replicas": group.pods} if group.apart else {}),
        **(group.settings or {}),
        "template": {
            **({"metadata": {"labels": {STEP_LABEL: TRAINER_STEP}}} if is_trainer else {}),
            "spec": {**_counts(target, group), **job_fields, "template": _renamed(pod, old_name)},
        },
    }
    return Split(tree, trainer)


def _sidecar(container: Tree, group: RolePods) -> Tree:
    """A container beside the main one, with the operator's variables if it refers to one."""
    words = [*texts(container, "command"), *texts(container, "args")]
    words += [text(each, "value") for each in tables(container, "env")]
    names = "|".join(text(each, "name") for each in group.variables)
    if not names or not any(re.search(rf"\$[{{(]?(?:{names})\b", word) for word in words):
        return container
    own = {text(each, "name") for each in group.variables}
    written = [each for each in tables(container, "env") if text(each, "name") not in own]
    return {**container, "env": [*group.variables, *written]}


def _fits(value: Any) -> bool:
    """Whether a TrainJob may have the value: its lists are limited, those of a runtime are not."""
    if isinstance(value, list):
        return 0 < len(value) <= MOST_ITEMS and all(len(str(each)) <= MOST_CHARACTERS for each in value)
    return bool(value)


def _container(main: Tree) -> Tree:
    """The main container under its new name, with the fields that people look for first."""
    named = _set({**main, "name": NODE_CONTAINER})
    order = ("name", "image", "command", "args", "env")
    return {key: named[key] for key in order if named.get(key)} | {
        key: value for key, value in named.items() if key not in order
    }


def _set(fields: Tree) -> Tree:
    """The fields of a container or pod without empty ones, which clients in Go write and which say nothing."""
    return {key: value for key, value in fields.items() if value not in ({}, [])}


def _pod_spec(target: Target, gang: GangPolicy, spec: Tree, pod_fields: Tree) -> Tree:
    new = _set({**pod_fields, **{key: value for key, value in spec.items() if key != "restartPolicy"}})
    if gang.priority_class:
        new.setdefault("priorityClassName", gang.priority_class)
    if gang.scheduler:
        new.setdefault("schedulerName", gang.scheduler)
    if target.framework == "mpi" and new.get("hostNetwork"):
        new["dnsPolicy"] = "ClusterFirstWithHostNet"  # as the MPI Operator does, or hosts would not resolve
    return new


def _counts(target: Target, group: RolePods) -> Tree:
    """How many pods a Job has, where not the TrainJob's `numNodes` says so, and whether it is done with the first."""
    if group.first_decides:
        return {"successPolicy": {"rules": [{"succeededIndexes": "0"}]}}
    if group.pods == 1 or group.apart or group.name == target.trainer or target.framework == "mpi":
        return {}
    return {"parallelism": group.pods, "completions": group.pods}


def _metadata(template: Tree, old_name: str) -> Tree:
    """Labels and annotations of the pods; the API server ignores the rest of a template's metadata."""
    found = table(template, "metadata")
    kept: Tree = {}
    if labels := table(found, "labels"):
        kept["labels"] = labels
    if annotations := table(found, "annotations"):
        kept["annotations"] = {
            _renamed_key(key, old_name): NODE_CONTAINER if key in OF_CONTAINER and value == old_name else value
            for key, value in annotations.items()
        }
    return {"metadata": kept} if kept else {}


def _renamed_key(key: str, old_name: str) -> str:
    """An AppArmor or seccomp annotation ends in the container's name."""
    head, slash, last = key.rpartition("/")
    return f"{head}/{NODE_CONTAINER}" if slash and last == old_name and head.startswith("container.") else key


def _renamed(value: Any, old_name: str) -> Any:
    """A copy in which resource fields refer to the main container by its new name."""
    if isinstance(value, dict):
        return {
            key: NODE_CONTAINER if key == "containerName" and each == old_name else _renamed(each, old_name)
            for key, each in value.items()
        }
    return [_renamed(each, old_name) for each in value] if isinstance(value, list) else value


def _variables(job: OldJob, target: Target, group: RolePods, main: Tree) -> list[Tree]:
    """The container's variables, then those that the operator sets: of one name, the last counts."""
    reserved = given_by(target.framework).names if group.name == target.trainer else ()
    index = job.main(group.replica)
    path = (*group.replica.path, "template", "spec", "containers", index, "env")
    named: dict[str, tuple[int, Tree]] = {}
    for number, each in enumerate(tables(main, "env")):
        name = text(each, "name")
        if name in named and named[name][1] != each:
            message = f"{name} is left out here: the container has it again below, and of one name, the last counts"
            job.tell("TF860", (*path, named[name][0]), message, "remove it", "info")
        if name in reserved:
            message = f"{name} is set by the Trainer, as the operator set it"
            job.tell("TF860", (*path, number), message, "remove it; numNodes and numProcPerNode decide", "info")
        elif target.framework == "mpi" and name in BY_EXEC:
            job.tell("TF860", (*path, number), f"{name} is left out: mpirun reaches its hosts by SSH", severity="info")
        else:
            named.pop(name, None)
            named[name] = (number, each)
    for each in (*group.variables, *group.fixed):
        number, own = named.pop(text(each, "name"), (0, each))
        if own != each:
            message = (
                f"{text(own, 'name')} is left out: the operator set it, too, and its value was the one that counted"
            )
            job.tell("TF860", (*path, number), message, "remove it", "info")
    return [*(each for _, each in named.values()), *group.variables]


def _with_hosts(job: OldJob, target: Target, group: RolePods) -> Tree:
    """The template, with new names for the hosts that the operator's Services gave to pods."""
    name = re.escape(job.name)
    roles = "|".join(role.lower() for role in job.replicas)
    # The MPI Operator's hosts have its Service as a domain, JobSet's have the job's name.
    host = re.compile(rf"(?<![-\w]){name}-({roles})-(\d{{1,9}})(?:\.{name}(?:-worker)?(?![-\w]))?(?![-\w])")
    found: list[tuple[Path, str, str]] = []

    def renamed(value: Any, path: Path) -> Any:
        if isinstance(value, dict):
            return {key: renamed(each, (*path, key)) for key, each in value.items()}
        if isinstance(value, list):
            return [renamed(each, (*path, index)) for index, each in enumerate(value)]
        return host.sub(lambda match: new_name(match, path), value) if isinstance(value, str) else value

    def new_name(match: re.Match[str], path: Path) -> str:
        new = _host(job, target, match[1], int(match[2]))
        if new:
            found.append((path, match[0], new))
        return new or match[0]

    template: Tree = copied(group.replica.template)
    spec = table(template, "spec")
    for kind in ("initContainers", "containers"):
        if kind in spec:
            spec[kind] = renamed(spec[kind], (*group.replica.path, "template", "spec", kind))
    for path, old, new in found:
        job.tell("TF859", path, f"the pod {old} is called {new} now", "the migrated job has the new name", "info")
    return template


def _host(job: OldJob, target: Target, role: str, index: int) -> str:
    """The new host name of a role's pod; empty if there is none."""
    if len(target.groups) > 1:
        return _in_groups(job, [each for each in target.groups if each.replica.role.lower() == role], index)
    for replica in job.replicas.values():  # all are pods of one replicated job, in the order of the roles
        if replica.role.lower() == role:
            break
        index += replica.pods
    return _in_groups(job, target.groups, index)


def _in_groups(job: OldJob, groups: list[RolePods], index: int) -> str:
    for group in groups:
        if index < group.pods:
            return group.host(job.name, index)
        index -= group.pods
    return ""
