"""Cluster facts: Kubernetes objects declared next to the jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.versions import Versions

if TYPE_CHECKING:
    from trainform.k8s.tree import Tree


class Facts(NamedTuple):
    """Declared objects by kind, namespace (empty for cluster-wide kinds) and name, and the cluster's versions."""

    objects: dict[tuple[str, str, str], Tree]
    versions: Versions = Versions()

    def get(self, kind: str, name: str, namespace: str = "") -> Tree | None:
        return self.objects.get((kind, namespace, name))

    def names(self, kind: str, namespace: str = "") -> list[str]:
        """The sorted names declared for a kind."""
        if not self.objects:
            return []
        return sorted(n for k, ns, n in self.objects if k == kind and ns == namespace)


NO_FACTS = Facts({})
