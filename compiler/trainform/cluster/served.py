"""What a cluster serves: which kinds, in which API versions."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from trainform.cluster import NotFound, Unreachable
from trainform.cluster.client import Client
from trainform.cluster.resource import ApiResource, version_path
from trainform.k8s.tree import tables, text

CORE = "v1"
"""What every API server has: where it is missing, something else answers, and no kind counts as not installed."""


class Served:
    """What a cluster serves, asked for once for each API version."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, dict[str, ApiResource]] = {}

    def find(self, versions: Iterable[str], kind: str) -> ApiResource | None:
        """A kind in the first of these API versions that has it; None if it is not installed. Raises ClusterError."""
        return next((found for each in versions if (found := self._of(each).get(kind))), None)

    def _of(self, version: str) -> dict[str, ApiResource]:
        if version not in self._known:
            try:
                listed = self._client.listed_at(version_path(version), "resources")
            except NotFound as error:
                if version == CORE:
                    raise Unreachable(f"no API server is there: {error}", error.status) from error
                listed = {}
            named = [(text(each, "kind"), text(each, "name"), each) for each in tables(listed, "resources")]
            self._known[version] = {
                kind: ApiResource(version, kind, name, each.get("namespaced") is True)
                for kind, name, each in named
                if _is_plain(name)
            }
        return self._known[version]


def _is_plain(name: str) -> bool:
    """No subresource, such as `pods/log`, and nothing that would change a path."""
    return bool(name) and quote(name, safe="") == name
