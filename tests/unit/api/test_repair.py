"""A document with faults still gives a model: later stages find their own problems in the same run."""

from __future__ import annotations

import pytest

from trainform.api import read
from trainform.api.repair import filled, source_path, without
from trainform.k8s.tree import Tree
from trainform.source import load

TREE: Tree = {"a": {"x": 1, "y": 2}, "b": [{"c": 1}, {"c": 2}, {"c": 3}], "d": {"e": 1}}


def test_without_leaves_elements_out_and_shares_the_rest():
    copy = without(TREE, [("a", "x"), ("b", 1), ("b", 2, "c")])
    assert copy == {"a": {"y": 2}, "b": [{"c": 1}, {}], "d": {"e": 1}}
    assert copy["d"] is TREE["d"]
    assert TREE["a"] == {"x": 1, "y": 2}


def test_filled_sets_values_and_shares_the_rest():
    copy = filled(TREE, {("b", 0, "name"): "n"})
    assert copy["b"][0] == {"c": 1, "name": "n"}
    assert copy["a"] is TREE["a"]
    assert "name" not in TREE["b"][0]


@pytest.mark.parametrize(
    ("gone", "path", "source"),
    [
        ([], ("b", 1, "c"), ("b", 1, "c")),
        ([("b", 0)], ("b", 0, "c"), ("b", 1, "c")),
        ([("b", 1), ("b", 0)], ("b", 0), ("b", 2)),
        ([("b", 2)], ("b", 1), ("b", 1)),
        ([("other", 0)], ("b", 0), ("b", 0)),
    ],
)
def test_source_path_counts_the_entries_that_are_gone(gone, path, source):
    assert source_path(path, gone) == source


def test_a_faulty_field_is_left_out_and_the_rest_stays(reader):
    result = reader.job("  trainer: {image: 2.5, numNodes: 2, args: [a, 5, c]}")
    assert not result.whole
    assert result.model.spec.trainer.image is None
    assert result.model.spec.trainer.num_nodes == 2
    assert result.model.spec.trainer.args == ["a", "c"]
    assert result.source_path(("spec", "trainer", "args", 1)) == ("spec", "trainer", "args", 2)


def test_an_entry_that_lacks_its_key_is_left_out_whole(reader):
    result = reader.job("  trainer: {env: [{value: a}, {name: B}]}\n  runtimePatches: [{}, {manager: a.io/b}]")
    assert result.model.spec.trainer.env == [{"name": "B"}]
    assert [patch.manager for patch in result.model.spec.runtime_patches] == ["a.io/b"]


def test_rules_speak_of_the_source_in_spite_of_what_was_left_out(reader):
    result = reader.job("  runtimePatches: [{}, {manager: plain}]")
    assert ("TF303", "spec.runtimePatches[1].manager") in reader.told(result)


def test_a_job_without_a_runtime_has_no_model(reader):
    result = reader.object("TrainJob", spec="{}")
    assert reader.told(result) == [("TF103", "spec.runtimeRef")]
    assert result.model is None


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("{runtimeref: {name: rt}, %s}", ("TF103", "spec.runtimeRef")),
        ("{runtimeRef: rt, %s}", ("TF102", "spec.runtimeRef")),
        ("{runtimeRef: {nam: rt}, %s}", ("TF103", "spec.runtimeRef.name")),
        ("{runtimeRef: {name: 5}, %s}", ("TF102", "spec.runtimeRef.name")),
    ],
)
def test_a_job_without_a_runtime_is_judged_by_all_other_rules(reader, spec, problem):
    faults = "managedBy: me, trainer: {numNodes: -1, env: [{name: A}, {name: A}]}"
    result = reader.object("TrainJob", spec=spec % faults)
    assert result.model is None
    assert not result.whole
    assert {
        problem,
        ("TF104", "spec.managedBy"),
        ("TF104", "spec.trainer.numNodes"),
        ("TF105", "spec.trainer.env[1]"),
    } <= set(reader.told(result))


@pytest.mark.parametrize("head", ["", "metadata: []\n", "metadata: {labels: {a: b}}\n"])
def test_a_job_without_a_name_is_judged_by_all_other_rules(reader, head):
    text = f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n{head}"
    (document,) = load(f"{text}spec: {{runtimeRef: {{name: rt}}, managedBy: me}}", "a.yaml").documents
    result = read(document)
    assert result.model is None
    assert ("TF104", "spec.managedBy") in reader.told(result)


@pytest.mark.parametrize(("name", "fault"), [("", ("TF103", "[1].name")), ("name: node, ", ("TF105", "[1]"))])
def test_a_replicated_job_without_a_name_of_its_own_is_judged_and_then_left_out(reader, name, fault):
    step = "{labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}"
    pods = "{template: {spec: {containers: [{name: %s}]}}}"
    good = f"{{name: node, template: {{metadata: {step}, spec: {pods % 'node'}}}}}"
    faulty = f"{{{name}replicas: 2, template: {{metadata: {step}, spec: {pods % 'main'}}}}}"
    result = reader.object(
        "ClusterTrainingRuntime", spec=f"{{template: {{spec: {{replicatedJobs: [{good}, {faulty}]}}}}}}"
    )
    code, place = fault
    assert reader.told(result) == [
        (code, f"spec.template.spec.replicatedJobs{place}"),
        ("TF403", "spec.template.spec.replicatedJobs[1].replicas"),
        ("TF404", "spec.template.spec.replicatedJobs[1].template.spec.template.spec.containers"),
    ]
    (only,) = result.model.spec.template.spec["replicatedJobs"]
    assert only["name"] == "node"


def test_a_failure_rule_without_a_name_gets_the_one_that_jobset_gives_it(reader):
    job = "{name: node, template: {spec: {template: {spec: {containers: [{name: node}]}}}}}"
    jobset = f"{{failurePolicy: {{rules: [{{action: FailJobSet}}]}}, replicatedJobs: [{job}]}}"
    result = reader.object("ClusterTrainingRuntime", spec=f"{{template: {{spec: {jobset}}}}}")
    assert ("TF103", "spec.template.spec.failurePolicy.rules[0].name") in reader.told(result)
    assert result.whole
    assert result.model.spec.template.spec["failurePolicy"]["rules"][0]["name"] == "failurePolicyRule0"


@pytest.mark.parametrize(
    "text",
    ["[]", "5", "{}", "kind: 5", "apiVersion: 1\nkind: TrainJob", "kind: TrainJob\nmetadata: []\nspec: 5"],
)
def test_no_document_raises(reader, text):
    for document in load(text, "a.yaml").documents:
        result = read(document)
        assert result.model is None
        assert reader.told(result)
