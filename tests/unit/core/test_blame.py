"""Which line of which source a fault of a rendered object is told at."""

from __future__ import annotations

from textwrap import dedent

import pytest

from support.streams import compiled_text
from trainform import Plugin
from trainform.core.provenance import blame, shown_at
from trainform.installed import load_plugins

STREAM = dedent(
    """\
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: ClusterTrainingRuntime
    metadata: {name: rt}
    spec:
      mlPolicy: {numNodes: 1, torch: {}}
      podGroupPolicy: {coscheduling: {}}
      template:
        spec:
          network: {subdomain: ring}
          replicatedJobs:
            - name: node
              template:
                metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                spec:
                  template:
                    spec:
                      nodeSelector: {disk: ssd}
                      initContainers: [{name: check, image: check:1}]
                      containers:
                        - name: node
                          image: torch:1
                          env: [{name: A, value: a}, {name: B, value: b}]
                          resources: {limits: {memory: 1Gi}}
                      volumes: [{name: data, emptyDir: {}}]
    ---
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {name: llm, namespace: ml, labels: {team: a}}
    spec:
      runtimeRef: {name: rt}
      trainer:
        args: [train.py]
        env: [{name: B, value: c}]
        resourcesPerNode: {requests: {cpu: 4}}
      runtimePatches:
        - manager: example.com/a
          trainingRuntimeSpec: &patch
            template:
              spec:
                replicatedJobs:
                  - name: node
                    template: {spec: {template: {spec: {volumes: [{name: more, emptyDir: {}}]}}}}
        - manager: example.com/b
          trainingRuntimeSpec: *patch
    """
)

POD = ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec")
NODE = (*POD, "containers", 0)
RUNTIME = ("spec", "template", *POD)
SUBDOMAIN = ("spec", "network", "subdomain")
PATCHED = (*("spec", "runtimePatches", 1, "trainingRuntimeSpec", "template"), *POD)


@pytest.fixture(scope="module")
def plan():
    return planned(STREAM)


def planned(stream):
    plans = []
    look = type("Look", (Plugin,), {"name": "look", "check": lambda self, plan: plans.append(plan)})
    compiled_text(stream, plugins=(*load_plugins(), look()))
    return plans[0]


@pytest.mark.parametrize(
    ("kind", "path", "source", "expected"),
    [
        ("JobSet", ("metadata", "name"), "job", ("metadata", "name")),
        ("JobSet", ("metadata", "labels", "team"), "job", ("metadata", "labels")),
        ("JobSet", ("metadata", "annotations", "x"), "job", ("metadata",)),
        ("JobSet", SUBDOMAIN, "runtime", ("spec", "template", *SUBDOMAIN)),
        ("JobSet", (*POD, "nodeSelector", "disk"), "runtime", (*RUNTIME, "nodeSelector", "disk")),
        ("JobSet", (*POD, "initContainers", 0, "image"), "runtime", (*RUNTIME, "initContainers", 0, "image")),
        ("JobSet", (*NODE, "image"), "runtime", (*RUNTIME, "containers", 0, "image")),
        ("JobSet", (*NODE, "args", 0), "job", ("spec", "trainer", "args", 0)),
        ("JobSet", (*NODE, "env", 0, "value"), "runtime", (*RUNTIME, "containers", 0, "env", 0, "value")),
        ("JobSet", (*NODE, "env", 1, "value"), "job", ("spec", "trainer", "env", 0, "value")),
        (
            "JobSet",
            (*NODE, "resources", "requests", "cpu"),
            "job",
            ("spec", "trainer", "resourcesPerNode", "requests", "cpu"),
        ),
        (
            "JobSet",
            (*NODE, "resources", "limits", "memory"),
            "runtime",
            (*RUNTIME, "containers", 0, "resources", "limits", "memory"),
        ),
        ("JobSet", (*POD, "volumes", 0), "job", (*PATCHED, "volumes", 0)),
        ("JobSet", (*POD, "volumes", 1), "runtime", (*RUNTIME, "volumes", 0)),
        ("JobSet", (*NODE, "command"), "runtime", (*RUNTIME, "containers", 0, "command")),
        ("JobSet", (*NODE, "ports", 0, "containerPort"), "job", ("spec", "runtimeRef", "name")),
        ("PodGroup", ("spec", "minMember"), "runtime", ("spec", "podGroupPolicy")),
    ],
)
def test_an_element_is_blamed_on_the_source_that_set_it_last(plan, kind, path, source, expected):
    tree = next(each for each in plan.objects if each["kind"] == kind)
    place = plan.job_document if source == "job" else plan.runtime_document
    assert blame(plan, tree, path) == (place, expected)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("spec", "template", *NODE), {"object": "JobSet/llm", "object_path": NODE}),
        (
            ("spec", "podGroupPolicy", "coscheduling", "scheduleTimeoutSeconds"),
            {"object": "PodGroup/llm", "object_path": ("spec", "scheduleTimeoutSeconds")},
        ),
        (("spec", "podGroupPolicy", "volcano"), {}),
        (("metadata", "name"), {}),
    ],
)
def test_a_fault_of_a_runtime_shows_in_the_object_that_is_made_of_it(path, shown):
    assert shown_at(path, "llm") == shown


ENVIRONMENT = dedent(
    """\
    ---
    apiVersion: trainform.dev/v1alpha1
    kind: Environment
    metadata: {name: prod}
    spec:
      runtimePatches:
        - manager: example.com/prod
          trainingRuntimeSpec:
            template:
              metadata: {labels: {team: b, tier: prod}}
              spec:
                replicatedJobs:
                  - name: node
                    template: {spec: {template: {spec: {nodeSelector: {pool: gpu}}}}}
    """
)


@pytest.mark.parametrize("path", [(*POD, "nodeSelector", "pool"), ("metadata", "labels", "tier")])
def test_an_element_is_blamed_on_the_environments_runtime_patch(path):
    plan = planned(STREAM + ENVIRONMENT)
    jobset = next(each for each in plan.objects if each["kind"] == "JobSet")
    template = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template")
    assert blame(plan, jobset, path) == (plan.environment_document, (*template, *path))
