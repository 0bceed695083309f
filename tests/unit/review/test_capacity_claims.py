"""What docs/capacity.md says that `capacity` knows and does not know, claim by claim."""

from __future__ import annotations

import pytest

from unit.review.cluster import (
    GPU,
    annotated,
    cluster_queue,
    cohort,
    fact,
    facts,
    flavor,
    group,
    job,
    local_queue,
    step,
    told,
    verdicts,
)

QUOTA = group({"h100": {GPU: 16}})
PLAIN = (flavor("h100"), local_queue())
QUEUE = cluster_queue("main", QUOTA)
NODES = {"count": 2, "labels": {"pool": "h100"}, "allocatable": {GPU: 8}}
SMALL_NODES = fact("NodePool", "h100", NODES, version="trainform.dev/v1alpha1")


def test_a_job_is_held_against_quotas_that_nobody_outside_the_repository_uses():
    assert verdicts(facts(*PLAIN, QUEUE), job(step(gpu=16))) == ["fits"]


def test_what_a_limit_range_adds_is_requested():
    defaults = {"limits": [{"type": "Container", "defaultRequest": {GPU: "32"}}]}
    limits = fact("LimitRange", "defaults", defaults, version="v1", namespace="ml")
    assert verdicts(facts(*PLAIN, QUEUE, limits), job(step())) == ["never"]


def test_what_a_runtime_class_adds_is_requested():
    overhead = fact("RuntimeClass", "kata", version="node.k8s.io/v1")
    overhead |= {"handler": "kata", "overhead": {"podFixed": {GPU: "1"}}}
    asked = job(step(gpu=16, pod={"runtimeClassName": "kata"}))
    assert verdicts(facts(*PLAIN, QUEUE, overhead), asked) == ["never"]


def test_a_limit_counts_where_there_is_no_request():
    limited = step()
    limited["template"]["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {GPU: "32"}}
    assert verdicts(facts(*PLAIN, QUEUE), job(limited)) == ["never"]


def test_a_cohort_lends():
    lender = cluster_queue("lender", group({"h100": {GPU: 16}}), cohortName="all")
    borrower = cluster_queue("main", QUOTA, cohortName="all")
    assert verdicts(facts(*PLAIN, borrower, lender, cohort("all")), job(step(gpu=32))) == ["fits"]


@pytest.mark.parametrize(("pod", "verdict"), [({}, "never"), ({"tolerations": [{"operator": "Exists"}]}, "fits")])
def test_a_taint_keeps_pods_out_of_a_flavor(pod, verdict):
    tainted = flavor("h100", nodeTaints=[{"key": "reserved", "effect": "NoSchedule"}])
    assert verdicts(facts(tainted, local_queue(), QUEUE), job(step(gpu=1, pod=pod))) == [verdict]


def test_the_size_of_nodes_counts_only_with_a_topology():
    assert verdicts(facts(*PLAIN, QUEUE, SMALL_NODES), job(step(gpu=16))) == ["fits"]
    topology = fact("Topology", "hosts", {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]})
    placed = flavor("h100", topologyName="hosts", nodeLabels={"pool": "h100"})
    asked = job(annotated(step(gpu=16), podset_unconstrained_topology="true"))
    assert verdicts(facts(placed, topology, local_queue(), QUEUE, SMALL_NODES), asked) == ["never"]


def test_admission_checks_are_named():
    checked = cluster_queue("main", QUOTA, admissionChecksStrategy={"admissionChecks": [{"name": "capacity"}]})
    verdict, reason = told(facts(*PLAIN, checked), job(step(gpu=1)))
    assert verdict == "fits"
    assert "admission checks capacity of ClusterQueue main decide too" in reason


def test_nobody_is_preempted():
    preempting = cluster_queue("main", QUOTA, preemption={"withinClusterQueue": "LowerPriority"})
    urgent = fact("WorkloadPriorityClass", "urgent") | {"value": 1000}
    jobs = [job(step(gpu=16), name="a"), job(step(gpu=16), name="b", priority_class="urgent")]
    assert verdicts(facts(*PLAIN, preempting, urgent), *jobs) == ["waits", "fits"]


@pytest.mark.parametrize(
    ("declared", "missing"),
    [
        ([flavor("h100"), QUEUE], "LocalQueue team is not declared"),
        ([flavor("h100"), local_queue()], "ClusterQueue main is not declared"),
        ([local_queue(), QUEUE], "ResourceFlavor h100"),
        ([flavor("h100", topologyName="racks", nodeLabels={"a": "b"}), local_queue(), QUEUE], "Topology racks"),
    ],
)
def test_what_is_not_declared_is_named(declared, missing):
    verdict, reason = told(facts(*declared), job(step(gpu=1)))
    assert verdict == "unknown"
    assert missing in reason


def test_a_stopped_queue_makes_jobs_wait():
    assert verdicts(facts(*PLAIN, cluster_queue("main", QUOTA, stopPolicy="Hold")), job(step(gpu=1))) == ["waits"]
