"""Nodes as pools of nodes that are alike: a node that is replaced by one of its kind changes nothing."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from trainform.k8s.labels import labels_of
from trainform.k8s.quantity import NANO, Quantity, QuantityError, parse
from trainform.k8s.rules.fact import HOSTNAME
from trainform.k8s.tree import Tree, table, tables, text

OF_ONE_NODE = frozenset((HOSTNAME, "nvidia.com/gfd.timestamp"))
"""Labels that say nothing about the kind of a node. A pool gives its nodes host names of their own."""

PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedBy", "DeletionCandidateOf")
"""Keys of taints that come and go: a node that is not ready, under pressure, cordoned, or about to be removed."""

_NAMED_BY = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
    "node.kubernetes.io/instance-type",
)
"""Labels after which a pool is called, in this order."""

_ROUNDED = ("memory", "ephemeral-storage")
_LARGE = 64 << 30
_FINE, _COARSE = 1 << 20, 1 << 28
"""Equal machines differ by a few KiB at each start. So bytes are rounded down: to 1 MiB, and from 64 GiB on to 256 MiB,
which is at most 0.4 %."""


def pools_of(nodes: Sequence[Tree], named: Collection[str]) -> list[Tree]:
    """NodePools, by name. Every node counts, whether it is ready or not: it will be. `named` are labels that flavors
    and topologies name: they stay even where every node has a value of its own."""
    kept = _telling_labels(nodes, named)
    counts: Counter[str] = Counter()
    specs: dict[str, Tree] = {}
    for node in nodes:
        spec = _spec(node, kept)
        key = json.dumps(spec, sort_keys=True)
        counts[key] += 1
        specs[key] = spec
    pools = [_pool(key, specs[key], count) for key, count in counts.items()]
    return sorted(pools, key=lambda pool: str(pool["metadata"]["name"]))


def labels_named_by(facts: Iterable[Tree]) -> set[str]:
    """The node labels that flavors and topologies name."""
    found: set[str] = set()
    for fact in facts:
        spec = table(fact, "spec")
        if fact.get("kind") == "ResourceFlavor":
            found.update(table(spec, "nodeLabels"))
        elif fact.get("kind") == "Topology":
            found.update(text(level, "nodeLabel") for level in tables(spec, "levels"))
    return found


def unready(nodes: Iterable[Tree]) -> int:
    """How many nodes take no pods at the moment."""
    return sum(not _takes_pods(node) for node in nodes)


def _takes_pods(node: Tree) -> bool:
    conditions = tables(table(node, "status"), "conditions")
    ready = any(text(each, "type") == "Ready" and text(each, "status") == "True" for each in conditions)
    return ready and table(node, "spec").get("unschedulable") is not True


def _telling_labels(nodes: Sequence[Tree], named: Collection[str]) -> set[str]:
    """Labels that say what kind a node is: not those of which every node has a value of its own."""
    values: dict[str, Counter[str]] = {}
    for node in nodes:
        for key, value in _labels(node).items():
            values.setdefault(key, Counter())[value] += 1
    shared = {key for key, found in values.items() if len(nodes) == 1 or max(found.values()) > 1}
    return (shared | {key for key in values if key in named}) - OF_ONE_NODE


def _spec(node: Tree, kept: Collection[str]) -> Tree:
    labels = {key: value for key, value in sorted(_labels(node).items()) if key in kept}
    tainted = [each for each in tables(table(node, "spec"), "taints") if text(each, "key")]
    taints = [_taint(each) for each in tainted if not text(each, "key").startswith(PASSING)]
    status = table(node, "status")
    amounts = table(status, "allocatable") or table(status, "capacity")
    room = {name: _rounded(name, amount) for name, amount in sorted(amounts.items())}
    spec: Tree = {"labels": labels} if labels else {}
    if taints:
        spec["taints"] = sorted(taints, key=lambda each: (each["key"], each.get("effect", "")))
    return spec | {"allocatable": {name: amount for name, amount in room.items() if amount != "0"}}


def _labels(node: Tree) -> dict[str, str]:
    return {key: value for key, value in labels_of(node).items() if isinstance(value, str)}


def _taint(tree: Tree) -> Tree:
    return {key: text(tree, key) for key in ("key", "value", "effect") if text(tree, key)}


def _rounded(name: str, amount: Any) -> Any:
    try:
        quantity = parse(amount)
    except (QuantityError, TypeError):
        return amount  # the check of facts tells it
    if name not in _ROUNDED:
        return str(quantity)
    whole = quantity.nano // NANO
    step = _COARSE if whole >= _LARGE else _FINE
    return str(Quantity(whole // step * step * NANO, "BinarySI"))


def _pool(key: str, spec: Tree, count: int) -> Tree:
    labels = table(spec, "labels")
    base = next((labels[each] for each in _NAMED_BY if each in labels), "nodes")
    base = re.sub(r"[^a-z0-9]+", "-", str(base).lower()).strip("-")[:40].strip("-") or "nodes"
    name = f"{base}-{hashlib.sha256(key.encode(errors='backslashreplace')).hexdigest()[:8]}"
    head = {"apiVersion": "trainform.dev/v1alpha1", "kind": "NodePool", "metadata": {"name": name}}
    return {**head, "spec": {"count": count, **spec}}
