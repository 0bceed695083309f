"""A final patch can make anything of an object: what it is then is told, and nothing looks at it any more."""

from __future__ import annotations

import pytest

from trainform import compile_stream

STREAM = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {{name: prod}}
spec:
  gitops: {{engine: argocd}}
  scheduling: {{kueue: {{localQueue: training}}}}
  patches:
  - target: {{kind: JobSet}}
    patch: |
      {patch}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: llm, namespace: ml}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    image: registry.example.com/train:1
    command: [torchrun, train.py]
    resourcesPerNode: {{limits: {{nvidia.com/gpu: 2}}}}
"""

POD = "spec: {{replicatedJobs: [{{name: node, template: {{spec: {{template: {{spec: {}}}}}}}}}]}}"
JOB = "spec: {{replicatedJobs: [{{name: node, {}}}]}}"


@pytest.mark.parametrize(
    "patch",
    [
        "spec: {failurePolicy: 1}",
        "spec: {failurePolicy: {rules: [1]}}",
        "spec: {failurePolicy: {rules: x}}",
        "spec: {network: x}",
        "spec: {replicatedJobs: x}",
        JOB.format("template: x"),
        JOB.format("template: {spec: x}"),
        JOB.format("template: {metadata: [x]}"),
        JOB.format("template: {spec: {template: [x]}}"),
        JOB.format("template: {spec: {parallelism: '20000'}}"),
        JOB.format("replicas: x"),
        POD.format("{volumes: [{name: a, emptyDir: x}]}"),
        POD.format("{schedulerName: [x]}"),
        POD.format("{initContainers: x}"),
        POD.format("{tolerations: [x]}"),
        POD.format("{containers: [{name: node, env: [{name: A, value: 5}]}]}"),
        POD.format("{containers: [{name: node, args: [5, [6]]}]}"),
        POD.format("{containers: [{name: node, resources: {limits: {memory: [1]}}}]}"),
        POD.format("{containers: [{name: node, ports: {a: 1}}]}"),
        POD.format("{containers: [{name: node, image: 5}]}"),
        "metadata: {labels: x}",
        "metadata: {annotations: {a: 5}}",
    ],
)
def test_a_patch_to_a_wrong_type_is_an_error_and_no_failure(patch):
    assert_told(patch)


@pytest.mark.parametrize("path", ["/spec", "/spec/replicatedJobs/0/template"])
def test_a_patch_that_removes_what_holds_all_else_is_an_error_and_no_failure(path):
    assert_told(f"[{{op: remove, path: {path}}}]")


def assert_told(patch: str) -> None:
    result = compile_stream(STREAM.format(patch=patch))
    told = [*result["diagnostics"], *(each for job in result["jobs"] for each in job["diagnostics"])]
    codes = {each["code"] for each in told}
    assert codes & {"TF102", "TF103", "TF104", "TF162"}
    assert "TF901" not in codes
