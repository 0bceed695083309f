"""Variables and commands are those that the kubelet would make."""

from __future__ import annotations

import pytest

from trainform.local.plan.references import JobValues, Machine, NotHere, PodFields
from trainform.local.plan.variables import command_of, expand, variables_of

METADATA = {
    "name": "fit-node-0-1",
    "namespace": "ml",
    "uid": "1-2",
    "labels": {"team": "nlp", "b": 'say "hi"'},
    "annotations": {"batch.kubernetes.io/job-completion-index": "1", "note": "a\nb"},
}
POD = PodFields(METADATA, {"serviceAccountName": "trainer"}, "127.0.0.2", Machine(8, 2**30))
VALUES = JobValues.of(
    [
        {"kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"level": "debug"}},
        {"kind": "Secret", "metadata": {"name": "plain"}, "stringData": {"token": "abc"}, "data": {"old": "eA=="}},
        {"kind": "SealedSecret", "metadata": {"name": "sealed"}},
    ],
    {},
)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)/$(B)", "1/two"),
        ("$(MISSING)", "$(MISSING)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A ${A}", "$A ${A}"),
        ("$(A", "$(A"),
        ("100%$", "100%$"),
        ("$()", "$()"),
    ],
)
def test_references_are_replaced_as_the_kubelet_does(text, expanded):
    assert expand(text, {"A": "1", "B": "two"}) == expanded


def variables(*env, **container):
    return variables_of({"env": [*env], **container}, POD, VALUES)


def test_a_value_sees_only_variables_before_it():
    found = variables({"name": "A", "value": "$(B)"}, {"name": "B", "value": "x"}, {"name": "C", "value": "$(B)y"})
    assert (found["A"], found["C"]) == ("$(B)", "xy")


def test_env_beats_env_from_and_sees_it():
    sources = [{"configMapRef": {"name": "settings"}, "prefix": "S_"}]
    found = variables({"name": "OTHER", "value": "$(S_level)!"}, {"name": "S_level", "value": "info"}, envFrom=sources)
    assert (found["OTHER"], found["S_level"]) == ("debug!", "info")


def test_every_pod_knows_its_index_and_name_unless_the_job_says_otherwise():
    assert variables() == {"HOSTNAME": "fit-node-0-1", "JOB_COMPLETION_INDEX": "1"}
    assert variables({"name": "JOB_COMPLETION_INDEX", "value": "9"})["JOB_COMPLETION_INDEX"] == "9"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "fit-node-0-1"),
        ("metadata.namespace", "ml"),
        ("metadata.labels['team']", "nlp"),
        ("metadata.labels['none']", ""),
        ("metadata.annotations['batch.kubernetes.io/job-completion-index']", "1"),
        ("metadata.labels", 'b="say \\"hi\\""\nteam="nlp"'),
        ("spec.serviceAccountName", "trainer"),
        ("status.podIP", "127.0.0.2"),
    ],
)
def test_fields_of_the_pod(path, value):
    assert variables({"name": "X", "valueFrom": {"fieldRef": {"fieldPath": path}}})["X"] == value


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ({"resource": "limits.cpu"}, "2"),
        ({"resource": "limits.cpu", "divisor": "1m"}, "1500"),
        ({"resource": "requests.memory", "divisor": "1Mi"}, "512"),
        ({"resource": "requests.cpu"}, "2"),  # as the limit
        ({"resource": "limits.ephemeral-storage"}, "0"),
    ],
)
def test_amounts_are_rounded_up(reference, value):
    resources = {"limits": {"cpu": "1500m"}, "requests": {"memory": "512Mi"}}
    found = variables({"name": "X", "valueFrom": {"resourceFieldRef": reference}}, resources=resources)
    assert found["X"] == value


def test_a_limit_that_is_not_set_is_the_machines():
    assert variables({"name": "X", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}})["X"] == "8"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ({"configMapKeyRef": {"name": "settings", "key": "level"}}, "debug"),
        ({"secretKeyRef": {"name": "plain", "key": "token"}}, "abc"),
        ({"secretKeyRef": {"name": "plain", "key": "old"}}, "x"),
        ({"secretKeyRef": {"name": "sealed", "key": "x", "optional": True}}, None),
        ({"configMapKeyRef": {"name": "settings", "key": "none", "optional": True}}, None),
    ],
)
def test_values_of_config_maps_and_secrets(source, value):
    assert variables({"name": "X", "valueFrom": source}).get("X") == value


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ({"configMapKeyRef": {"name": "none", "key": "x"}}, "TF891", 'ConfigMap "none" is not among'),
        ({"configMapKeyRef": {"name": "settings", "key": "x"}}, "TF891", 'has no key "x"'),
        ({"secretKeyRef": {"name": "sealed", "key": "x"}}, "TF892", 'Secret "sealed" is encrypted'),
        ({"secretKeyRef": {"name": "none", "key": "x"}}, "TF892", 'Secret "none" is not among'),
        ({"fieldRef": {"fieldPath": "status.phase"}}, "TF891", 'no field "status.phase"'),
        ({"fileKeyRef": {"volumeName": "v"}}, "TF891", "from fileKeyRef"),
    ],
)
def test_what_only_a_cluster_knows_is_told(source, code, message):
    with pytest.raises(NotHere, match=message) as raised:
        variables({"name": "X", "valueFrom": source})
    assert raised.value.code == code


def test_a_secret_is_not_shown_by_a_repr():
    assert "abc" not in repr(VALUES)


def test_a_command_is_expanded():
    assert command_of({"command": ["a", "$(X)"], "args": ["$(Y)"]}, {"X": "1"}) == ("a", "1", "$(Y)")


@pytest.mark.parametrize(
    ("name", "place"), [("node", "into the job: spec.trainer.command"), ("dataset-initializer", "into the runtime")]
)
def test_a_command_of_the_image_is_told_with_the_place_for_another(name, place):
    """`spec.trainer` sets the command of the container `node` alone."""
    with pytest.raises(NotHere, match=f'"{name}" has no command') as raised:
        command_of({"name": name, "args": ["x"]}, {})
    assert raised.value.code == "TF890"
    assert place in raised.value.hint
