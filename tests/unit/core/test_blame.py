"""Which line of which source a fault of a rendered object is told at."""

from __future__ import annotations

from textwrap import dedent

import pytest

from support.streams import compiled_text
from trainform import Plugin
from trainform.core.provenance import blame, shown_at
from trainform.installed import load_plugins
from trainform.k8s.tree import value_at

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


INITIALIZED = dedent(
    """\
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: ClusterTrainingRuntime
    metadata: {name: rt}
    spec:
      template:
        spec:
          replicatedJobs:
            - name: dataset-initializer
              template:
                metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}
                spec:
                  template:
                    spec:
                      containers:
                        - name: dataset-initializer
                          image: get:1
                          env: [{name: A, value: a}]
                          envFrom: [{secretRef: {name: own}}]
                          volumeMounts: [{name: initializer, mountPath: /workspace}]
            - name: node
              template:
                metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                spec: {template: {spec: {containers: [{name: node, image: "torch:1"}]}}}
    ---
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {name: llm, namespace: ml}
    spec:
      runtimeRef: {name: rt}
      initializer:
        dataset:
          storageUri: s3://bucket/key
          env: [{name: B, valueFrom: {secretKeyRef: {name: tok, key: t}}}]
          secretRef: {name: hub}
    """
)
DATASET = ("spec", "initializer", "dataset")


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (("env", 0, "value"), "runtime", (*RUNTIME, "containers", 0, "env", 0, "value")),
        (("env", 1, "value"), "job", (*DATASET, "storageUri")),
        (("env", 2, "valueFrom", "secretKeyRef", "name"), "job", None),
        (
            ("envFrom", 0, "secretRef", "name"),
            "runtime",
            (*RUNTIME, "containers", 0, "envFrom", 0, "secretRef", "name"),
        ),
        (("envFrom", 1, "secretRef", "name"), "job", (*DATASET, "secretRef", "name")),
        (("image",), "runtime", (*RUNTIME, "containers", 0, "image")),
    ],
)
def test_what_the_job_says_of_an_initializer_is_blamed_on_the_job(path, source, expected):
    plan = planned(INITIALIZED)
    jobset = next(each for each in plan.objects if each["kind"] == "JobSet")
    place = plan.job_document if source == "job" else plan.runtime_document
    found = expected or (*DATASET, "env", 0, *path[2:])
    assert blame(plan, jobset, (*NODE, *path)) == (place, found)


def test_a_variable_of_the_trainer_in_the_pods_of_another_step_is_blamed_on_the_trainer():
    """With `runLauncherAsNode`, nodes have the variables of the launcher, which is the trainer step."""
    stream = dedent(
        """\
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: rt}
        spec:
          mlPolicy: {numNodes: 2, mpi: {mpiImplementation: OpenMPI, runLauncherAsNode: true}}
          template:
            spec:
              replicatedJobs:
                - name: launcher
                  template:
                    metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                    spec: {template: {spec: {containers: [{name: node, image: "mpi:1"}]}}}
                - name: node
                  template: {spec: {template: {spec: {containers: [{name: node, image: "mpi:1"}]}}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llm, namespace: ml}
        spec:
          runtimeRef: {name: rt}
          trainer: {env: [{name: A, value: a}]}
        """
    )
    plan = planned(stream)
    jobset = next(each for each in plan.objects if each["kind"] == "JobSet")
    nodes = [("spec", "replicatedJobs", index, *POD[3:], "containers", 0) for index in (0, 1)]
    for node in nodes:
        names = [each["name"] for each in value_at(jobset, (*node, "env"))]
        path = (*node, "env", names.index("A"), "value")
        assert blame(plan, jobset, path) == (plan.job_document, ("spec", "trainer", "env", 0, "value"))
