"""Two versions of an object, compared by meaning."""

from __future__ import annotations

import pytest

from trainform.diagnostics import dotted
from trainform.review.diff.compare import compare, renamed


def jobset(**container):
    pod = {"containers": [{"name": "node", "image": "i:1", **container}]}
    step = {"name": "node", "template": {"spec": {"template": {"spec": pod}}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "llm"},
        "spec": {"replicatedJobs": [step]},
    }


POD = "spec.replicatedJobs[0].template.spec.template.spec"
NAMED = "spec.replicatedJobs[node].template.spec.template.spec"


def changes(before, after):
    return [(dotted(each.path), each.before, each.after) for each in compare(before, after)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"resources": {"requests": {"cpu": "1"}}}, {"resources": {"requests": {"cpu": "1000m"}}}),
        ({"resources": {"requests": {"memory": "1Gi"}}}, {"resources": {"requests": {"memory": "1024Mi"}}}),
        ({"resources": {"limits": {"nvidia.com/gpu": 8}}}, {"resources": {"limits": {"nvidia.com/gpu": "8"}}}),
        ({"env": []}, {}),
        ({"env": [{"name": "A", "value": ""}]}, {"env": [{"name": "A"}]}),
    ],
    ids=["cores", "bytes", "a number", "nothing", "an empty value"],
)
def test_what_means_the_same_is_no_difference(before, after):
    assert changes(jobset(**before), jobset(**after)) == []


def test_the_order_of_keys_is_no_difference():
    tree = jobset()
    assert changes(tree, dict(reversed(tree.items()))) == []


def test_a_default_that_is_written_out_is_no_difference():
    tree = jobset()
    spelled = {**tree, "spec": {**tree["spec"], "startupPolicy": {"startupPolicyOrder": "AnyOrder"}}}
    assert changes(tree, spelled) == []


def test_entries_are_matched_by_name():
    before = jobset(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}])
    after = jobset(env=[{"name": "B", "value": "3"}])
    assert compare(before, after)[0].named == f"{NAMED}.containers[node].env[A]"
    assert changes(before, after) == [
        (f"{POD}.containers[0].env[0]", {"name": "A", "value": "1"}, None),
        (f"{POD}.containers[0].env[0].value", "2", "3"),
    ]


def test_entries_of_a_jobset_that_change_places_are_a_difference():
    one, other = {"name": "A", "value": "1"}, {"name": "B", "value": "2"}
    (change,) = compare(jobset(env=[one, other]), jobset(env=[other, one]))
    assert change[1:] == (f"{NAMED}.containers[node].env (order)", ["A", "B"], ["B", "A"])


def test_a_list_without_keys_is_compared_whole():
    assert changes(jobset(args=["a", "b"]), jobset(args=["a"])) == [
        (f"{POD}.containers[0].args", ["a", "b"], ["a"]),
    ]


def test_entries_without_keys_are_compared_one_by_one_where_none_came_or_went():
    before, after = ({"kind": "ExternalSecret", "spec": {"data": [{"key": key, "same": 1}]}} for key in "ab")
    assert changes(before, after) == [("spec.data[0].key", "a", "b")]


def test_two_ports_of_one_number_are_still_two():
    ports = [{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}]
    others = [ports[0], {**ports[1], "name": "dns"}]
    assert changes(jobset(ports=ports), jobset(ports=others)) == [(f"{POD}.containers[0].ports[1].name", None, "dns")]


def test_the_first_label_is_a_label_not_a_mapping():
    before, after = jobset(), jobset()
    after["metadata"] = {**after["metadata"], "labels": {"team": "a"}}
    assert changes(before, after) == [("metadata.labels.team", None, "a")]


def test_true_is_not_one():
    before, after = ({"kind": "X", "spec": {"a": value}} for value in (True, 1))
    assert changes(before, after) == [("spec.a", True, 1)]


def test_finalizers_are_a_set():
    before, after = ({"kind": "X", "metadata": {"finalizers": names}} for names in (["a", "b"], ["b", "a"]))
    assert changes(before, after) == []


def test_renaming_reaches_every_string():
    tree = {"a": ["llm-x-0.llm-x", {"b": "llm-x"}], "c": 1}
    assert renamed(tree, "llm-x", "llm") == {"a": ["llm-0.llm", {"b": "llm"}], "c": 1}
