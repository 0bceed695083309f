"""What admission makes of a pod spec, and what it refuses."""

import copy

import pytest

from trainform.core.cluster.facts import Facts
from trainform.diagnostics import dotted
from trainform.k8s.admission import admitted_pod_spec
from trainform.k8s.cluster.limit import check

KATA = {"overhead": {"podFixed": {"cpu": "250m"}}}


def cluster(*limits, **runtimes):
    """One LimitRange in namespace `ml` for each of `limits`, and these RuntimeClasses."""
    ranges = {("LimitRange", "ml", f"l{i}"): {"spec": {"limits": [each]}} for i, each in enumerate(limits)}
    return Facts(ranges | {("RuntimeClass", "", name): tree for name, tree in runtimes.items()})


def containers(**amounts):
    return {"type": "Container", **amounts}


def pod(requests=None, limits=None, **fields):
    given = {"requests": requests, "limits": limits}
    resources = {key: amounts for key, amounts in given.items() if amounts is not None}
    return {"containers": [{"name": "main", "resources": resources}], **fields}


def resources(pod_spec, *limits):
    return admitted_pod_spec(pod_spec, "ml", cluster(*limits))["containers"][0]["resources"]


@pytest.mark.parametrize(
    ("limit", "given", "expected"),
    [
        pytest.param(
            containers(default={"cpu": 2}, defaultRequest={"cpu": 1}),
            pod(),
            {"limits": {"cpu": 2}, "requests": {"cpu": 1}},
            id="both defaults",
        ),
        pytest.param(
            containers(default={"cpu": 2}),
            pod(),
            {"limits": {"cpu": 2}, "requests": {"cpu": 2}},
            id="the default limit is the default request",
        ),
        pytest.param(
            containers(max={"cpu": 4}, min={"cpu": 1}),
            pod(),
            {"limits": {"cpu": 4}, "requests": {"cpu": 4}},
            id="the maximum is the default limit",
        ),
        pytest.param(
            containers(min={"cpu": 1}),
            pod(),
            {"requests": {"cpu": 1}},
            id="the minimum is the default request",
        ),
        pytest.param(
            containers(defaultRequest={"cpu": 1}),
            pod(limits={"cpu": 3}),
            {"limits": {"cpu": 3}, "requests": {"cpu": 3}},
            id="a limit is a request before any default",
        ),
        pytest.param(
            containers(default={"cpu": 2}, defaultRequest={"cpu": 1}),
            pod(requests={"cpu": "1500m"}, limits={"cpu": 8}),
            {"limits": {"cpu": 8}, "requests": {"cpu": "1500m"}},
            id="what is given stays",
        ),
    ],
)
def test_defaults_of_a_container(limit, given, expected):
    assert resources(given, limit) == expected


def test_the_first_limit_range_counts():
    assert resources(pod(), containers(defaultRequest={"cpu": 1}), containers(defaultRequest={"cpu": 2})) == {
        "requests": {"cpu": 1}
    }


def test_init_containers_get_defaults_too():
    given = {**pod(), "initContainers": [{"name": "init"}]}
    admitted = admitted_pod_spec(given, "ml", cluster(containers(defaultRequest={"cpu": 1})))
    assert admitted["initContainers"] == [{"name": "init", "resources": {"requests": {"cpu": 1}}}]


def test_limit_ranges_of_other_namespaces_do_not_count():
    given = pod(requests={"cpu": 1})
    assert admitted_pod_spec(given, "other", cluster(containers(defaultRequest={"memory": 1}))) is given


def test_bounds_of_a_pod_are_no_defaults():
    given = pod(requests={"cpu": 1})
    assert admitted_pod_spec(given, "ml", cluster({"type": "Pod", "max": {"memory": "1Gi"}})) is given


@pytest.mark.parametrize(
    ("fields", "overhead"),
    [
        ({"runtimeClassName": "kata"}, {"cpu": "250m"}),
        ({"runtimeClassName": "kata", "overhead": {"cpu": "1"}}, {"cpu": "1"}),
        ({"runtimeClassName": "plain"}, None),
        ({"runtimeClassName": "unknown"}, None),
        ({}, None),
    ],
    ids=["its class's", "its own", "class without", "no such class", "no class"],
)
def test_overhead(fields, overhead):
    admitted = admitted_pod_spec(pod(**fields), "ml", cluster(kata=KATA, plain={}))
    assert admitted.get("overhead") == overhead


def test_the_given_spec_is_not_changed():
    given = pod(runtimeClassName="kata")
    before = copy.deepcopy(given)
    admitted_pod_spec(given, "ml", cluster(containers(default={"cpu": 1}), kata=KATA))
    assert given == before


BOUNDS = {
    "within": (containers(min={"cpu": 1}, max={"cpu": 4}), pod({"cpu": 1}, {"cpu": 4}), ""),
    "request below": (
        containers(min={"cpu": 2}), pod({"cpu": "1999m"}), "cpu: requests 1999m, but at least 2 is required",
    ),
    "limit below": (
        containers(min={"cpu": 2}), pod({"cpu": 2}, {"cpu": 1}),
        "cpu: has limit 1, but at least 2 is required",
    ),
    "limit above": (
        containers(max={"memory": "1Gi"}), pod(limits={"memory": "1025Mi"}),
        "memory: has limit 1025Mi, but at most 1Gi is allowed",
    ),
    "request above": (
        containers(max={"cpu": 4}), pod({"cpu": 5}, {"cpu": 4}), "cpu: requests 5, but at most 4 is allowed",
    ),
    "ratio met": (containers(maxLimitRequestRatio={"cpu": 3}), pod({"cpu": "500m"}, {"cpu": "1500m"}), ""),
    "ratio passed": (
        containers(maxLimitRequestRatio={"cpu": 3}), pod({"cpu": "500m"}, {"cpu": "1501m"}),
        "cpu: has limit 1501m, which is more than 3 times its request 500m",
    ),
    "ratio of nothing": (
        containers(maxLimitRequestRatio={"cpu": 3}), pod({"cpu": "500m"}),
        "cpu: needs a request, and a limit of at most 3 times the request",
    ),
    "pod within": ({"type": "Pod", "max": {"cpu": 4}}, pod({"cpu": 4}, {"cpu": 4}), ""),
    "pod above": (
        {"type": "Pod", "max": {"cpu": 4}}, pod(limits={"cpu": 5}),
        "cpu: has limit 5, but at most 4 is allowed",
    ),
    "pod without a limit": (
        {"type": "Pod", "max": {"cpu": 4}}, pod({"cpu": 1}),
        "cpu: has no limit, but a limit of at most 4 is required",
    ),
    "pod without a request": (
        {"type": "Pod", "min": {"cpu": 4}}, pod(), "cpu: has no request, but at least 4 is required",
    ),
    "claims are no pods": ({"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}, pod(), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", BOUNDS)
def test_bounds(case):
    limit, given, expected = BOUNDS[case]
    declared = cluster(limit)
    where = f" (LimitRange l0, {'for the whole pod' if limit['type'] == 'Pod' else 'per container'})"
    found = check(admitted_pod_spec(given, "ml", declared), "ml", declared)
    assert [each.message for each in found] == ([expected + where] if expected else [])


def test_the_containers_of_a_pod_add_up():
    declared = cluster({"type": "Pod", "max": {"cpu": 4}})
    main = {"name": "main", "resources": {"limits": {"cpu": 2}, "requests": {"cpu": 2}}}
    init = {"name": "init", "resources": {"limits": {"cpu": 4}, "requests": {"cpu": 4}}}
    assert check({"containers": [main, main], "initContainers": [init]}, "ml", declared) == []
    found = check({"containers": [main, main, main]}, "ml", declared)
    assert [(each.code, dotted(each.path)) for each in found] == [("TF564", "containers")]


@pytest.mark.parametrize(("name", "refused"), [("kata", True), ("same", False), ("plain", True), ("no", False)])
def test_an_overhead_of_its_own_must_be_that_of_the_class(name, refused):
    same = {"overhead": {"podFixed": {"cpu": 1}}}
    declared = cluster(kata=KATA, plain={}, same=same)
    found = check(pod(runtimeClassName=name, overhead={"cpu": "1000m"}), "ml", declared)
    assert [(each.code, dotted(each.path)) for each in found] == ([("TF565", "overhead")] if refused else [])
