"""Selectors, node affinity, taints."""

import pytest

from trainform.k8s.labels import flavor_matches, node_matches, selector_keys, selector_matches, untolerated

LABELS = {"team": "a", "size": "8"}


def expression(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({}, True),
        ({"matchLabels": {"team": "a"}}, True),
        ({"matchLabels": {"team": "a", "size": "9"}}, False),
        ({"matchExpressions": [expression("team", "In", "a", "b")]}, True),
        ({"matchExpressions": [expression("none", "In", "a")]}, False),
        ({"matchExpressions": [expression("team", "NotIn", "b")]}, True),
        ({"matchExpressions": [expression("none", "NotIn", "b")]}, True),
        ({"matchExpressions": [expression("team", "Exists")]}, True),
        ({"matchExpressions": [expression("team", "DoesNotExist")]}, False),
        ({"matchLabels": {"team": "a"}, "matchExpressions": [expression("none", "Exists")]}, False),
    ],
)
def test_label_selector(selector, matches):
    assert selector_matches(selector, LABELS) is matches


def test_keys_of_a_selector():
    selector = {"matchLabels": {"a": "1"}, "matchExpressions": [expression("b", "Exists")]}
    assert selector_keys(selector) == {"a", "b"}


def affine(*terms):
    required = {"nodeSelectorTerms": [{"matchExpressions": list(term)} for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def named(name):
    """A pod for the node of this name."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    required = {"nodeSelectorTerms": [term]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


A, B, ELSE = expression("team", "In", "a"), expression("team", "In", "b"), expression("zone", "In", "x")


@pytest.mark.parametrize(
    ("pod", "matches"),
    [
        pytest.param({}, True, id="anywhere"),
        pytest.param({"nodeSelector": {"team": "a"}}, True, id="selected"),
        pytest.param({"nodeSelector": {"team": "b"}}, False, id="not selected"),
        pytest.param({"nodeSelector": {"zone": "x"}}, True, id="a key that does not decide"),
        pytest.param(affine([A]), True, id="term"),
        pytest.param(affine([B]), False, id="no term"),
        pytest.param(affine([B], [A]), True, id="one of two terms"),
        pytest.param(affine([A, B]), False, id="both of one term"),
        pytest.param(affine([B], [ELSE]), True, id="a term that does not decide"),
        pytest.param({"nodeSelector": {"team": "b"}, **affine([A])}, False, id="selector and affinity"),
        pytest.param(affine([expression("size", "Gt", "7")]), True, id="greater"),
        pytest.param(affine([expression("size", "Lt", "8")]), False, id="not less"),
        pytest.param(affine([expression("team", "Gt", "7")]), False, id="no number"),
    ],
)
def test_flavors_of_a_pod(pod, matches):
    assert flavor_matches(pod, LABELS, {"team", "size"}) is matches


@pytest.mark.parametrize(
    ("pod", "matches"),
    [
        pytest.param({}, True, id="anywhere"),
        pytest.param({"nodeSelector": {"zone": "x"}}, False, id="a label that the node does not have"),
        pytest.param(affine([ELSE]), False, id="a term about such a label"),
        pytest.param(affine([]), False, id="an empty term"),
        pytest.param(affine([], [A]), True, id="an empty term and one that holds"),
        pytest.param(named("node-1"), True, id="the name of the node"),
        pytest.param(named("node-2"), False, id="the name of another node"),
    ],
)
def test_nodes_of_a_pod(pod, matches):
    assert node_matches(pod, "node-1", LABELS) is matches


TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "gpu", "value": "yes"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "gpu"}, False),
        ({"key": "cpu", "operator": "Exists"}, False),
        ({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_toleration(toleration, tolerated):
    assert untolerated([TAINT], [toleration]) == (None if tolerated else TAINT)


def test_a_preference_keeps_no_pod_away():
    assert untolerated([{**TAINT, "effect": "PreferNoSchedule"}], []) is None
