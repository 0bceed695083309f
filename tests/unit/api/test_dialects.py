"""Fields of older dialects and of the wrong place name what takes their place."""

from __future__ import annotations

import pytest
import yaml

from trainform import compile_stream
from trainform.api.advice.job import JOB

_POD = "spec.runtimePatches[0].trainingRuntimeSpec.template.spec.replicatedJobs[0].template.spec"


@pytest.mark.parametrize(
    ("spec", "field", "instead"),
    [
        ("podTemplateOverrides: []", "spec.podTemplateOverrides", "spec.runtimePatches"),
        ("podSpecOverrides: []", "spec.podSpecOverrides", "spec.runtimePatches"),
        ("elasticPolicy: {}", "spec.elasticPolicy", "numNodes"),
        ("modelConfig: {}", "spec.modelConfig", "spec.initializer.model"),
        ("datasetConfig: {}", "spec.datasetConfig", "spec.initializer.dataset"),
        ("trainerConfig: {}", "spec.trainerConfig", "spec.trainer"),
        ("labels: {}", "spec.labels", "metadata.labels"),
        ("annotations: {}", "spec.annotations", "metadata.annotations"),
        ("volumes: []", "spec.volumes", "spec.volumes"),
        ("mlPolicy: {}", "spec.mlPolicy", "in the runtime"),
        ("podGroupPolicy: {}", "spec.podGroupPolicy", "in the runtime"),
        ("failurePolicy: {}", "spec.failurePolicy", "spec.template.spec.failurePolicy"),
        ("cleanupPolicy: x", "spec.cleanupPolicy", "ttlSecondsAfterFinished"),
        ("ttlSecondsAfterFinished: 5", "spec.ttlSecondsAfterFinished", "in the runtime"),
        ("numNodes: 2", "spec.numNodes", "spec.trainer.numNodes"),
        ("trainer: {volumeMounts: []}", "spec.trainer.volumeMounts", "containers[].volumeMounts"),
        ("trainer: {resources: {}}", "spec.trainer.resources", "resourcesPerNode"),
        ("trainer: {podTemplate: {}}", "spec.trainer.podTemplate", "spec.trainer.{image"),
        ("trainer: {container: {}}", "spec.trainer.container", "spec.trainer.{image"),
        ("trainer: {numProcPerNode: auto}", "spec.trainer.numProcPerNode", "remove it"),
        ("trainer: {resourcesPerNode: {cpu: 1}}", "spec.trainer.resourcesPerNode.cpu", "limits"),
        (
            "trainer: {resourcesPerNode: {nvidia.com/gpu: 1}}",
            "spec.trainer.resourcesPerNode.nvidia.com/gpu",
            "limits",
        ),
        ("nodeSelector: {}", "spec.nodeSelector", "spec.runtimePatches"),
        ("serviceAccountName: a", "spec.serviceAccountName", "spec.runtimePatches"),
        ("trainer: {tolerations: []}", "spec.trainer.tolerations", "spec.runtimePatches"),
        ("trainer: {restartPolicy: Never}", "spec.trainer.restartPolicy", "in the runtime"),
        ("trainer: {workingDir: /a}", "spec.trainer.workingDir", "containers[].workingDir"),
        ("trainer: {gpus: 8}", "spec.trainer.gpus", "resourcesPerNode"),
        ("trainer: {limits: {}}", "spec.trainer.limits", "resourcesPerNode"),
        ("trainer: {replicas: 2}", "spec.trainer.replicas", "numNodes"),
        ("queue: a", "spec.queue", "kueue.x-k8s.io/queue-name"),
        ("backoffLimit: 3", "spec.backoffLimit", "failurePolicy"),
        ("torch: {}", "spec.torch", "mlPolicy.torch"),
        ("initializer: {model: {accessToken: x}}", "spec.initializer.model.accessToken", "secretRef"),
    ],
)
def test_a_job(reader, spec, field, instead):
    result = reader.job(f"  {spec}")
    assert reader.told(result) == [("TF106", field)]
    assert instead in result.diagnostics[0].hint


@pytest.mark.parametrize(
    ("inside", "field"),
    [
        ("parallelism: 2", f"{_POD}.parallelism"),
        (
            "template: {spec: {containers: [{name: node, image: a}]}}",
            f"{_POD}.template.spec.containers[0].image",
        ),
    ],
)
def test_a_patch(reader, inside, field):
    job = f"{{name: node, template: {{spec: {{{inside}}}}}}}"
    template = f"{{spec: {{replicatedJobs: [{job}]}}}}"
    patch = f"{{manager: a.io/b, trainingRuntimeSpec: {{template: {template}}}}}"
    assert reader.told(reader.job(f"  runtimePatches: [{patch}]")) == [("TF106", field)]


@pytest.mark.parametrize(
    ("spec", "field", "instead"),
    [
        (
            "  mlPolicy: {torch: {numProcPerNode: auto}}",
            "spec.mlPolicy.torch.numProcPerNode",
            "spec.trainer.numProcPerNode",
        ),
        ("  mlPolicy: {torch: {elasticPolicy: {}}}", "spec.mlPolicy.torch.elasticPolicy", "fixed node count"),
        ("  podGroupPolicySource: {}", "spec.podGroupPolicySource", "spec.podGroupPolicy"),
    ],
)
def test_a_runtime(reader, spec, field, instead):
    result = reader.runtime(spec)
    assert reader.told(result) == [("TF106", field)]
    assert instead in result.diagnostics[0].hint


@pytest.mark.parametrize("field", ["nodeSelector", "schedulerName", "tolerations", "volumes"])
def test_a_pod_field_directly_under_the_template(reader, field):
    template = (
        f"  template:\n    spec:\n      {field}: x\n"
        "      replicatedJobs: [{name: a, template: {spec: {template: {spec: {containers: [{name: a}]}}}}}]"
    )
    result = reader.runtime("", template)
    assert reader.told(result) == [("TF106", f"spec.template.spec.{field}")]
    assert f"template.spec.template.spec.{field}" in result.diagnostics[0].hint


def test_replicated_jobs_at_the_top_are_one_fault_not_two(reader):
    assert reader.told(reader.runtime("  replicatedJobs: []", "")) == [("TF106", "spec.replicatedJobs")]


LONG = {path: advice.example for path, advice in JOB.items() if "\n" in advice.example}


@pytest.mark.parametrize("path", LONG)
def test_a_long_example_is_of_bearable_width_and_compiles_as_it_stands(path):
    assert max(map(len, LONG[path].splitlines())) <= 100
    spec = {"runtimeRef": {"name": "torch-distributed"}, **yaml.safe_load(LONG[path])}
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "a"}}
    (job,) = compile_stream(yaml.safe_dump({**head, "spec": spec}))["jobs"]
    assert [each for each in job["diagnostics"] if each["severity"] == "error"] == []
