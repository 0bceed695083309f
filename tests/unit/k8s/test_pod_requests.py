"""What one pod requests, and what many pods request together."""

import pytest

from trainform.k8s.pod_requests import format_requests, pod_level_supports, pod_requests, scaled_sum


def container(limits=None, restart="", **requests):
    resources = {"requests": requests, "limits": limits or {}}
    return {"name": "c", "resources": resources} | ({"restartPolicy": restart} if restart else {})


def counted(pod_spec, **options):
    return format_requests(pod_requests(pod_spec, **options))


def test_containers_add_up():
    assert counted({"containers": [container(cpu="500m"), container(cpu="1", memory="1Gi")]}) == {
        "cpu": "1500m",
        "memory": "1Gi",
    }


def test_amounts_count_as_they_are_stored():
    assert counted({"containers": [container(cpu="1e1"), container(cpu="0.25")]}) == {"cpu": "10250m"}


def test_the_largest_init_container_counts_where_it_exceeds_the_containers():
    pod = {
        "containers": [container(cpu="1", memory="4Gi")],
        "initContainers": [container(cpu="2"), container(cpu="3", memory="1Gi")],
    }
    assert counted(pod) == {"cpu": "3", "memory": "4Gi"}


def test_a_sidecar_runs_beside_the_containers_and_later_init_containers():
    sidecar = container(cpu="1", restart="Always")
    init_containers = [container(cpu="2"), sidecar, container(cpu="2")]
    pod = {"containers": [container(cpu="1")], "initContainers": init_containers}
    assert counted(pod) == {"cpu": "3"}


def test_pod_level_requests_replace_the_sum_for_the_resources_that_they_support():
    pod = {
        "containers": [container(cpu="1", **{"nvidia.com/gpu": "1"})],
        "resources": {"requests": {"cpu": "4", "nvidia.com/gpu": "8"}},
    }
    assert counted(pod) == {"cpu": "4", "nvidia.com/gpu": "1"}


@pytest.mark.parametrize(
    ("resource", "supported"),
    [("cpu", True), ("memory", True), ("hugepages-2Mi", True), ("ephemeral-storage", False)],
)
def test_pod_level_resources(resource, supported):
    assert pod_level_supports(resource) is supported


def test_overhead_comes_on_top():
    pod = {"containers": [container(cpu="1")], "overhead": {"cpu": "250m", "memory": "120Mi"}}
    assert counted(pod) == {"cpu": "1250m", "memory": "120Mi"}


def test_a_pod_without_requests_requests_nothing():
    assert counted({}) == {}
    assert counted({"containers": [{"name": "c", "resources": None}], "initContainers": None}) == {}


def test_limits_count_only_where_asked_for():
    pod = {"containers": [container(limits={"nvidia.com/gpu": "8", "cpu": "4"}, cpu="1")]}
    assert counted(pod) == {"cpu": "1"}
    assert counted(pod, limits_default_requests=True) == {"cpu": "1", "nvidia.com/gpu": "8"}


def test_a_pod_level_limit_is_the_request_of_what_no_container_requests():
    pod = {
        "containers": [container(limits={"memory": "1Gi"}, **{"hugepages-2Mi": "64Mi"})],
        "resources": {"limits": {"cpu": "2", "memory": "8Gi", "hugepages-2Mi": "128Mi"}},
    }
    assert counted(pod, limits_default_requests=True) == {
        "cpu": "2",
        "hugepages-2Mi": "128Mi",
        "memory": "1Gi",
    }


def test_requests_of_several_pods_add_up_in_sorted_order():
    launcher = pod_requests({"containers": [container(memory="512Mi", cpu="500m")]})
    node = pod_requests({"containers": [container(memory="1Gi", **{"nvidia.com/gpu": 8})]})
    total = scaled_sum([(launcher, 1), (node, 4)])
    assert list(total.items()) == [("cpu", "500m"), ("memory", "4608Mi"), ("nvidia.com/gpu", "32")]


def test_no_pods_request_nothing():
    assert scaled_sum([]) == {}
