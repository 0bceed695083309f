"""Verdicts that depend on nodes, or on Kueue's own configuration."""

from __future__ import annotations

import pytest

from unit.review.cluster import GPU, annotated, cluster_queue, fact, facts, flavor, group, job, local_queue, step, told

RACK, HOST = "rack", "kubernetes.io/hostname"
TOPOLOGY = fact("Topology", "racks", {"levels": [{"nodeLabel": RACK}, {"nodeLabel": HOST}]})
QUOTA = cluster_queue("main", group({"h100": {GPU: 64}}))
QUEUES = (flavor("h100", nodeLabels={"pool": "h100"}, topologyName="racks"), TOPOLOGY, local_queue(), QUOTA)


def pool(rack, count=2, gpus=8, **spec):
    labels = {"pool": "h100", RACK: rack}
    spec = {"count": count, "labels": labels, "allocatable": {GPU: gpus}, **spec}
    return fact("NodePool", rack, spec, version="trainform.dev/v1alpha1")


def in_one(level, pods=4, gpu=8):
    return job(annotated(step(pods=pods, gpu=gpu), podset_required_topology=level))


def verdict(declared, asked):
    return told(facts(*QUEUES, *declared), asked)[0]


def test_without_nodes_the_verdict_says_what_it_does_not_know():
    found = told(facts(*QUEUES), in_one(RACK))
    assert found[0] == "fits"
    assert "no Node is declared" in found[1]


def test_more_pods_than_a_rack_has_room_for_are_never_admitted():
    racks = [pool("r1"), pool("r2")]
    assert verdict(racks, in_one(RACK)) == "never"
    assert verdict(racks, in_one(RACK, pods=2)) == "fits"
    assert verdict([*racks, pool("r3", count=4)], in_one(RACK)) == "fits"


def test_a_pod_fits_on_one_node_or_nowhere():
    assert verdict([pool("r1", count=4, gpus=6)], in_one(RACK, pods=1)) == "never"


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_tainted_nodes_have_no_room(effect):
    tainted = pool("r1", count=4, taints=[{"key": "broken", "effect": effect}])
    assert verdict([tainted], in_one(RACK)) == "never"


def test_nodes_of_another_flavor_have_no_room():
    assert verdict([pool("r1", count=4, labels={"pool": "a100", RACK: "r1"})], in_one(RACK)) == "never"


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({}, {}, "fits"),
        ({"unschedulable": True}, {}, "never"),
        ({}, {"conditions": [{"type": "Ready", "status": "False"}]}, "never"),
        ({}, {"conditions": [{"type": "Ready", "status": "True"}]}, "fits"),
    ],
)
def test_a_node_counts_if_it_is_ready(spec, status, expected):
    labels = {"pool": "h100", RACK: "r1", HOST: "n1"}
    node = fact("Node", "n1", spec, "v1", labels=labels) | {"status": {"allocatable": {GPU: 8, "pods": 110}, **status}}
    assert verdict([node], in_one(RACK, pods=1)) == expected


def configuration(**fields):
    return fact("Configuration", "kueue", version="config.kueue.x-k8s.io/v1beta2") | fields


PLAIN = (flavor("cpus"), local_queue(), cluster_queue("main", group({"cpus": {"cpu": 8}})))
WITH_GPU = job(step(cpu=1, gpu=1))


def test_resources_that_kueue_is_told_not_to_count():
    assert told(facts(*PLAIN), WITH_GPU)[0] == "never"
    excluded = configuration(resources={"excludeResourcePrefixes": ["nvidia.com/"]})
    assert told(facts(*PLAIN, excluded), WITH_GPU)[0] == "fits"
    undeclared = configuration(resources={"quotaCheckStrategy": "IgnoreUndeclared"})
    assert told(facts(*PLAIN, undeclared), WITH_GPU)[0] == "fits"


def test_a_resource_counts_as_what_it_is_transformed_into():
    rule = {"input": GPU, "strategy": "Replace", "outputs": {"cpu": 7}}
    assert told(facts(*PLAIN, configuration(resources={"transformations": [rule]})), WITH_GPU)[0] == "fits"
    rule = {**rule, "outputs": {"cpu": 8}}
    assert told(facts(*PLAIN, configuration(resources={"transformations": [rule]})), WITH_GPU)[0] == "never"


def test_a_namespace_that_kueue_does_not_manage():
    selector = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["ml"]}]}
    found = told(facts(*PLAIN, configuration(managedJobsNamespaceSelector=selector)), job(step(cpu=1)))
    assert found == ("unknown", "Kueue does not manage namespace ml, by its managedJobsNamespaceSelector")


def test_a_job_without_a_queue_where_kueue_manages_all():
    declared = facts(*PLAIN, configuration(manageJobsWithoutQueueName=True))
    assert told(declared, job(step(cpu=1), queue=""))[0] == "never"
    assert told(declared, job(step(cpu=1)))[0] == "fits"
