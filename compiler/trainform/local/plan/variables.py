"""Environment variables and commands as the kubelet makes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from trainform.core.jobset_view import NODE_CONTAINER
from trainform.k8s.tree import Tree, table, tables, text, texts
from trainform.local.plan.references import JobValues, NotHere, PodFields, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"

_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replaces `$(NAME)`. A name that is not set stays as it is, and `$$` is a dollar. Source: kubernetes
    `third_party/forked/golang/expansion`."""

    def value(found: re.Match[str]) -> str:
        return "$" if found[1] is None else variables.get(found[1], found[0])

    return _REFERENCE.sub(value, text)


def variables_of(container: Tree, pod: PodFields, sources: JobValues) -> dict[str, str]:
    """The variables of a container, in order: `envFrom`, then `env`, whose values may refer to earlier ones. Raises
    NotHere for a value that only a cluster has."""
    found = {"HOSTNAME": text(pod.spec, "hostname") or text(pod.metadata, "name")}
    for source in tables(container, "envFrom"):
        found.update(_all_of(source, sources))
    for variable in tables(container, "env"):
        name = text(variable, "name")
        if "valueFrom" not in variable:
            found[name] = expand(str(variable.get("value") or ""), found)
        elif (value := _from(variable["valueFrom"], container, pod, sources)) is not None:
            found[name] = value
    if index := text(table(pod.metadata, "annotations"), COMPLETION_INDEX):
        found.setdefault("JOB_COMPLETION_INDEX", index)  # the Job controller adds it as the last one
    return found


def _all_of(source: Tree, sources: JobValues) -> Iterator[tuple[str, str]]:
    prefix = text(source, "prefix")
    for kind, read in (("configMapRef", sources.config_map), ("secretRef", sources.secret)):
        if reference := table(source, kind):
            values = read(text(reference, "name"), optional=bool(reference.get("optional")))
            for key, value in (values or {}).items():
                yield prefix + key, value.decode(errors="replace")


def _from(source: Tree, container: Tree, pod: PodFields, sources: JobValues) -> str | None:
    """The value of a variable; None if it is optional and missing."""
    if reference := table(source, "fieldRef"):
        return pod.value(text(reference, "fieldPath"))
    if reference := table(source, "resourceFieldRef"):
        return pod.resource(container, reference)
    for kind, read, what in (
        ("configMapKeyRef", sources.config_map, "ConfigMap"),
        ("secretKeyRef", sources.secret, "Secret"),
    ):
        if reference := table(source, kind):
            name, optional = text(reference, "name"), bool(reference.get("optional"))
            values = read(name, optional=optional)
            data = key_of(values, f'{what} "{name}"', text(reference, "key"), optional=optional)
            return None if data is None else data.decode(errors="replace")
    kind = next(iter(source), "nothing")
    raise NotHere("TF891", f"a local run cannot read a variable from {kind}", "write its value into the job")


def command_of(container: Tree, variables: Mapping[str, str]) -> tuple[str, ...]:
    """The words that a container runs. Raises NotHere if its image decides that."""
    command, args = texts(container, "command"), texts(container, "args")
    if not command:
        name, image = text(container, "name"), text(container, "image") or "its image"
        in_job = "write the command into the job: spec.trainer.command"
        in_runtime = "write its command into the runtime: `trainform runtimes show NAME --eject` copies a shipped one"
        message = f'container "{name}" has no command: what {image} starts is not known here'
        raise NotHere("TF890", message, in_job if name == NODE_CONTAINER else in_runtime)
    return tuple(expand(word, variables) for word in (*command, *args))
