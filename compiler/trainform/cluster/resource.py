"""A kind as the API serves it: where its objects are."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from trainform.k8s.tree import Tree


class ApiResource(NamedTuple):
    """A kind in one API version: `jobset.x-k8s.io/v1alpha2`, `JobSet`, `jobsets`."""

    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def head(self) -> Tree:
        """What the items of a list lack."""
        return {"apiVersion": self.version, "kind": self.kind}

    @property
    def group(self) -> str:
        return self.version.rpartition("/")[0]

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of all objects, those of a namespace, or one."""
        parts = [version_path(self.version)]
        if namespace and self.namespaced:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        return "/".join([*parts, quote(name, safe="")] if name else parts)


def version_path(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"
