"""Volcano: the PodGroup, its queue, and the priority class that must exist."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from trainform import compile_stream

QUEUE = "scheduling.volcano.sh/queue-name"
CONTAINER = {"name": "node", "image": f"llm@sha256:{0:064}"}


def compiled(
    *,
    template: dict[str, str] | None = None,
    job: dict[str, str] | None = None,
    pod: dict[str, Any] | None = None,
    classes: tuple[str, ...] = (),
    volcano: dict[str, Any] | None = None,
) -> dict[str, Any]:
    node = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": {"spec": {"schedulerName": "volcano", "containers": [CONTAINER], **(pod or {})}}},
        },
    }
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "gang"},
        "spec": {
            "podGroupPolicy": {"volcano": volcano or {}},
            "template": {"metadata": {"annotations": template or {}}, "spec": {"replicatedJobs": [node]}},
        },
    }
    train_job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "llm", "annotations": job or {}},
        "spec": {"runtimeRef": {"name": "gang"}, "trainer": {"numNodes": 3}},
    }
    facts = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": 1,
        }
        for name in classes
    ]
    result: dict[str, Any] = compile_stream(yaml.safe_dump_all([runtime, *facts, train_job]))["jobs"][0]
    return result


def pod_group(result: dict[str, Any]) -> dict[str, Any]:
    (group,) = (o for o in result["objects"] if o["kind"] == "PodGroup")
    spec: dict[str, Any] = group["spec"]
    return spec


def jobset(result: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = result["objects"][-1]
    return found


def test_every_pod_is_a_member_of_the_group():
    result = compiled()
    assert pod_group(result) == {"minMember": 3}
    pod = jobset(result)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert pod["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "llm"}


@pytest.mark.parametrize(
    ("template", "job", "queue", "deviations"),
    [
        (None, None, None, []),
        ("research", None, "research", []),
        (None, "urgent", "urgent", ["D12"]),
        ("research", "urgent", "urgent", ["D12"]),
        ("research", "research", "research", []),
    ],
)
def test_the_jobs_queue_beats_the_templates(template, job, queue, deviations):
    result = compiled(template=template and {QUEUE: template}, job=job and {QUEUE: job})
    assert pod_group(result).get("queue") == queue
    assert jobset(result)["metadata"].get("annotations", {}).get(QUEUE) == queue
    assert result["deviations"] == deviations


def test_nothing_else_of_the_job_is_annotated():
    result = compiled(job={QUEUE: "urgent", "note": "mine"})
    assert jobset(result)["metadata"]["annotations"] == {QUEUE: "urgent"}


@pytest.mark.parametrize(
    ("annotations", "field"),
    [
        ({"template": {QUEUE: ""}}, f"spec.template.metadata.annotations.{QUEUE}"),
        ({"template": {QUEUE: "research"}, "job": {QUEUE: ""}}, f"metadata.annotations.{QUEUE}"),
    ],
)
def test_a_queue_has_a_name(annotations, field):
    result = compiled(**annotations)
    assert [(d["code"], d["field"]) for d in result["diagnostics"]] == [("TF331", field)]


@pytest.mark.parametrize(
    ("name", "classes", "deviations"),
    [
        ("train-high", ("train-high", "train-low"), []),
        ("train-high", (), ["D15"]),
        ("system-cluster-critical", ("train-high",), []),
        ("system-node-critical", (), []),
    ],
)
def test_the_group_has_the_pods_priority(name, classes, deviations):
    result = compiled(pod={"priorityClassName": name}, classes=classes)
    assert pod_group(result)["priorityClassName"] == name
    assert result["deviations"] == deviations


def test_a_priority_class_is_among_the_declared_ones():
    result = compiled(pod={"priorityClassName": "train-hihg"}, classes=("train-high",))
    (error,) = result["diagnostics"]
    assert (error["code"], error["severity"]) == ("TF330", "error")
    assert error["field"].endswith("template.spec.priorityClassName")
    assert "train-high" in error["hint"]
    assert not result["objects"]


@pytest.mark.parametrize(
    ("given", "rendered"),
    [
        ({"mode": "soft", "highestTierAllowed": 2}, {"mode": "soft", "highestTierAllowed": 2}),
        ({"mode": None, "highestTierAllowed": 1}, {"mode": "hard", "highestTierAllowed": 1}),
    ],
)
def test_the_topology_is_the_runtimes_and_hard_by_default(given, rendered):
    assert pod_group(compiled(volcano={"networkTopology": given}))["networkTopology"] == rendered


def test_pods_that_another_scheduler_gets_are_told():
    (warning,) = compiled(pod={"schedulerName": "default-scheduler"})["diagnostics"]
    assert (warning["code"], warning["severity"]) == ("TF360", "warning")
    assert "the volcano gang of the runtime needs volcano" in warning["message"]
