"""Steps that request nothing under a queue that places pods by topology, and the hints that mend them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from support.scheduling import fact
from trainform import compile_stream
from trainform.core.cluster.facts import Facts
from trainform.core.inputs import key_of
from trainform.review.capacity.demand import job_demand
from trainform.review.capacity.verdicts import capacity
from trainform.source import load

Tree = dict[str, Any]

RACK = "example.com/rack"
TOPOLOGY = fact("Topology", "dc", {"levels": [{"nodeLabel": RACK}, {"nodeLabel": "kubernetes.io/hostname"}]})
BY_TOPOLOGY = fact("ResourceFlavor", "h100", {"nodeLabels": {"gpu": "h100"}, "topologyName": "dc"})
ANYWHERE = fact("ResourceFlavor", "h100", {"nodeLabels": {"gpu": "h100"}})
LOCAL_QUEUE = fact("LocalQueue", "team-a", {"clusterQueue": "all"}, namespace="team-a")
LIMITS = fact("LimitRange", "usual", {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]},
              version="v1", namespace="team-a")  # fmt: skip


def cluster_queue(*resources: object, flavors: Sequence[str] = ("h100",)) -> Tree:
    quotas = [{"name": name, "nominalQuota": 64} for name in resources]
    groups = [{"coveredResources": [*resources], "flavors": [{"name": name, "resources": quotas} for name in flavors]}]
    return fact("ClusterQueue", "all", {"namespaceSelector": {}, "resourceGroups": groups})


def environment(**spec: Any) -> Tree:
    head = {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "prod"}}
    return {**head, "spec": {"scheduling": {"kueue": {"localQueue": "team-a"}}, **spec}}


def job(runtime: str = "torchtune-llama3.2-1b", **spec: Any) -> Tree:
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}
    return {
        **head,
        "metadata": {"name": "llm", "namespace": "team-a"},
        "spec": {"runtimeRef": {"name": runtime}, **spec},
    }


def own_runtime(annotations: Tree | None = None, requests: Tree | None = None) -> Tree:
    def step(name: str, container: str, requests: Tree | None) -> Tree:
        containers = [{"name": container, "image": "example/train:1", "resources": {"requests": requests or {}}}]
        pods = {"metadata": {"annotations": annotations or {}}, "spec": {"containers": containers}}
        label = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"} if name == "node" else {}
        return {"name": name, "template": {"metadata": {"labels": label}, "spec": {"template": pods}}}

    jobs = [step("reader", "read", requests), step("node", "node", {"cpu": 1})]
    spec = {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": jobs}}}
    head = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "mine"},
    }
    return {**head, "spec": spec}


def told(*documents: Tree) -> list[Tree]:
    result = compile_stream(yaml.safe_dump_all(documents))
    return [each for job in result["jobs"] for each in job["diagnostics"] if each["code"] == "TF374"]


def verdict(*documents: Tree) -> str:
    """What Kueue would do with the rendered job."""
    text = yaml.safe_dump_all(documents)
    (result,) = compile_stream(text)["jobs"]
    (jobset,) = (tree for tree in result["objects"] if tree["kind"] == "JobSet")
    facts = Facts({key_of(each, "default"): each.tree for each in load(text, "facts.yaml").documents})
    (judged,) = capacity([job_demand(jobset, facts)], facts).jobs
    return judged.verdict


FACTS = (TOPOLOGY, BY_TOPOLOGY, LOCAL_QUEUE, cluster_queue("cpu", "nvidia.com/gpu"))
INITIALIZER: Tree = {"initializer": {"dataset": {"storageUri": "hf://a/b"}}}


def test_each_step_of_a_shipped_runtime_is_told_in_the_trainjob():
    found = told(environment(), job(**INITIALIZER), *FACTS)
    assert [(each["severity"], each["field"]) for each in found] == [
        ("error", "spec.initializer.dataset"),
        ("error", "spec.runtimeRef.name"),
    ]
    assert "'dataset-initializer' request nothing" in found[0]["message"]
    assert "ClusterQueue all places them by topology" in found[0]["message"]


def test_the_hints_of_a_shipped_runtime_are_patches_that_mend_it():
    hints = [each["hint"] for each in told(environment(), job(**INITIALIZER), *FACTS)]
    start = "add to spec.patches of the Environment: "
    assert all(hint.startswith(start) for hint in hints)
    patches = [yaml.safe_load(hint.removeprefix(start)) for hint in hints]
    mended = (environment(patches=patches), job(**INITIALIZER), *FACTS)
    assert told(*mended) == []
    assert verdict(*mended) == "fits"


def test_the_hint_for_the_trainer_is_its_resources():
    (found,) = told(environment(), job("torch-distributed", trainer={"numNodes": 2}), *FACTS)
    assert found["field"] == "spec.trainer"
    start = "set spec.trainer.resourcesPerNode: "
    resources = yaml.safe_load(found["hint"].removeprefix(start))
    mended = (environment(), job("torch-distributed", trainer={"numNodes": 2, "resourcesPerNode": resources}), *FACTS)
    assert told(*mended) == []
    assert verdict(*mended) == "fits"


def test_a_runtime_of_the_repository_is_told_there():
    (found,) = told(environment(), job("mine"), own_runtime(), *FACTS)
    assert found["field"].startswith("spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0]")
    assert found["hint"] == "add resources: {requests: {cpu: 100m}} to container read"


@pytest.mark.parametrize(
    ("covered", "requests"),
    [
        (("cpu", "nvidia.com/gpu"), "{cpu: 100m}"),
        (("nvidia.com/gpu", "cpu"), "{cpu: 100m}"),
        (("memory", "nvidia.com/gpu"), "{memory: 64Mi}"),
        (("nvidia.com/gpu",), "{nvidia.com/gpu: 1}"),
    ],
)
def test_a_hint_asks_for_what_the_queue_covers(covered, requests):
    facts = (TOPOLOGY, BY_TOPOLOGY, LOCAL_QUEUE, cluster_queue(*covered))
    found = next(each for each in told(environment(), job(**INITIALIZER), *facts))
    assert f"requests: {requests}" in found["hint"]


ASKING: Tree = {"kueue.x-k8s.io/podset-required-topology": RACK}
HANDED_ON: Tree = {"scheduling": {"kueue": {"localQueue": "team-a", "multiKueue": True}}}
SPARED = {
    "a queue that counts pods": (environment(), own_runtime(), cluster_queue("cpu", "pods"), BY_TOPOLOGY),
    "defaults of the namespace": (environment(), own_runtime(), cluster_queue("cpu"), BY_TOPOLOGY, LIMITS),
    "a flavor without a topology": (environment(), own_runtime(), cluster_queue("cpu"), ANYWHERE),
    "a flavor that is not declared": (environment(), own_runtime(), cluster_queue("cpu")),
    "a queue without flavors": (environment(), own_runtime(ASKING), cluster_queue("cpu", flavors=())),
    "a queue of no resource": (environment(), own_runtime(ASKING), cluster_queue(), BY_TOPOLOGY),
    "a queue of something unreadable": (environment(), own_runtime(), cluster_queue({"cpu": 1}), BY_TOPOLOGY),
    "a worker cluster": (environment(**HANDED_ON), own_runtime(), cluster_queue("cpu"), BY_TOPOLOGY),
}


@pytest.mark.parametrize("documents", SPARED.values(), ids=SPARED)
def test_a_step_that_kueue_can_place_or_of_which_too_little_is_known(documents):
    (result,) = compile_stream(yaml.safe_dump_all([*documents, job("mine"), LOCAL_QUEUE, TOPOLOGY]))["jobs"]
    assert [each["code"] for each in result["diagnostics"] if each["severity"] == "error"] == []


@pytest.mark.parametrize("flavors", [[BY_TOPOLOGY], [ANYWHERE], []], ids=["by topology", "anywhere", "not declared"])
def test_a_step_that_asks_for_a_topology_itself_needs_a_request_in_any_queue(flavors):
    documents = (environment(), own_runtime(ASKING), cluster_queue("cpu"), *flavors)
    assert len(told(*documents, job("mine"), LOCAL_QUEUE, TOPOLOGY)) == 1


IGNORING = fact("Configuration", "kueue", version="config.kueue.x-k8s.io/v1beta2") | {
    "resources": {"quotaCheckStrategy": "IgnoreUndeclared"}
}


@pytest.mark.parametrize(
    ("requests", "configuration", "is_told"),
    [
        ({"cpu": 0}, [], False),
        ({"memory": 0}, [], True),
        ({"memory": "1Gi"}, [], False),
        ({"memory": "1Gi"}, [IGNORING], True),
    ],
    ids=["0 of what the queue covers", "0 of something else", "what the queue refuses", "what Kueue does not count"],
)
def test_what_counts_as_a_request(requests, configuration, is_told):
    """The queue covers the CPU. What it refuses is another problem."""
    documents = (environment(), own_runtime(requests=requests), *FACTS, *configuration)
    assert bool(told(*documents, job("mine"))) == is_told


@pytest.mark.parametrize("amount", ["much", {"of": "it"}, [1]])
def test_a_request_that_is_wrong_is_told_alone(amount):
    path = "/spec/replicatedJobs/1/template/spec/template/spec/containers/0/resources"
    operations = [{"op": "replace", "path": path, "value": {"requests": {"cpu": amount}}}]
    patches = [{"target": {"kind": "JobSet"}, "patch": operations}]
    result = compile_stream(yaml.safe_dump_all([environment(patches=patches), job("mine"), own_runtime(), *FACTS]))
    found = {each["code"] for each in result["jobs"][0]["diagnostics"] if each["severity"] == "error"}
    assert found
    assert found.isdisjoint({"TF374", "TF901"})
