"""The parts of Kubernetes' clients that the SDK's backend uses, answered from a repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kubeflow.trainer.constants import constants
from kubernetes import client

from trainform.k8s.tree import Tree, table
from trainform.sdk.records import Records
from trainform.workspace.retire.choice import outcomes_of

KINDS = {
    constants.CLUSTER_TRAINING_RUNTIME_PLURAL: "ClusterTrainingRuntime",
    constants.TRAINING_RUNTIME_PLURAL: "TrainingRuntime",
}
CONDITIONS = {"Completed": constants.TRAINJOB_COMPLETE, "Failed": constants.TRAINJOB_FAILED}
"""What the condition of a JobSet means for its TrainJob."""

JOBSETS = ("jobset.x-k8s.io", "v1alpha2", "jobsets")


class Answered(NamedTuple):
    """The answer to a request with `async_req`, which the SDK waits for."""

    value: Any

    def get(self, timeout: float | None = None) -> Any:
        return self.value


class RepositoryApi:
    """In place of `CustomObjectsApi`: TrainJobs and runtimes from `records`; how jobs ended from the JobSets of
    `cluster`, if there is one. What is created is kept in `created`: the backend writes it."""

    def __init__(self, records: Callable[[], Records], cluster: client.CustomObjectsApi | None) -> None:
        self._records = records
        self._cluster = cluster
        self.created: Tree = {}

    def create_namespaced_custom_object(
        self, group: str, version: str, namespace: str, plural: str, body: Tree, **_options: Any
    ) -> Tree:
        self.created = body
        return body

    def get_cluster_custom_object(self, group: str, version: str, plural: str, name: str, **_options: Any) -> Answered:
        return Answered(self._runtime(plural, name))

    def get_namespaced_custom_object(
        self, group: str, version: str, namespace: str, plural: str, name: str, **_options: Any
    ) -> Answered:
        return Answered(self._job(name) if plural == constants.TRAINJOB_PLURAL else self._runtime(plural, name))

    def _runtime(self, plural: str, name: str) -> Tree:
        found = self._records().runtimes.get((KINDS[plural], name))
        if found is None:
            raise client.ApiException(status=404)
        return found

    def _job(self, name: str) -> Tree:
        """What the SDK reads of a TrainJob, under the name of its JobSet: by that it finds the pods."""
        records = self._records()
        document = records.job(name)
        jobset_name = records.jobset_of(name)
        jobset = self._jobset(records.namespace, jobset_name)
        spec = table(document.tree, "spec")
        created = table(jobset, "metadata").get("creationTimestamp") or records.written(document).isoformat()
        return {
            "apiVersion": constants.API_VERSION,
            "kind": constants.TRAINJOB_KIND,
            "metadata": {"name": jobset_name, "namespace": records.namespace, "creationTimestamp": created},
            "spec": {
                "runtimeRef": spec.get("runtimeRef"),
                "trainer": {"numNodes": table(spec, "trainer").get("numNodes")},
            },
            "status": {"conditions": [*map(_condition, outcomes_of([jobset]).values())]},
        }

    def _jobset(self, namespace: str, name: str) -> Tree:
        """The JobSet as it is in the cluster; empty if it is not there yet, or nobody can ask."""
        if self._cluster is None:
            return {}
        group, version, plural = JOBSETS
        try:
            found: Tree = self._cluster.get_namespaced_custom_object(group, version, namespace, plural, name)
        except client.ApiException as error:
            if error.status != 404:
                raise
            return {}
        return found


def _condition(outcome: str) -> Mapping[str, str]:
    return {
        "type": CONDITIONS[outcome],
        "status": "True",
        "reason": outcome,
        "message": "",
        "lastTransitionTime": "1970-01-01T00:00:00Z",  # nobody reads it, but the model wants one
    }


class NoPods:
    """In place of `CoreV1Api`, where there is no cluster: no pod exists."""

    def list_namespaced_pod(self, namespace: str, **_options: Any) -> Answered:
        return Answered(client.V1PodList(items=[]))
