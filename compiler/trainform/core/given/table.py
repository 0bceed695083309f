"""What pods are given by Kubernetes and by each plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.core.given.model import Given, GivenHost, GivenVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainform.core.plugin import Plugin

KUBERNETES = Given(
    variables=(
        GivenVariable(
            "JOB_COMPLETION_INDEX",
            "The number of the pod in its Job, from 0. Frameworks use it as the rank of the node.",
            "the Job controller",
            "2",
        ),
        GivenVariable(
            "HOSTNAME",
            "The host name of the pod, without the subdomain.",
            "the kubelet",
            "llm-node-0-2",
        ),
    ),
    hosts=(
        GivenHost(
            "llm-node-0-2.llm",
            "Any pod, as the others reach it: the job, its step, the number of the Job and of the pod, then the "
            "subdomain, which is the job's name unless the runtime sets `network.subdomain`.",
        ),
    ),
)
"""What the Job controller, JobSet and the kubelet give to every pod. Source: kubernetes/pkg/controller/job
`indexed_job_utils.go`; JobSet's `pod_mutating_webhook.go`."""


class Giver(NamedTuple):
    """Who gives: the name of a plugin, or `Kubernetes`."""

    name: str
    given: Given


def givers(plugins: Iterable[Plugin]) -> Iterator[Giver]:
    """Kubernetes, then each plugin that gives something, in running order."""
    yield Giver("Kubernetes", KUBERNETES)
    for plugin in plugins:
        if any(plugin.given):
            yield Giver(plugin.name, plugin.given)


class Meaning(NamedTuple):
    """A variable and who gives it."""

    giver: str
    variable: GivenVariable


def meanings(plugins: Iterable[Plugin]) -> dict[str, Meaning]:
    """Every variable by its name. If two plugins give one, it is the first's."""
    found: dict[str, Meaning] = {}
    for name, given in givers(plugins):
        for variable in given.variables:
            found.setdefault(variable.name, Meaning(name, variable))
    return found
