"""TrainJobs and runtimes of earlier Trainer versions are edited in place: comments, order and quotes stay."""

from __future__ import annotations

from textwrap import dedent

import pytest
import yaml

from support.migration import codes, migrated, rendered

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: llm}\nspec:\n"


def edited(text: str) -> str:
    (new,) = migrated(text).edited.values()
    return new


def job(spec: str) -> str:
    return HEAD + "".join(f"  {line}\n" if line else "\n" for line in dedent(spec).splitlines())


def test_overrides_of_v2_1_become_patches_of_the_runtime_with_their_comments():
    old = job(
        """\
        runtimeRef: {name: torch-distributed}   # ships
        # What the pods need.
        podTemplateOverrides:  # since May
          # The pool.
          - targetJobs:
              - name: node  # trains
            metadata:
              annotations:
                text: |
                  two
                    lines
            # GPUs.
            spec:
              nodeSelector:
                gpu: h100  # not a100

              volumes: [{name: "data", emptyDir: {}}]
        # After it.
        trainer: {image: "example/train:1", command: [torchrun, train.py]}
        """
    )
    new = job(
        """\
        runtimeRef: {name: torch-distributed}   # ships
        # What the pods need.
        runtimePatches:  # since May
        # The pool.
        # trains
        - manager: trainform.dev/migrated
          trainingRuntimeSpec:
            template:
              spec:
                replicatedJobs:
                - name: node
                  template:
                    spec:
                      template:
                        metadata:
                          annotations:
                            text: |
                              two
                                lines
                        # GPUs.
                        spec:
                          nodeSelector:
                            gpu: h100  # not a100

                          volumes: [{name: "data", emptyDir: {}}]
        # After it.
        trainer: {image: "example/train:1", command: [torchrun, train.py]}
        """
    )
    found = migrated(old)
    assert found.edited == {"old.yaml": new}
    assert found.diagnostics == []
    rendered(found)


@pytest.mark.parametrize("targets", ["targetJobs: [{name: node}]", "targetReplicatedJobs: [node]", "targetJob: node"])
def test_overrides_of_v2_0_have_the_fields_of_the_pods_spec(targets: str):
    old = job(
        f"""\
        runtimeRef: {{name: torch-distributed}}
        trainer: {{image: "example/train:1", command: [torchrun, train.py]}}
        podSpecOverrides:
        - {targets}
          tolerations:
          - operator: Exists  # all
        """
    )
    new = edited(old)
    (patch,) = yaml.safe_load(new)["spec"]["runtimePatches"]
    (target,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert target == {
        "name": "node",
        "template": {"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}},
    }
    assert "  # all\n" in new
    rendered(migrated(old))


def test_each_override_is_a_patch_of_its_own_as_two_may_have_one_target():
    old = job(
        """\
        podTemplateOverrides:
        - targetJobs: [{name: node}, {name: launcher}]
          spec: {nodeSelector: {a: b}}
        - targetJobs: [{name: node}]
          spec: {serviceAccountName: me}
        """
    )
    first, second = yaml.safe_load(edited(old))["spec"]["runtimePatches"]
    jobs = first["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert [each["name"] for each in jobs] == ["node", "launcher"]
    assert first["manager"] != second["manager"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('numProcPerNode: "8"  # GPUs', "numProcPerNode: 8  # GPUs"),
        ("numProcPerNode: auto\n  numNodes: 2", "numNodes: 2"),
    ],
)
def test_processes_are_a_number(old: str, new: str):
    assert edited(job(f"trainer:\n  {old}")) == job(f"trainer:\n  {new}")


def test_processes_in_words_that_mean_something_else_now_are_told():
    found = migrated(job("trainer:\n  numProcPerNode: cpu\n  numNodes: 2"))
    assert [each[:2] for each in codes(found)] == [("TF853", "spec.trainer.numProcPerNode")]


def test_labels_of_the_jobset_are_a_patch():
    old = job("labels: {team: a}\nannotations: {a: b}")
    (patch,) = yaml.safe_load(edited(old))["spec"]["runtimePatches"]
    metadata = patch["trainingRuntimeSpec"]["template"]["metadata"]
    assert metadata == {"labels": {"team": "a"}, "annotations": {"a": "b"}}


def test_the_first_api_has_other_names():
    old = dedent(
        """\
        apiVersion: kubeflow.org/v2alpha1  # early
        kind: TrainJob
        metadata: {name: llm}
        spec:
          trainingRuntimeRef:
            name: torchtune-llama3.2-1b  # small
          datasetConfig:
            storageUri: hf://a/data
          modelConfig:
            input: {storageUri: hf://a/model}
            output: {storageUri: s3://out}
          trainerConfig:
            numNodes: 1
        """
    )
    found = migrated(old)
    new = found.edited["old.yaml"]
    assert yaml.safe_load(new) == {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "llm"},
        "spec": {
            "runtimeRef": {"name": "torchtune-llama3.2-1b"},
            "initializer": {"dataset": {"storageUri": "hf://a/data"}, "model": {"storageUri": "hf://a/model"}},
            "trainer": {"numNodes": 1},
        },
    }
    assert "# early" in new
    assert "# small" in new
    assert codes(found) == [("TF866", "spec.modelConfig.output", 11)]
    rendered(found)


RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: mine}
spec:
  mlPolicy:
    numNodes: 1
    torch:
      numProcPerNode: auto  # GPUs
"""


def test_a_runtime_says_nothing_of_processes():
    found = migrated(RUNTIME)
    assert found.edited["old.yaml"] == RUNTIME.replace(
        "    torch:\n      numProcPerNode: auto  # GPUs\n", "    # GPUs\n    torch: {}\n"
    )
    assert found.diagnostics == []


def test_what_a_runtime_loses_is_told():
    found = migrated(RUNTIME.replace("auto", "4") + "      elasticPolicy: {maxNodes: 3}\n")
    assert yaml.safe_load(found.edited["old.yaml"])["spec"]["mlPolicy"] == {"numNodes": 1, "torch": {}}
    assert codes(found) == [
        ("TF853", "spec.mlPolicy.torch.numProcPerNode", 8),
        ("TF852", "spec.mlPolicy.torch.elasticPolicy", 9),
    ]


def test_what_cannot_be_edited_is_written_anew_and_told():
    old = f"{HEAD[:-6]}spec: {{trainer: {{numProcPerNode: '8'}}}}  # short\n"
    found = migrated(old)
    assert yaml.safe_load(found.edited["old.yaml"])["spec"] == {"trainer": {"numProcPerNode": 8}}
    assert [each[0] for each in codes(found)] == ["TF867"]


@pytest.mark.parametrize(
    "text",
    [
        '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "a"},'
        ' "spec": {"trainer": {"numProcPerNode": "8"}}}',
        "kind: List\napiVersion: v1\nitems:\n- {apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob,"
        " metadata: {name: a}, spec: {trainer: {numProcPerNode: '8'}}}\n",
    ],
)
def test_json_and_lists_are_left_to_their_author(text: str):
    found = migrated(text)
    assert found.edited == {}
    assert [(each.code, each.severity) for each in found.diagnostics] == [("TF867", "error")]


def test_a_current_train_job_stays_as_it_is():
    found = migrated(job("runtimeRef: {name: torch-distributed}\ntrainer: {numProcPerNode: 8}"))
    assert (found.edited, found.diagnostics) == ({}, [])


def test_the_other_documents_of_a_file_stay_as_they_are():
    other = "# Ours.\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}  # b\n"
    own = job('trainer:\n  numProcPerNode: "8"')
    text = "---\n".join([own, other, RUNTIME])
    new = edited(text)
    assert other in new
    assert new.count("---\n") == 2
    assert [each["kind"] for each in yaml.safe_load_all(new)] == ["TrainJob", "ConfigMap", "ClusterTrainingRuntime"]
