"""PodGroup and hostfile against a JobSet that an Environment's patches changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from trainform import compile_stream
from trainform.core.patches.consistency import consistency_problems
from trainform.core.patches.objects import apply_patches, read_patches

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: mpi}
spec:
  mlPolicy: {numNodes: 2, mpi: {}}
  podGroupPolicy: {coscheduling: {}}
  template:
    spec:
      replicatedJobs:
      - name: launcher
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: a, resources: {requests: {cpu: 1}}}]}}}
      - name: node
        template:
          spec: {template: {spec: {containers: [{name: node, image: a, resources: {limits: {cpu: 2}}}]}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm}
spec: {runtimeRef: {name: mpi}, trainer: {numNodes: 2}}
"""
OBJECTS = compile_stream(RUNTIME)["jobs"][0]["objects"]

LAUNCHER, NODE = 0, 1
JOBS = "/spec/replicatedJobs"
SIZE = f"{JOBS}/{NODE}/template/spec/parallelism"
CPU = f"{JOBS}/{NODE}/template/spec/template/spec/containers/0/resources/limits/cpu"
HOSTS = "/data/hostfile"


@dataclass
class Target:
    kind: str
    group: str | None = None
    version: str | None = None
    name: str | None = None
    namespace: str | None = None
    label_selector: str | None = None
    annotation_selector: str | None = None


@dataclass
class Patch:
    target: Target
    patch: Any


def change(kind, *paths_and_values):
    pairs = zip(paths_and_values[::2], paths_and_values[1::2], strict=True)
    operations = [{"op": "add", "path": path, "value": value} for path, value in pairs]
    return Patch(Target(kind), operations)


def remove(kind, path=None):
    return Patch(Target(kind), [{"op": "remove", "path": path}] if path else {"$patch": "delete"})


def found(*patches):
    read, problems = read_patches(patches)
    assert problems == []
    result = apply_patches(OBJECTS, read)
    assert result.problems == []
    return consistency_problems(OBJECTS, result)


def told(*patches):
    return [(each.object, ".".join(each.object_path), each.index) for each in found(*patches)]


MEMBERS = ("PodGroup/llm", "spec.minMember", 0)
RESOURCES = ("PodGroup/llm", "spec.minResources", 0)
HOSTFILE = ("ConfigMap/llm-mpi-hostfile", "data.hostfile", 0)
FOUR = "".join(f"llm-node-0-{pod}.llm slots=1\n" for pod in range(4))


def test_what_the_job_was_built_as():
    assert [tree["kind"] for tree in OBJECTS] == ["ConfigMap", "PodGroup", "JobSet"]
    assert OBJECTS[1]["spec"] | {"scheduleTimeoutSeconds": 60} == {
        "minMember": 3,
        "minResources": {"cpu": "5"},
        "scheduleTimeoutSeconds": 60,
    }
    assert OBJECTS[0]["data"]["hostfile"] == "llm-node-0-0.llm slots=1\nllm-node-0-1.llm slots=1\n"


@pytest.mark.parametrize(
    ("patches", "misfits"),
    [
        ([], []),
        ([change("JobSet", "/metadata/labels", {"a": "b"})], []),
        ([change("JobSet", SIZE, 4)], [HOSTFILE, MEMBERS, RESOURCES]),
        ([change("JobSet", SIZE, 1)], [HOSTFILE, MEMBERS, RESOURCES]),
        ([change("JobSet", f"{JOBS}/{NODE}/replicas", 2)], [HOSTFILE, MEMBERS, RESOURCES]),
        ([remove("JobSet", SIZE)], [HOSTFILE, MEMBERS, RESOURCES]),
        ([change("JobSet", f"{JOBS}/{LAUNCHER}/replicas", 2)], [MEMBERS, RESOURCES]),
        ([change("JobSet", CPU, "3")], [RESOURCES]),
        ([change("JobSet", CPU, "2000m")], []),
        ([change("JobSet", "/spec/network", {"subdomain": "other"})], [HOSTFILE]),
        ([change("JobSet", f"{JOBS}/{NODE}/name", "worker")], [HOSTFILE]),
        ([change("PodGroup", "/spec/minMember", 2)], [MEMBERS]),
        ([change("PodGroup", "/spec/minResources", {"cpu": 4})], [RESOURCES]),
        ([change("PodGroup", "/spec/minResources", {"cpu": "5000m"})], []),
        ([remove("PodGroup", "/spec/minResources")], []),
        ([change("PodGroup", "/spec/scheduleTimeoutSeconds", 9)], []),
        ([change("ConfigMap", HOSTS, "llm-node-0-0.llm\n")], [HOSTFILE]),
        ([change("ConfigMap", HOSTS, "llm-node-0-0.llm\nllm-node-0-1.llm.default.svc\n")], []),
        ([change("ConfigMap", HOSTS, "# two\nllm-node-0-1.llm:8\n\nllm-node-0-0.llm:8\n")], []),
        ([change("ConfigMap", HOSTS, "llm-node-0-0.llm\nllm-node-0-01.llm\n")], [HOSTFILE]),
        ([change("ConfigMap", HOSTS, "")], [HOSTFILE]),
        ([change("ConfigMap", HOSTS, FOUR)], [HOSTFILE]),
        (
            [
                change("JobSet", SIZE, 4),
                change("PodGroup", "/spec/minMember", 5, "/spec/minResources/cpu", "9"),
                change("ConfigMap", HOSTS, FOUR),
            ],
            [],
        ),
        ([remove("JobSet")], [("JobSet/llm", "", 0)]),
        ([remove("PodGroup")], [("PodGroup/llm", "", 0)]),
        ([remove("ConfigMap")], [("ConfigMap/llm-mpi-hostfile", "", 0)]),
    ],
)
def test_what_no_longer_fits(patches, misfits):
    assert told(*patches) == misfits


def test_a_group_that_the_pods_no_longer_name_may_go():
    mark = "/template/spec/template/metadata/labels"
    unmarked = change("JobSet", f"{JOBS}/0{mark}", {}, f"{JOBS}/1{mark}", {})
    assert told(unmarked, remove("PodGroup")) == []


def test_the_last_patch_of_either_object_is_told():
    label = change("PodGroup", "/metadata/labels", {"a": "b"})
    problems = found(change("JobSet", CPU, "3"), label, change("ConfigMap", "/data/x", "y"))
    assert [problem.index for problem in problems] == [1]


def test_what_is_said():
    hosts, members, resources = found(change("JobSet", SIZE, 4))
    assert hosts.message == (
        "after the patches, ConfigMap/llm-mpi-hostfile does not list llm-node-0-2.llm, a pod of JobSet/llm"
    )
    assert members.message == "after the patches, PodGroup/llm waits for 3 pods, but JobSet/llm has 5"
    assert members.hint == "patch it to 5, or set the number of nodes in the job instead"
    assert resources.message == (
        "after the patches, PodGroup/llm requests cpu: 5, but the pods of JobSet/llm request cpu: 9"
    )
    (fewer, *_) = found(change("JobSet", SIZE, 1))
    assert "lists llm-node-0-1.llm, which is not a pod of JobSet/llm" in fewer.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (SIZE, "many"),
        (SIZE, 2**31),
        (JOBS, {}),
        ("/spec", []),
        (f"{JOBS}/0/template", 3),
        (f"{JOBS}/0/template/spec/template/spec/containers", "none"),
        (CPU, "2GB"),
    ],
)
def test_a_jobset_that_its_schema_refuses_is_left_to_the_checks(path, value):
    assert told(change("JobSet", path, value)) == []


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [("PodGroup", "/spec", []), ("PodGroup", "/spec/minResources", {"cpu": {}}), ("ConfigMap", "/data", "x")],
)
def test_odd_objects_do_not_stop_the_compiler(kind, path, value):
    assert {index for _, _, index in told(change(kind, path, value), change("JobSet", CPU, "3"))} <= {1}


def test_counting_does_not_depend_on_the_number_of_pods():
    (hosts, *_) = found(change("JobSet", SIZE, 2**31 - 1))
    assert "does not list llm-node-0-2.llm" in hosts.message
