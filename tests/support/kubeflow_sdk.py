"""The Kubeflow SDK's own backend for Kubernetes, without a cluster: what it would send."""

from __future__ import annotations

from typing import Any, NamedTuple

from kubeflow.trainer.backends.kubernetes.backend import KubernetesBackend
from kubernetes import client

from trainform.io.resources import shipped_runtimes
from trainform.source import load


class Answer(NamedTuple):
    value: Any

    def get(self, timeout: float | None = None) -> Any:
        return self.value


class FakeApi:
    """Has the shipped runtimes, as cluster-wide ones, and keeps what is created."""

    def __init__(self) -> None:
        documents = [each for name, text in shipped_runtimes() for each in load(text, name).documents]
        self.runtimes = {each.tree["metadata"]["name"]: each.tree for each in documents}
        self.created: list[dict[str, Any]] = []

    def get_namespaced_custom_object(self, *_arguments: Any, **_options: Any) -> Answer:
        raise client.ApiException(status=404)

    def get_cluster_custom_object(self, group: str, version: str, plural: str, name: str, **_options: Any) -> Answer:
        return Answer(self.runtimes[name])

    def create_namespaced_custom_object(
        self, group: str, version: str, namespace: str, plural: str, body: dict[str, Any]
    ) -> None:
        self.created.append(client.ApiClient().sanitize_for_serialization(body))


def sent(**call: Any) -> dict[str, Any]:
    """The TrainJob that `train(**call)` sends to an API server."""
    backend = KubernetesBackend.__new__(KubernetesBackend)
    backend.namespace, backend.custom_api = "ml", FakeApi()
    backend.train(**call)
    body: dict[str, Any]
    (body,) = backend.custom_api.created
    return body
