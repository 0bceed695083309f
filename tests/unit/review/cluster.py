"""Cluster facts and jobs for the tests of capacity, in as few words as possible."""

from __future__ import annotations

from typing import Any

from trainform.core.cluster.facts import Facts
from trainform.k8s.schema.facts import check
from trainform.k8s.tree import Tree
from trainform.k8s.versions import Versions, parse_version
from trainform.review.capacity.demand import job_demand
from trainform.review.capacity.verdicts import Capacity, capacity

KUEUE = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"

Limits = tuple[Any, Any]
"""Borrowing and lending limit of a quota; None for no limit."""


def facts(*trees: Tree) -> Facts:
    """Facts that hold no error, as the command makes sure too."""
    found = {(each["kind"], each["metadata"]["name"]): check(each) for each in trees}
    assert not any(found.values()), found
    keyed = {(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each for each in trees}
    return Facts(keyed)


def in_kueue(declared: Facts, version: str | None) -> Facts:
    """The same facts of a cluster with this version of Kueue; None if it is unknown."""
    return Facts(declared.objects, Versions(kueue=parse_version(version) if version else None))


def fact(kind: str, name: str, spec: Tree | None = None, version: str = KUEUE, **metadata: Any) -> Tree:
    head = {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}}
    return head if spec is None else {**head, "spec": spec}


def flavor(name: str, **spec: Any) -> Tree:
    return fact("ResourceFlavor", name, spec)


def local_queue(name: str = "team", cluster_queue: str = "main", namespace: str = "ml", **spec: Any) -> Tree:
    return fact("LocalQueue", name, {"clusterQueue": cluster_queue, **spec}, namespace=namespace)


def group(flavors: dict[str, dict[str, Any]], limits: Limits = (None, None)) -> Tree:
    """A resource group: `{"h100": {"cpu": 8}}` is a nominal quota of eight cores in flavor h100."""
    resources = list(next(iter(flavors.values())))
    return {
        "coveredResources": resources,
        "flavors": [
            {
                "name": name,
                "resources": [_quota(resource, quotas[resource], limits) for resource in resources],
            }
            for name, quotas in flavors.items()
        ],
    }


def _quota(resource: str, nominal: Any, limits: Limits) -> Tree:
    quota = {
        "name": resource,
        "nominalQuota": nominal,
        "borrowingLimit": limits[0],
        "lendingLimit": limits[1],
    }
    return {key: value for key, value in quota.items() if value is not None}


def cluster_queue(name: str, *groups: Tree, **spec: Any) -> Tree:
    return fact("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": list(groups), **spec})


def cohort(name: str, *groups: Tree, parent: str = "") -> Tree:
    spec: Tree = {"resourceGroups": list(groups)}
    return fact("Cohort", name, {**spec, "parentName": parent} if parent else spec)


def step(name: str = "node", pods: int = 1, pod: Tree | None = None, **resources: Any) -> Tree:
    """A replicated job of `pods` pods that each request `resources`; `gpu` is the GPU of the vendor."""
    requests = {GPU if key == "gpu" else key: amount for key, amount in resources.items()}
    containers = [{"name": "main", "resources": {"requests": requests}}]
    spec = {"completions": pods, "parallelism": pods}
    template = {"spec": {"containers": containers, **(pod or {})}}
    return {"name": name, "replicas": 1, "template": {"spec": {**spec, "template": template}}}


def annotated(step: Tree, **annotations: str) -> Tree:
    """The step with annotations of Kueue on its pods, `_` for `-`."""
    named = {f"kueue.x-k8s.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    step["template"]["spec"]["template"]["metadata"] = {"annotations": named}
    return step


def job(*steps: Tree, name: str = "llm", queue: str = "team", namespace: str = "ml", **labels: str) -> Tree:
    given = {f"kueue.x-k8s.io/{key.replace('_', '-')}": value for key, value in labels.items()}
    given |= {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    metadata = {"name": name, "namespace": namespace, "labels": given}
    return {"kind": "JobSet", "metadata": metadata, "spec": {"replicatedJobs": list(steps)}}


def held(declared: Facts, *jobsets: Tree) -> Capacity:
    return capacity([job_demand(jobset, declared) for jobset in jobsets], declared)


def verdicts(declared: Facts, *jobsets: Tree) -> list[str]:
    return [each.verdict for each in held(declared, *jobsets).jobs]


def told(declared: Facts, *jobsets: Tree) -> tuple[str, str]:
    """Verdict and reason of the last job."""
    last = held(declared, *jobsets).jobs[-1]
    return last.verdict, last.reason
