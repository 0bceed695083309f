"""Which rights the commands need that read a live cluster: the least, as RBAC objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from trainform.k8s.fact_kinds import FACT_VERSIONS, NAMESPACED_FACTS
from trainform.k8s.tree import Tree

NO_API = frozenset(("Configuration", "NodePool"))
"""Kinds of facts that no API serves: Kueue's configuration is a file in a ConfigMap, and pools are made from nodes."""

LISTED = tuple(kind for kind in FACT_VERSIONS if kind not in NO_API)
"""Kinds of facts that are listed in a cluster."""


class ConfigMapKey(NamedTuple):
    """A file in a ConfigMap."""

    namespace: str
    name: str
    key: str


class Controller(NamedTuple):
    """The Deployment whose image tag is the version of what it runs."""

    namespace: str
    name: str


KUEUE_CONFIGURATION = ConfigMapKey("kueue-system", "kueue-manager-config", "controller_manager_config.yaml")
CONTROLLERS = {
    "jobset": Controller("jobset-system", "jobset-controller-manager"),
    "kueue": Controller("kueue-system", "kueue-controller-manager"),
}
"""As their own manifests and charts install them."""

SUBJECT = {"kind": "ServiceAccount", "name": "trainform", "namespace": "trainform"}
_RBAC = "rbac.authorization.k8s.io"


class AccessRule(NamedTuple):
    """`namespace` is empty for a rule of the whole cluster."""

    group: str
    resource: str
    verb: str
    name: str = ""
    namespace: str = ""

    def to_json(self) -> Tree:
        only = {"resourceNames": [self.name]} if self.name else {}
        return {"apiGroups": [self.group], "resources": [self.resource], **only, "verbs": [self.verb]}

    def __str__(self) -> str:
        """As a line of YAML in a role: `{apiGroups: [""], resources: [nodes], verbs: [list]}`."""
        only = f"resourceNames: [{self.name}], " if self.name else ""
        place = f"  # in namespace {self.namespace}" if self.namespace else ""
        return f'{{apiGroups: ["{self.group}"], resources: [{self.resource}], {only}verbs: [{self.verb}]}}{place}'


def plural(kind: str) -> str:
    """The name of a kind's resource: `priorityclasses`. It holds for every kind that is named here."""
    name = kind.partition(".")[0].lower()
    return name[:-1] + "ies" if name.endswith("y") else name + ("es" if name.endswith("s") else "s")


def fact_rules(without: Iterable[str] = (), namespaces: Sequence[str] = ()) -> list[AccessRule]:
    """The rules for `facts pull` of all namespaces, or of some."""
    left_out = set(without)
    kinds = [kind for kind in LISTED if kind not in left_out]
    rules = [rule for kind in kinds for rule in list_rules(kind, namespaces)]
    if "Configuration" not in left_out:
        rules.append(AccessRule("", "configmaps", "get", KUEUE_CONFIGURATION.name, KUEUE_CONFIGURATION.namespace))
    deployments = (AccessRule("apps", "deployments", "get", each.name, each.namespace) for each in CONTROLLERS.values())
    return [*rules, *deployments]


def list_rules(kind: str, namespaces: Sequence[str] = ()) -> list[AccessRule]:
    """The rules to list a kind of facts."""
    group = FACT_VERSIONS[kind][0].rpartition("/")[0]
    places = namespaces if kind in NAMESPACED_FACTS and namespaces else ("",)
    return [AccessRule(group, plural(kind), "list", namespace=place) for place in places]


STATUS_RULES = (
    AccessRule("jobset.x-k8s.io", "jobsets", "list"),
    AccessRule("kueue.x-k8s.io", "workloads", "list"),
    AccessRule("", "pods", "list"),
    AccessRule("", "pods/log", "get"),
)
"""The rules for `status`."""

WATCH_RULES = (*STATUS_RULES, *(rule._replace(verb="watch") for rule in STATUS_RULES[:2]))
"""The rules for `status --watch`."""


def role_objects(name: str, rules: Sequence[AccessRule]) -> list[Tree]:
    """A ClusterRole, a Role for each namespace of a rule, and bindings of both to a ServiceAccount."""
    namespaces = list(dict.fromkeys(rule.namespace for rule in rules))
    return [each for namespace in namespaces for each in _role(name, namespace, rules)]


def _role(name: str, namespace: str, rules: Sequence[AccessRule]) -> list[Tree]:
    kind = "Role" if namespace else "ClusterRole"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    own = _merged([rule for rule in rules if rule.namespace == namespace])
    reference = {"apiGroup": _RBAC, "kind": kind, "name": name}
    head = {"apiVersion": f"{_RBAC}/v1", "metadata": metadata}
    return [
        {**head, "kind": kind, "rules": own},
        {**head, "kind": f"{kind}Binding", "roleRef": reference, "subjects": [SUBJECT]},
    ]


def _merged(rules: Sequence[AccessRule]) -> list[Tree]:
    """One rule for the resources of a group that have the same verb."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for rule in rules:
        groups.setdefault((rule.group, rule.verb, rule.name), []).append(rule.resource)
    return [
        {**AccessRule(group, "", verb, name).to_json(), "resources": sorted(resources)}
        for (group, verb, name), resources in sorted(groups.items())
    ]
