"""Verdicts of one job alone, each computed by hand."""

from typing import Any

import pytest

from unit.review.cluster import (
    GPU,
    annotated,
    cluster_queue,
    fact,
    facts,
    flavor,
    group,
    held,
    in_kueue,
    job,
    local_queue,
    step,
    told,
    verdicts,
)

H100 = flavor("h100")
NIC: dict[str, Any] = {"example.com/nic": 1}
NO_NIC: dict[str, Any] = {"example.com/nic": 0}
ONE_FLAVOR = facts(H100, local_queue(), cluster_queue("main", group({"h100": {"cpu": 4, "memory": "64Gi", GPU: 8}})))


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        pytest.param([step(gpu=8)], "fits", id="exactly the quota"),
        pytest.param([step(gpu=9)], "never", id="one over"),
        pytest.param([step(pods=4, gpu=2)], "fits", id="pods add up to the quota"),
        pytest.param([step(pods=4, gpu=3)], "never", id="pods add up to more"),
        pytest.param([step(pods=3, cpu="1300m")], "fits", id="3.9 cores of 4"),
        pytest.param([step(pods=3, cpu="1334m")], "never", id="4.002 cores of 4"),
        pytest.param([step(pods=8, cpu="0.5")], "fits", id="half a core, eight times"),
        pytest.param([step(memory="64Gi")], "fits", id="all memory"),
        pytest.param([step(memory="68719476737")], "never", id="a byte more than all memory"),
        pytest.param([step("a", pods=2, gpu=1), step("b", gpu=6)], "fits", id="pods differ per step"),
        pytest.param([step("a", pods=2, gpu=1), step("b", gpu=7)], "never", id="steps add up to more"),
        pytest.param([step(pods=0, gpu=100)], "fits", id="no pods"),
        pytest.param([step(gpu=8, **NO_NIC)], "fits", id="none of what is not covered"),
    ],
)
def test_one_flavor(steps, verdict):
    assert verdicts(ONE_FLAVOR, job(*steps)) == [verdict]


def test_the_reason_names_resource_flavor_asked_and_available():
    assert told(ONE_FLAVOR, job(step(pods=2, gpu=8))) == (
        "never",
        "node asks nvidia.com/gpu 16; flavor h100 of ClusterQueue main has 8 nominal + 0 borrowable",
    )


def test_the_reason_names_the_steps_that_are_too_much_together():
    assert told(ONE_FLAVOR, job(step("launcher", cpu="1500m"), step("node", pods=2, cpu="2"))) == (
        "never",
        "node asks cpu 4 beside 1500m of the steps before it; "
        "flavor h100 of ClusterQueue main has 4 nominal + 0 borrowable",
    )


def test_a_resource_that_no_group_covers():
    assert told(ONE_FLAVOR, job(step(gpu=1, **NIC))) == (
        "never",
        "node asks example.com/nic, which no resource group of ClusterQueue main covers",
    )


def test_pods_are_counted_where_a_quota_limits_them():
    declared = facts(H100, local_queue(), cluster_queue("main", group({"h100": {"pods": 2}})))
    assert verdicts(declared, job(step(pods=2)), job(step(pods=3), name="b")) == ["fits", "never"]


TWO_FLAVORS = facts(
    flavor(
        "spot",
        nodeLabels={"pool": "spot"},
        nodeTaints=[{"key": "spot", "value": "yes", "effect": "NoSchedule"}],
    ),
    flavor("reserved", nodeLabels={"pool": "reserved"}),
    local_queue(),
    cluster_queue("main", group({"spot": {"cpu": 100, GPU: 8}, "reserved": {"cpu": 100, GPU: 16}})),
)
TOLERANT = {"tolerations": [{"key": "spot", "operator": "Exists"}]}


def on(pool, **pod):
    return {"nodeSelector": {"pool": pool}, **pod}


def affine(operator, *values):
    term = {"matchExpressions": [{"key": "pool", "operator": operator, "values": list(values)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        pytest.param([step(gpu=16, pod=TOLERANT)], "fits", id="the second flavor suffices"),
        pytest.param([step(gpu=17, pod=TOLERANT)], "never", id="no flavor suffices"),
        pytest.param([step(pods=3, gpu=8, pod=TOLERANT)], "never", id="a step is not divided"),
        pytest.param([step("a", gpu=8, pod=TOLERANT), step("b", gpu=16)], "fits", id="a flavor for each step"),
        pytest.param([step("a", gpu=8, pod=TOLERANT), step("b", gpu=16, pod=TOLERANT)], "fits", id="either"),
        pytest.param([step("b", gpu=16), step("a", gpu=8)], "never", id="the taint keeps the second step away"),
        pytest.param([step(gpu=8, pod=on("spot", **TOLERANT))], "fits", id="selected, and tolerated"),
        pytest.param([step(gpu=8, pod=on("spot"))], "never", id="selected, but not tolerated"),
        pytest.param([step(gpu=9, pod=on("spot", **TOLERANT))], "never", id="the other flavor is excluded"),
        pytest.param([step(gpu=1, pod=on("other"))], "never", id="no flavor has that label"),
        pytest.param([step(gpu=1, pod={"nodeSelector": {"disk": "ssd"}})], "fits", id="a label of no flavor"),
        pytest.param([step(gpu=16, pod=affine("In", "reserved"))], "fits", id="affinity"),
        pytest.param([step(gpu=1, pod=affine("NotIn", "reserved"))], "never", id="affinity to the tainted"),
    ],
)
def test_two_flavors(steps, verdict):
    assert verdicts(TWO_FLAVORS, job(*steps)) == [verdict]


def test_the_reason_names_each_flavor_that_does_not_match():
    assert told(TWO_FLAVORS, job(step(gpu=1, pod=on("spot")))) == (
        "never",
        "no flavor of ClusterQueue main has nvidia.com/gpu for node: "
        "flavor spot has taint spot=yes:NoSchedule, which node does not tolerate; "
        "flavor reserved has other node labels than node selects",
    )


def test_the_reason_names_every_flavor_that_is_too_small():
    steps = [step(name, gpu=10, pod=TOLERANT) for name in ("a", "b")]
    assert told(TWO_FLAVORS, job(*steps)) == (
        "never",
        "b asks nvidia.com/gpu 10 beside 10 of the steps before it; "
        "flavor spot of ClusterQueue main has 8 nominal + 0 borrowable; "
        "flavor reserved of ClusterQueue main has 16 nominal + 0 borrowable",
    )


def test_a_step_keeps_its_flavor_whatever_the_later_ones_need():
    """The same steps in another order: each takes the first flavor with room, and makes no room for the others."""
    declared = facts(
        flavor("a"), flavor("b"), local_queue(), cluster_queue("main", group({"a": {GPU: 8}, "b": {GPU: 8}}))
    )  # fmt: skip
    one, other = (
        [step(f"s{index}", gpu=gpu) for index, gpu in enumerate(gpus)] for gpus in ((4, 4, 2, 6), (4, 2, 4, 6))
    )
    assert verdicts(declared, job(*one)) == ["fits"]
    assert verdicts(declared, job(*other)) == ["never"]


def test_resources_of_one_group_come_from_one_flavor():
    declared = facts(
        flavor("a"), flavor("b"), local_queue(),
        cluster_queue("main", group({"a": {"cpu": 8, GPU: 1}, "b": {"cpu": 1, GPU: 8}})),
    )  # fmt: skip
    assert verdicts(declared, job(step(cpu=8, gpu=8))) == ["never"]
    assert verdicts(declared, job(step("x", cpu=8), step("y", gpu=8))) == ["fits"]


def test_resources_of_two_groups_may_come_from_two_flavors():
    declared = facts(
        flavor("a"), flavor("b"), local_queue(),
        cluster_queue("main", group({"a": {"cpu": 8}}), group({"b": {GPU: 8}})),
    )  # fmt: skip
    assert verdicts(declared, job(step(cpu=8, gpu=8))) == ["fits"]


def test_a_group_of_pod_sets_gets_one_flavor():
    apart = [step("a", gpu=8, pod=TOLERANT), step("b", gpu=16)]
    together = [annotated(each, podset_group_name="g", podset_required_topology="rack") for each in apart]
    levels = fact("Topology", "racks", {"levels": [{"nodeLabel": "rack"}]})
    declared = facts(
        levels, local_queue(),
        *(flavor(name, nodeLabels={"pool": name}, topologyName="racks") for name in ("x", "y")),
        cluster_queue("main", group({"x": {GPU: 8}, "y": {GPU: 16}})),
    )  # fmt: skip
    assert verdicts(declared, job(*together)) == ["never"]


@pytest.mark.parametrize(
    ("annotations", "verdict"),
    [
        ({}, "never"),
        ({"podset_required_topology": "rack"}, "fits"),
        ({"podset_unconstrained_topology": "true"}, "fits"),
        ({"podset_preferred_topology": "block"}, "never"),
    ],
    ids=["none asked", "a level", "unconstrained", "a level that is not there"],
)
def test_a_flavor_with_a_topology_is_for_pods_that_ask_for_one(annotations, verdict):
    declared = facts(
        fact("Topology", "racks", {"levels": [{"nodeLabel": "rack"}]}),
        flavor("plain"),
        flavor("near", nodeLabels={"pool": "near"}, topologyName="racks"),
        local_queue(),
        cluster_queue("main", group({"plain": {GPU: 0}, "near": {GPU: 8}})),
    )
    assert verdicts(declared, job(annotated(step(gpu=8), **annotations))) == [verdict]


UNKNOWN = {
    "no label": (
        facts(H100),
        "has no label kueue.x-k8s.io/queue-name, so Kueue leaves it alone unless it manages all jobs",
    ),
    "no LocalQueue": (
        facts(H100, local_queue("teams")),
        'LocalQueue team is not declared in namespace ml; did you mean "teams"?',
    ),
    "no ClusterQueue": (facts(H100, local_queue()), "ClusterQueue main is not declared"),
    "no ResourceFlavor": (
        facts(local_queue(), cluster_queue("main", group({"h100": {GPU: 8}}))),
        "ResourceFlavor h100 of ClusterQueue main is not declared, and may not match the pods",
    ),
    "no Topology": (
        facts(
            flavor("near", nodeLabels={"pool": "near"}, topologyName="racks"), local_queue(),
            cluster_queue("main", group({"near": {GPU: 8}})),
        ),
        "Topology racks of flavor near of ClusterQueue main is not declared, and may not match the pods",
    ),
    "no Namespace": (
        facts(
            H100, local_queue(),
            cluster_queue("main", group({"h100": {GPU: 8}}), namespaceSelector={"matchLabels": {"a": "b"}}),
        ),
        "Namespace ml is not declared, "
        "and ClusterQueue main selects namespaces by other labels than the name",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNKNOWN)
def test_a_missing_fact_is_named(case):
    declared, reason = UNKNOWN[case]
    queue = "" if case == "no label" else "team"
    assert told(declared, job(step(gpu=8), queue=queue)) == ("unknown", reason)


def test_what_does_not_fit_needs_no_missing_fact():
    declared = facts(local_queue(), cluster_queue("main", group({"h100": {GPU: 8}})))
    assert verdicts(declared, job(step(gpu=9))) == ["never"]


def test_a_job_without_the_label_goes_to_the_default_queue_of_its_namespace():
    declared = facts(H100, local_queue("default"), cluster_queue("main", group({"h100": {GPU: 8}})))
    assert held(declared, job(step(gpu=8), queue="")).jobs[0].queue == "default"


@pytest.mark.parametrize(
    ("selector", "verdict"),
    [
        ({}, "fits"),
        (None, "never"),
        ({"matchLabels": {"team": "a"}}, "fits"),
        ({"matchLabels": {"team": "b"}}, "never"),
        (
            {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["ml"]}]},
            "fits",
        ),
    ],
    ids=["all", "no selector", "match", "mismatch", "by name"],
)
def test_namespace_selector(selector, verdict):
    declared = facts(
        H100, local_queue(), fact("Namespace", "ml", version="v1", labels={"team": "a"}),
        cluster_queue("main", group({"h100": {GPU: 8}}), namespaceSelector=selector),
    )  # fmt: skip
    assert verdicts(declared, job(step(gpu=8))) == [verdict]


def test_the_name_of_a_namespace_needs_no_declaration():
    selector = {"matchLabels": {"kubernetes.io/metadata.name": "other"}}
    queue = cluster_queue("main", group({"h100": {GPU: 8}}), namespaceSelector=selector)
    assert told(facts(H100, local_queue(), queue), job(step(gpu=8))) == (
        "never",
        "namespace ml does not match the namespaceSelector of ClusterQueue main",
    )


@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_queue_makes_wait_whom_it_could_let_in(policy):
    stopped = cluster_queue("main", group({"h100": {GPU: 8}}), stopPolicy=policy)
    declared = facts(H100, local_queue(), stopped)
    reason = f"ClusterQueue main has stopPolicy {policy}: it starts nothing until that ends"
    assert told(declared, job(step(gpu=8))) == ("waits", reason)
    assert verdicts(declared, job(step(gpu=9))) == ["never"]


def test_a_stopped_local_queue():
    queue = cluster_queue("main", group({"h100": {GPU: 8}}))
    declared = facts(H100, local_queue(stopPolicy="Hold"), queue)
    assert verdicts(declared, job(step(gpu=8))) == ["waits"]


def test_pods_that_a_limit_range_refuses():
    limits = {"limits": [{"type": "Container", "max": {GPU: 4}}]}
    declared = facts(
        H100, local_queue(), cluster_queue("main", group({"h100": {GPU: 8}})),
        fact("LimitRange", "small", limits, "v1", namespace="ml"),
    )  # fmt: skip
    verdict, reason = told(declared, job(step(gpu=8)))
    assert verdict == "never"
    assert reason.startswith("admission refuses its pods: node: containers[0].resources: nvidia.com/gpu: ")


@pytest.mark.parametrize(
    ("kueue", "steps", "verdict"),
    [
        ("0.17", 8, "fits"),
        ("0.17", 9, "never"),
        ("0.18", 10, "fits"),
        ("0.18", 11, "never"),
        ("0.19", 18, "fits"),
        ("0.20", 19, "never"),
        (None, 8, "fits"),
        (None, 9, "unknown"),
        (None, 19, "never"),
    ],
)
def test_how_many_replicated_jobs_a_workload_takes(kueue, steps, verdict):
    declared = in_kueue(ONE_FLAVOR, kueue)
    assert verdicts(declared, job(*(step(f"s{index}", gpu=0) for index in range(steps)))) == [verdict]


OTHER_KEYS = facts(
    flavor("a", nodeLabels={"pool": "a"}), flavor("b", nodeLabels={"zone": "b"}), local_queue(),
    cluster_queue("main", group({"a": {GPU: 8}, "b": {GPU: 8}})),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kueue", "verdict"),
    [
        ("0.17.5", "never"),
        ("0.17.6", "fits"),
        ("0.18.1", "never"),
        ("0.18.2", "fits"),
        ("0.19", "fits"),
        ("0.16", "never"),
        ("0.18", "unknown"),
        (None, "unknown"),
    ],
)
def test_whether_a_label_that_only_another_flavor_has_is_looked_at(kueue, verdict):
    pod = {"nodeSelector": {"pool": "b", "zone": "c"}}
    assert verdicts(in_kueue(OTHER_KEYS, kueue), job(step(gpu=1, pod=pod))) == ["never"]
    pod = {"nodeSelector": {"pool": "a", "zone": "c"}}
    assert verdicts(in_kueue(OTHER_KEYS, kueue), job(step(gpu=1, pod=pod))) == [verdict]


def test_the_older_api_version_says_the_same():
    queue = cluster_queue("main", group({"h100": {GPU: 8}}), cohort="all")
    lender = cluster_queue("other", group({"h100": {GPU: 8}}), cohort="all")
    older = [{**each, "apiVersion": "kueue.x-k8s.io/v1beta1"} for each in (queue, lender)]
    assert verdicts(facts(H100, local_queue(), *older), job(step(gpu=16))) == ["fits"]
