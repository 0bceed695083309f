"""Cluster facts: Kubernetes objects declared next to the jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.k8s.tree import table, tables
from trainform.k8s.versions import Versions

if TYPE_CHECKING:
    from trainform.k8s.tree import Tree

ObjectKey = tuple[str, str, str]
"""Kind, namespace (empty for cluster-wide kinds) and name."""


class Names:
    """The names of objects, found without looking at each: every job may ask, and there may be thousands of both."""

    def __init__(self, keys: Collection[ObjectKey]) -> None:
        self.size = len(keys)
        self._by_place: dict[tuple[str, str], list[str]] = {}
        self._by_name: dict[tuple[str, str], list[str]] = {}
        for kind, namespace, name in sorted(keys):
            self._by_place.setdefault((kind, namespace), []).append(name)
            self._by_name.setdefault((kind, name), []).append(namespace)
        self._kinds = frozenset(kind for kind, _ in self._by_place)

    def names(self, kind: str, namespace: str = "") -> list[str]:
        """The sorted names of a kind."""
        return self._by_place.get((kind, namespace), [])

    def namespaces(self, kind: str, name: str) -> list[str]:
        """The sorted namespaces that have an object of this kind and name."""
        return self._by_name.get((kind, name), [])

    def __contains__(self, kind: str) -> bool:
        """Whether there is any object of a kind."""
        return kind in self._kinds


@dataclass(slots=True, eq=False)
class Facts:
    """Declared objects, and the cluster's versions. Objects are added while documents are read, and only then."""

    objects: dict[ObjectKey, Tree]
    versions: Versions = field(default_factory=Versions)
    _names: Names = field(default_factory=lambda: Names(()), repr=False)
    _amounts: Counter[str] = field(default_factory=Counter, repr=False)

    def add(self, key: ObjectKey, tree: Tree) -> bool:
        """Add an object unless there is one of this name; False if its namespace would have too many amounts."""
        kind, namespace, _ = key
        if key not in self.objects and (count := _amounts(kind, tree)):
            if self._amounts[namespace] + count > MOST_AMOUNTS:
                return False
            self._amounts[namespace] += count
        self.objects.setdefault(key, tree)
        return True

    def get(self, kind: str, name: str, namespace: str = "") -> Tree | None:
        return self.objects.get((kind, namespace, name))

    def names(self, kind: str, namespace: str = "") -> list[str]:
        """The sorted names declared for a kind."""
        return self.index.names(kind, namespace)

    @property
    def index(self) -> Names:
        if self._names.size != len(self.objects):
            self._names = Names(self.objects)
        return self._names


MOST_AMOUNTS = 300
"""Maximum amounts in the LimitRanges and ResourceQuotas of a namespace: every one is compared with every job."""


def _amounts(kind: str, tree: Tree) -> int:
    spec = table(tree, "spec")
    if kind == "LimitRange":
        return sum(1 + sum(len(table(item, bound)) for bound in item) for item in tables(spec, "limits"))
    return 1 + len(table(spec, "hard")) if kind == "ResourceQuota" else 0


NO_FACTS = Facts({})
