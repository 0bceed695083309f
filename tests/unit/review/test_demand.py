"""What a rendered JobSet asks of Kueue."""

import pytest

from trainform.k8s.quantity import parse
from trainform.review.capacity.amounts import amount, written
from trainform.review.capacity.demand import job_demand
from unit.review.cluster import GPU, fact, facts, job, step

NOTHING = facts()


def counted(**given):
    """Kueue's pod count of a step with these counts; None leaves the field out."""
    replicated = step(gpu=1)
    spec = replicated["template"]["spec"]
    del spec["completions"], spec["parallelism"]
    replicated["replicas"] = given.pop("replicas", 1)
    spec.update(given)
    return job_demand(job(replicated), NOTHING).pod_sets[0].count


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({}, 1),
        ({"parallelism": 4}, 4),
        ({"parallelism": 4, "completions": 2}, 2),
        ({"parallelism": 2, "completions": 4}, 2),
        ({"completions": 4}, 1),
        ({"replicas": 3, "parallelism": 2, "completions": 2}, 6),
        ({"replicas": 0, "parallelism": 2}, 0),
    ],
)
def test_pods_that_run_at_once(given, count):
    assert counted(**given) == count


def test_limits_count_where_there_is_no_request():
    pod = {"containers": [{"name": "main", "resources": {"limits": {GPU: 8, "cpu": "1500m"}}}]}
    assert job_demand(job(step(pod=pod)), NOTHING).pod_sets[0].requests == {GPU: 8, "cpu": 1500}


def test_overhead_and_defaults_count():
    runtime = {**fact("RuntimeClass", "kata", version="node.k8s.io/v1"), "handler": "kata"}
    runtime["overhead"] = {"podFixed": {"cpu": "250m"}}
    limits = {"limits": [{"type": "Container", "defaultRequest": {"memory": "1Gi"}}]}
    declared = facts(runtime, fact("LimitRange", "usual", limits, "v1", namespace="ml"))
    demand = job_demand(job(step(cpu=1, pod={"runtimeClassName": "kata"})), declared)
    assert demand.pod_sets[0].requests == {"cpu": 1250, "memory": 2**30}


@pytest.mark.parametrize(
    ("resource", "quantity", "counted", "shown"),
    [
        ("cpu", "1.5", 1500, "1500m"),
        ("cpu", "100u", 1, "1m"),
        ("memory", "64Gi", 64 * 2**30, "64Gi"),
        ("memory", "100M", 10**8, "100000000"),
        (GPU, "8", 8, "8"),
        (GPU, "1.5", 2, "2"),
    ],
)
def test_amounts_are_kueues(resource, quantity, counted, shown):
    assert amount(resource, parse(quantity)) == counted
    assert written(resource, counted) == shown
