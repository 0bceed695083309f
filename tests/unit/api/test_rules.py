"""What the API demands of jobs and runtimes beyond their shape."""

from __future__ import annotations

import pytest

from trainform.api import deprecation
from trainform.source import load

_ENV = "template: {spec: {template: {spec: {containers: [{name: %s, env: [{name: A}]}]}}}}"
_STEP = """
  template:
    spec:
      replicatedJobs:
      - name: node
        replicas: %s
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: %s}]}}}
"""


def patch(container):
    template = "{spec: {replicatedJobs: [{name: job, %s}]}}" % (_ENV % container)
    return f"  runtimePatches: [{{manager: a.io/b, trainingRuntimeSpec: {{template: {template}}}}}]"


@pytest.mark.parametrize(
    ("spec", "code", "field"),
    [
        ("  trainer: {numNodes: 0}", "TFD02", "spec.trainer.numNodes"),
        ("  trainer: {numNodes: -1}", "TF104", "spec.trainer.numNodes"),
        ("  trainer: {numProcPerNode: 0}", "TF104", "spec.trainer.numProcPerNode"),
        ("  activeDeadlineSeconds: 0", "TF104", "spec.activeDeadlineSeconds"),
        ("  managedBy: acme.io/me", "TF104", "spec.managedBy"),
        ("  initializer: {dataset: {storageUri: org/data}}", "TF104", "spec.initializer.dataset.storageUri"),
        ("  initializer: {model: {storageUri: /local}}", "TF104", "spec.initializer.model.storageUri"),
        ("  trainer: {env: [{name: A}, {name: A}]}", "TF105", "spec.trainer.env[1]"),
        ("  initializer: {model: {env: [{name: A}, {name: A}]}}", "TF105", "spec.initializer.model.env[1]"),
        ("  runtimePatches: [{manager: a.io/b}, {manager: a.io/b}]", "TF105", "spec.runtimePatches[1]"),
        ("  runtimePatches: [{manager: platform}]", "TF303", "spec.runtimePatches[0].manager"),
        ("  runtimePatches: [{manager: Acme.io/x}]", "TF303", "spec.runtimePatches[0].manager"),
        ("  runtimePatches: [{manager: acme.io/}]", "TF303", "spec.runtimePatches[0].manager"),
        (patch("node"), "TF304", "spec.runtimePatches"),
        (patch("model-initializer"), "TF304", "spec.runtimePatches"),
    ],
)
def test_a_job_that_breaks_a_rule(reader, spec, code, field):
    assert reader.told(reader.job(spec)) == [(code, field)]


@pytest.mark.parametrize(
    "spec",
    [
        "  trainer: {numNodes: 1, numProcPerNode: 1}",
        "  managedBy: kueue.x-k8s.io/multikueue",
        '  initializer: {dataset: {storageUri: ""}, model: {storageUri: "hf://a/b"}}',
        "  runtimePatches: [{manager: kueue.x-k8s.io/manager}, {manager: a.io/b/c}]",
        patch("sidecar"),
    ],
)
def test_a_job_that_keeps_the_rules(reader, spec):
    assert reader.job(spec).diagnostics == []


def test_there_are_at_most_16_patches(reader):
    patches = ", ".join(f"{{manager: a.io/x{index}}}" for index in range(17))
    assert reader.told(reader.job(f"  runtimePatches: [{patches}]")) == [("TF104", "spec.runtimePatches")]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("My_Job", "write my-job"),
        ("7b-finetune", "write job-7b-finetune"),
        ("llama3.2-ft", "write llama3-2-ft"),
        ("größe-模型", "write grosse"),
        ("🚀", "write job"),
        ("a" * 64, "choose a shorter name; pod names append to it and are also limited to 63"),
    ],
)
def test_a_job_is_named_by_rfc_1035(reader, name, hint):
    result = reader.object("TrainJob", f"{{name: {name}}}")
    assert reader.told(result) == [("TF301", "metadata.name")]
    assert result.diagnostics[0].hint == hint
    assert result.model.name == name


@pytest.mark.parametrize(
    ("ref", "code", "field"),
    [
        ("{name: r, kind: PyTorchRuntime}", "TF302", "spec.runtimeRef.kind"),
        ("{name: r, apiGroup: kubeflow.org}", "TF302", "spec.runtimeRef.apiGroup"),
        ('{name: ""}', "TF104", "spec.runtimeRef.name"),
    ],
)
def test_a_runtime_is_referred_to_by_a_known_kind(reader, ref, code, field):
    result = reader.object("TrainJob", spec=f"{{runtimeRef: {ref}}}")
    assert reader.told(result) == [(code, field)]


@pytest.mark.parametrize(
    ("spec", "code", "field"),
    [
        ("  mlPolicy: {torch: {}, mpi: {}}", "TF401", "spec.mlPolicy"),
        ("  mlPolicy: {jax: {}, flux: {}}", "TF401", "spec.mlPolicy"),
        ("  mlPolicy: {numNodes: 0}", "TFD02", "spec.mlPolicy.numNodes"),
        ("  mlPolicy: {mpi: {numProcPerNode: 0}}", "TF104", "spec.mlPolicy.mpi.numProcPerNode"),
        ("  mlPolicy: {flux: {numProcPerNode: -1}}", "TF104", "spec.mlPolicy.flux.numProcPerNode"),
        ("  podGroupPolicy: {coscheduling: {}, volcano: {}}", "TFD06", "spec.podGroupPolicy"),
        (
            "  mlPolicy: {torch: {envInjection: {targets: [{jobName: node, containerNames: [a, node]}]}}}",
            "TF402",
            "spec.mlPolicy.torch.envInjection.targets[0].containerNames",
        ),
        (
            "  mlPolicy: {torch: {envInjection: {targets: "
            "[{jobName: a, containerNames: [b]}, {jobName: a, containerNames: [c]}]}}}",
            "TF105",
            "spec.mlPolicy.torch.envInjection.targets[1]",
        ),
    ],
)
def test_a_runtime_that_breaks_a_rule(reader, spec, code, field):
    assert reader.told(reader.runtime(spec)) == [(code, field)]


def test_of_two_policies_the_first_goes_on(reader):
    policy = reader.runtime("  mlPolicy: {mpi: {}, torch: {}}").model.spec.ml_policy
    assert (policy.torch is None, policy.mpi) == (False, None)


@pytest.mark.parametrize(
    ("replicas", "container", "told"),
    [
        (1, "node", []),
        (2, "node", [("TF403", "spec.template.spec.replicatedJobs[0].replicas")]),
        (
            1,
            "main",
            [("TF404", "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers")],
        ),
    ],
)
def test_a_step_is_one_job_with_its_main_container(reader, replicas, container, told):
    assert reader.told(reader.runtime("", _STEP % (replicas, container))) == told


def test_a_runtime_can_turn_the_rules_for_steps_off(reader):
    metadata = "{name: r, labels: {trainer.kubeflow.org/webhook-validation: disabled}}"
    result = reader.object("TrainingRuntime", metadata, _STEP % (2, "main"))
    assert result.diagnostics == []


@pytest.mark.parametrize(
    "template", ["  mlPolicy: {}", "  template: {spec: {}}", "  template: {spec: {replicatedJobs: []}}"]
)
def test_a_runtime_without_replicated_jobs_is_an_error(reader, template):
    assert reader.told(reader.runtime("", template)) == [("TF405", "spec.template.spec.replicatedJobs")]


def test_a_runtime_without_a_labelled_trainer_step_is_a_warning(reader):
    pod = "{spec: {containers: [{name: node}]}}"
    job = f"{{name: node, template: {{spec: {{template: {pod}}}}}}}"
    template = f"  template: {{spec: {{replicatedJobs: [{job}]}}}}"
    result = reader.runtime("", template)
    assert reader.told(result) == []
    assert reader.told(result, "warning") == [("TF406", "spec.template.spec.replicatedJobs")]


@pytest.mark.parametrize(("support", "code"), [("deprecated", "TF407"), ("stable", None)])
def test_a_job_of_a_deprecated_runtime_gets_a_warning(reader, support, code):
    metadata = f"{{name: r, labels: {{trainer.kubeflow.org/support: {support}}}}}"
    runtime = reader.object("TrainingRuntime", metadata, _STEP % (1, "node")).model
    [job] = load("kind: TrainJob", "a.yaml").documents
    told = deprecation(runtime, job)
    assert (told.code if told else None) == code


@pytest.mark.parametrize("kind", ["TrainJob", "TrainingRuntime"])
def test_labels_and_annotations_are_those_that_the_api_server_takes(reader, kind):
    metadata = '{name: a, labels: {"c d": x, e: "x y", a/b/c: x, f.io/g: h, i: ""}, annotations: {"x y": z, j: "k l"}}'
    assert [told for told in reader.told(reader.object(kind, metadata)) if told[0] == "TF533"] == [
        ("TF533", "metadata.labels.c d"),
        ("TF533", "metadata.labels.e"),
        ("TF533", "metadata.labels.a/b/c"),
        ("TF533", "metadata.annotations.x y"),
    ]
