"""Kueue's own configuration, where it is declared as a fact: what it counts, and which jobs it manages."""

from __future__ import annotations

from typing import NamedTuple

from trainform.k8s.admission import ClusterFacts
from trainform.k8s.labels import labels_of, selector_keys, selector_matches
from trainform.k8s.pod_requests import Requests
from trainform.k8s.quantity import NANO, ZERO, Quantity, parse
from trainform.k8s.tree import Tree, table, tables, text, texts

KIND = "Configuration"

_NAME = "kubernetes.io/metadata.name"
_SYSTEM: Tree = {"matchExpressions": [{"key": _NAME, "operator": "NotIn", "values": ["kube-system", "kueue-system"]}]}
"""Kueue's default for `managedJobsNamespaceSelector`."""


class Transformation(NamedTuple):
    """How a resource is counted: as `outputs`, each by a factor, and as itself too if it is retained. `multiply_by`
    names a resource whose amount multiplies the outputs."""

    retains: bool
    outputs: dict[str, Quantity]
    multiply_by: str


class KueueConfiguration(NamedTuple):
    """`ignores_undeclared`: resources that no ClusterQueue covers are not counted. `manages_all`: jobs without a queue
    too, which then never start. `pods_ready_timeout` is empty if Kueue does not wait for pods to be ready."""

    excluded: tuple[str, ...] = ()
    transformations: tuple[tuple[str, Transformation], ...] = ()
    ignores_undeclared: bool = False
    manages_all: bool = False
    namespaces: Tree = _SYSTEM
    pods_ready_timeout: str = ""

    def counted(self, requests: Requests) -> Requests:
        """What quotas count of a pod's requests."""
        kept = {name: amount for name, amount in requests.items() if not name.startswith(self.excluded)}
        transformations = dict(self.transformations)
        retained: Requests = {}
        generated: Requests = {}
        for name, amount in kept.items():
            rule = transformations.get(name)
            if rule is None or rule.retains:
                retained[name] = amount
            if rule is not None:
                base = _times(amount, kept[rule.multiply_by]) if rule.multiply_by in kept else amount
                for output, factor in rule.outputs.items():
                    generated[output] = generated.get(output, ZERO) + _times(base, factor)
        for name, amount in generated.items():
            retained[name] = retained.get(name, ZERO) + max(amount, ZERO)
        return retained

    def manages(self, namespace: str, facts: ClusterFacts) -> bool | None:
        """Whether Kueue manages jobs of a namespace at all; None if its labels are not known."""
        declared = facts.get("Namespace", namespace)
        labels = {**labels_of(declared or {}), _NAME: namespace}
        if declared is None and selector_keys(self.namespaces) - {_NAME}:
            return None
        return selector_matches(self.namespaces, labels)


def kueue_configuration(facts: ClusterFacts) -> KueueConfiguration:
    """The declared configuration, else the default one."""
    names = facts.names(KIND)
    tree = facts.get(KIND, names[0]) if names else None
    if tree is None:
        return KueueConfiguration()
    resources, ready = table(tree, "resources"), table(tree, "waitForPodsReady")
    enabled = "waitForPodsReady" in tree and ready.get("enable", text(tree, "apiVersion").endswith("v1beta2"))
    selector = tree.get("managedJobsNamespaceSelector")
    return KueueConfiguration(
        tuple(texts(resources, "excludeResourcePrefixes")),
        tuple((text(each, "input"), _transformation(each)) for each in tables(resources, "transformations")),
        text(resources, "quotaCheckStrategy") == "IgnoreUndeclared",
        tree.get("manageJobsWithoutQueueName") is True,
        selector if isinstance(selector, dict) else _SYSTEM,
        (text(ready, "timeout") or "5m") if enabled else "",
    )


def _transformation(tree: Tree) -> Transformation:
    outputs = {name: parse(factor) for name, factor in table(tree, "outputs").items()}
    return Transformation(text(tree, "strategy") != "Replace", outputs, text(tree, "multiplyBy"))


def _times(amount: Quantity, factor: Quantity) -> Quantity:
    return Quantity(amount.nano * factor.nano // NANO, factor.format)
