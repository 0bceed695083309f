"""Fields, types and values: each fault at its own element, all in one run."""

from __future__ import annotations

import pytest

from trainform.api.trainjob import TrainerSpec


@pytest.mark.parametrize(
    ("spec", "code", "field"),
    [
        ("  trianer: {}", "TF101", "spec.trianer"),
        ("  trainer: {imgae: a}", "TF101", "spec.trainer.imgae"),
        ("  trainer: {image: 2.5}", "TF102", "spec.trainer.image"),
        ("  trainer: {command: python train.py}", "TF102", "spec.trainer.command"),
        ("  trainer: {args: [a, 5]}", "TF102", "spec.trainer.args[1]"),
        ('  trainer: {numNodes: "2"}', "TF102", "spec.trainer.numNodes"),
        ("  trainer: {numNodes: 1.5}", "TF102", "spec.trainer.numNodes"),
        ("  trainer: {numNodes: true}", "TF102", "spec.trainer.numNodes"),
        ("  trainer: {numNodes: 3000000000}", "TF104", "spec.trainer.numNodes"),
        ("  trainer: {env: [{name: A, value: on}]}", "TF102", "spec.trainer.env[0].value"),
        ("  trainer: {env: [{value: a}]}", "TF103", "spec.trainer.env[0].name"),
        ("  trainer: []", "TF102", "spec.trainer"),
        ('  suspend: "true"', "TF102", "spec.suspend"),
        ("  runtimePatches: [{}]", "TF103", "spec.runtimePatches[0].manager"),
        ('  runtimePatches: [{manager: ""}]', "TF104", "spec.runtimePatches[0].manager"),
        (
            "  trainer: {resourcesPerNode: {limits: {memory: 16GB}}}",
            "TF104",
            "spec.trainer.resourcesPerNode.limits.memory",
        ),
    ],
)
def test_a_fault_of_a_job_is_told_at_its_element(reader, spec, code, field):
    assert reader.told(reader.job(spec)) == [(code, field)]


def test_all_faults_come_in_one_run(reader):
    result = reader.job("  suspend: 1\n  trainer: {image: 2, imgae: a, env: [{name: 1}]}\n  activeDeadlineSeconds: 0")
    assert {field for _, field in reader.told(result)} == {
        "spec.suspend",
        "spec.trainer.image",
        "spec.trainer.imgae",
        "spec.trainer.env[0].name",
        "spec.activeDeadlineSeconds",
    }


def test_each_field_of_a_mapping_in_place_of_a_list_is_told(reader):
    result = reader.job("  trainer: {env: {A: 1}}")
    assert reader.told(result) == [("TF102", "spec.trainer.env"), ("TF101", "spec.trainer.env.A")]
    assert result.diagnostics[1].hint == 'write - {name: A, value: "1"}'


@pytest.mark.parametrize("written", ["on", "1e3", "0644", "1.10", "007"])
@pytest.mark.parametrize("spec", ["trainer: {image: %s}", "trainer: {env: [{name: A, value: %s}]}"])
def test_a_scalar_where_a_string_is_due_is_shown_as_it_was_written_in_quotes(reader, spec, written):
    [told] = reader.job(f"  {spec % written}").diagnostics
    assert told.hint == f'write "{written}"'


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ('trainer: {numNodes: "2"}', "write 2 without quotes"),
        ('suspend: "true"', "write true without quotes"),
        ("trainer: {command: python train.py}", 'write ["python", "train.py"]'),
        ("trainer: {imgae: a}", 'did you mean "image"?'),
        ("runtimeref: {}", 'did you mean "runtimeRef"?'),
        ("trainer: {resourcesPerNode: {limit: {}}}", 'did you mean "limits"?'),
        ("initializer: {video: {}}", "known fields: dataset, model"),
    ],
)
def test_a_hint_says_what_to_write(reader, spec, hint):
    [told] = reader.job(f"  {spec}").diagnostics
    assert told.hint == hint


def test_an_unknown_field_is_shown_at_its_name(reader):
    [told] = reader.job("  trainer: {imgae: a}").diagnostics
    assert told.position == (7, 13)


@pytest.mark.parametrize(
    "spec",
    [
        "  trainer: null",
        "  trainer: {image: null, env: null, command: null, numNodes: null, resourcesPerNode: null}",
        "  trainer: {env: [{name: A, value: null}]}",
        "  suspend: null\n  managedBy: null\n  initializer: {dataset: {secretRef: null}}",
    ],
)
def test_null_means_absent(reader, spec):
    result = reader.job(spec)
    assert result.diagnostics == []
    assert result.model.spec.suspend is False
    assert result.model.spec.managed_by == "trainer.kubeflow.org/trainjob-controller"


def test_null_in_a_required_field_means_that_it_is_missing(reader):
    result = reader.object("TrainJob", spec="null")
    assert reader.told(result) == [("TF103", "spec")]


def test_a_job_has_the_defaults_of_its_crd(reader):
    spec = reader.job().model.spec
    assert (spec.runtime_ref.api_group, spec.runtime_ref.kind) == (
        "trainer.kubeflow.org",
        "ClusterTrainingRuntime",
    )
    assert (spec.trainer, spec.runtime_patches, spec.suspend) == (None, None, False)


def test_a_runtime_has_the_defaults_of_its_crd(reader):
    spec = reader.runtime(
        "  mlPolicy: {mpi: {mpiImplementation: null}}\n  podGroupPolicy: {coscheduling: {}}"
    ).model.spec
    assert spec.ml_policy.mpi.model_dump() == {
        "num_proc_per_node": 1,
        "mpi_implementation": "OpenMPI",
        "ssh_auth_mount_path": "/root/.ssh",
        "run_launcher_as_node": False,
    }
    assert spec.pod_group_policy.coscheduling.schedule_timeout_seconds == 60


def test_trees_are_shared_not_copied():
    trainer = {"env": [{"name": "A"}], "resourcesPerNode": {"limits": {"cpu": 1}}}
    read = TrainerSpec.model_validate(trainer)
    assert read.env is trainer["env"]
    assert read.resources_per_node is trainer["resourcesPerNode"]


@pytest.mark.parametrize("field", ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"])
def test_what_only_a_server_writes_is_ignored_with_a_note(reader, field):
    spec = "{runtimeRef: {name: r}}\nstatus: {conditions: []}"
    result = reader.object("TrainJob", f"{{name: a, {field}: x}}", spec)
    assert reader.told(result, "info") == [("TF107", f"metadata.{field}"), ("TF107", "status")]
    assert reader.told(result) == []
    assert result.whole


def test_a_generated_name_is_an_error(reader):
    result = reader.object("TrainJob", "{name: a, generateName: a-}")
    assert reader.told(result) == [("TF108", "metadata.generateName")]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("  mlPolicy: {mpi: {mpiImplementation: Intel}}", "spec.mlPolicy.mpi.mpiImplementation"),
        (
            "  podGroupPolicy: {volcano: {networkTopology: {mode: strict}}}",
            "spec.podGroupPolicy.volcano.networkTopology.mode",
        ),
        (
            "  mlPolicy: {torch: {envInjection: {targets: [{jobName: '', containerNames: [a]}]}}}",
            "spec.mlPolicy.torch.envInjection.targets[0].jobName",
        ),
        (
            "  mlPolicy: {torch: {envInjection: {targets: [{jobName: node, containerNames: []}]}}}",
            "spec.mlPolicy.torch.envInjection.targets[0].containerNames",
        ),
    ],
)
def test_a_value_that_a_runtime_may_not_have(reader, spec, field):
    assert reader.told(reader.runtime(spec)) == [("TF104", field)]


def test_the_jobset_of_a_runtime_is_checked_to_its_leaves(reader):
    template = """
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, comand: [a], env: [{name: A, value: 1}]}]}}}
"""
    container = "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0]"
    assert sorted(reader.told(reader.runtime("", template))) == [
        ("TF101", f"{container}.comand"),
        ("TF102", f"{container}.env[0].value"),
    ]
