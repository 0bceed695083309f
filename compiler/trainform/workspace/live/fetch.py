"""Read the objects of a cluster that are facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.cluster import NotAllowed, NotFound
from trainform.cluster.served import Served
from trainform.k8s.fact_kinds import FACT_VERSIONS, NAMESPACED_FACTS
from trainform.k8s.pulled.access import CONTROLLERS, KUEUE_CONFIGURATION, LISTED, AccessRule, list_rules
from trainform.k8s.tree import Tree, metadata_of, name_of, table, tables, text
from trainform.k8s.versions import ClusterVersion, parse_version

if TYPE_CHECKING:
    from trainform.cluster.client import Client

SYSTEM = "kube-"
"""How the namespaces of Kubernetes itself start: no job is there."""

DEPLOYMENTS = "/apis/apps/v1/namespaces/{0}/deployments/{1}"


@dataclass(slots=True)
class LiveFacts:
    """Live objects by kind of fact, the kinds that are not installed, versions by their key in `spec.cluster` (only
    those that are known), and rights that are missing. `namespaces` are all that the cluster has, except those that are
    being deleted; None if it was not asked."""

    objects: dict[str, list[Tree]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    versions: dict[str, ClusterVersion] = field(default_factory=dict)
    configuration: str = ""
    """Kueue's own configuration as text, empty if it is not known."""
    denied: list[AccessRule] = field(default_factory=list)
    namespaces: frozenset[str] | None = None


def fetch(client: Client, without: Collection[str], namespaces: Sequence[str]) -> LiveFacts:
    """Every fact that the cluster has, in all namespaces or the given ones; kinds `without` are not asked for. Raises
    ClusterError."""
    found, served = LiveFacts(), Served(client)
    for kind in LISTED:
        if kind not in without:
            _fetch_kind(client, served, kind, namespaces, found)
    if "Configuration" not in without:
        _fetch_configuration(client, found)
    found.versions = dict(_versions(client))
    return found


def _fetch_kind(client: Client, served: Served, kind: str, namespaces: Sequence[str], found: LiveFacts) -> None:
    versions = FACT_VERSIONS[kind]
    try:
        resource = served.find(versions, kind.partition(".")[0])
        if resource is None:
            found.absent.append(kind)
            return
        places = [*namespaces] if kind in NAMESPACED_FACTS and namespaces else [""]
        objects = [tree for place in places for tree in client.listed(resource, place)]
    except NotAllowed:
        found.denied += list_rules(kind, namespaces)
        return
    if kind == "Namespace":
        found.namespaces = frozenset(name_of(tree) for tree in objects if not _is_leaving(tree))
    found.objects[kind] = [tree for tree in objects if _counts(tree, kind, namespaces)]


def _counts(tree: Tree, kind: str, namespaces: Sequence[str]) -> bool:
    """Whether an object stays, and lies where jobs may be."""
    if _is_leaving(tree):
        return False
    place = name_of(tree) if kind == "Namespace" else text(metadata_of(tree), "namespace")
    if kind != "Namespace" and kind not in NAMESPACED_FACTS:
        return True
    return place in namespaces if namespaces else not place.startswith(SYSTEM)


def _is_leaving(tree: Tree) -> bool:
    return bool(metadata_of(tree).get("deletionTimestamp"))


def _fetch_configuration(client: Client, found: LiveFacts) -> None:
    namespace, name, key = KUEUE_CONFIGURATION
    try:
        tree = client.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
    except NotFound:
        found.absent.append("Configuration")
    except NotAllowed:
        found.denied.append(AccessRule("", "configmaps", "get", name, namespace))
    else:
        found.configuration = text(table(tree, "data"), key)


def _versions(client: Client) -> Iterator[tuple[str, ClusterVersion]]:
    """The versions that can be known: a controller's is the tag of its image."""
    with suppress(NotAllowed):
        if version := parse_version(text(client.get("/version"), "gitVersion")):
            yield "kubernetes", version
    for key, controller in CONTROLLERS.items():
        try:
            tree = client.get(DEPLOYMENTS.format(*controller))
        except (NotFound, NotAllowed):
            continue  # somebody installed it elsewhere, or it is nobody's business: then the Environment says it
        pod = table(table(table(tree, "spec"), "template"), "spec")
        images = [text(each, "image").partition("@")[0] for each in tables(pod, "containers")]
        tags = [parse_version(image.rpartition(":")[2]) for image in images if key in image]
        yield from ((key, tag) for tag in tags[:1] if tag)
