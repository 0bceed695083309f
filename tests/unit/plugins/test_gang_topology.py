"""Topology for KAI and Volcano, by keys of an Environment, held against what is declared."""

from __future__ import annotations

from typing import Any

import pytest

from support.scheduling import codes, compiled, fact, objects, step, the

Tree = dict[str, Any]

KAI = "kai.scheduler/topology"
BLOCK, RACK, HOST = "example.com/block", "example.com/rack", "kubernetes.io/hostname"
LEVELS = {"levels": [{"nodeLabel": level} for level in (BLOCK, RACK, HOST)]}
OF_KAI = fact("Topology", "dc", LEVELS, version="kai.scheduler/v1alpha1")
OF_KUEUE = fact("Topology", "dc", LEVELS)


def kai(*facts: Tree, topology: Tree | None = None, **words: Any) -> Tree:
    gang = {"scheduler": "kai", **({"topology": topology} if topology else {})}
    return compiled(*facts, scheduling={"gang": gang}, **words)


def volcano(*tiers: int, topology: Tree | None = None, **words: Any) -> Tree:
    facts = [fact("HyperNode", f"s{tier}", {"tier": tier}, version="topology.volcano.sh/v1alpha1") for tier in tiers]
    gang = {"scheduler": "volcano", **({"networkTopology": topology} if topology else {})}
    return compiled(*facts, scheduling={"gang": gang}, **words)


def asked(result: Tree) -> Tree:
    """KAI's annotations of the JobSet, without their prefix."""
    annotations = objects(result)["JobSet"]["metadata"].get("annotations", {})
    return {key.removeprefix(KAI): value for key, value in annotations.items()}


@pytest.mark.parametrize(
    ("topology", "annotations"),
    [
        ({"name": "dc", "required": RACK}, {"": "dc", "-required-placement": RACK}),
        ({"name": "dc", "preferred": RACK}, {"": "dc", "-preferred-placement": RACK}),
        (
            {"name": "dc", "required": BLOCK, "preferred": HOST},
            {"": "dc", "-required-placement": BLOCK, "-preferred-placement": HOST},
        ),
    ],
)
def test_kai_reads_topology_off_the_jobset(topology, annotations):
    result = kai(OF_KAI, topology=topology)
    assert asked(result) == annotations
    assert codes(result) == []


def test_the_environment_replaces_all_that_the_template_asks_of_kai():
    template = {"metadata": {"annotations": {KAI: "old", f"{KAI}-required-placement": HOST, "note": "mine"}}}
    runtime = {"template": {**template, "spec": {"replicatedJobs": [step("node", trainer=True)]}}}
    result = kai(OF_KAI, topology={"name": "dc", "preferred": RACK}, runtime=runtime)
    assert asked(result) == {"note": "mine", "": "dc", "-preferred-placement": RACK}


def test_a_trainjob_that_asks_of_kai_itself_gets_only_that():
    own = {KAI: "dc", f"{KAI}-required-placement": HOST}
    result = kai(OF_KAI, topology={"name": "dc", "preferred": RACK}, note=own)
    assert asked(result) == {"": "dc", "-required-placement": HOST}


@pytest.mark.parametrize(
    ("facts", "topology", "found"),
    [
        ((), {"name": "dc", "required": RACK}, ("TF563", "spec.cluster")),
        ((OF_KAI,), {"name": "cd", "required": RACK}, ("TF372", "spec.scheduling.gang.topology.name")),
        ((OF_KAI,), {"name": "dc", "required": "rack"}, ("TF353", "spec.scheduling.gang.topology.required")),
        ((OF_KAI,), {"name": "dc", "preferred": "rack"}, ("TF353", "spec.scheduling.gang.topology.preferred")),
        ((OF_KUEUE,), {"name": "dc", "preferred": "rack"}, ("TF353", "spec.scheduling.gang.topology.preferred")),
        ((OF_KUEUE,), {"name": "cd", "preferred": RACK}, ("TF563", "spec.cluster")),
        (
            (OF_KAI,),
            {"name": "dc", "required": HOST, "preferred": BLOCK},
            ("TF373", "spec.scheduling.gang.topology.preferred"),
        ),
    ],
)
def test_kais_topology_and_its_levels_are_declared(facts, topology, found):
    result = kai(*facts, topology=topology)
    code, field = found
    assert codes(result) == [code]
    assert the(result, code)["field"] == field


def test_a_level_without_a_topology_is_told():
    error = the(kai(OF_KAI, note={f"{KAI}-required-placement": RACK}), "TF372")
    assert error["field"] == f"metadata.annotations.{KAI}-required-placement"
    assert error["hint"] == f"also set {KAI}"


@pytest.mark.parametrize(
    ("topology", "code", "field"),
    [
        ({"name": "dc"}, "TF103", "topology"),
        ({"required": RACK}, "TF103", "topology.name"),
        ({"name": "d c", "required": RACK}, "TF301", "topology.name"),
        ({"name": "dc", "required": "a/b/c"}, "TF104", "topology.required"),
    ],
)
def test_a_topology_of_kai_needs_a_name_and_a_level(topology, code, field):
    assert the(kai(topology=topology), code)["field"] == f"spec.scheduling.gang.{field}"


@pytest.mark.parametrize(
    ("topology", "rendered"),
    [
        ({"mode": "hard", "highestTierAllowed": 2}, {"mode": "hard", "highestTierAllowed": 2}),
        ({"highestTierAllowed": 2}, {"mode": "hard", "highestTierAllowed": 2}),
        ({"mode": "soft"}, {"mode": "soft"}),
    ],
)
@pytest.mark.parametrize(
    "policy", [{}, {"podGroupPolicy": {"volcano": {"networkTopology": {"highestTierAllowed": 1}}}}]
)
def test_volcanos_pod_group_has_the_environments_topology(topology, rendered, policy):
    result = volcano(1, 2, topology=topology, runtime=policy)
    assert objects(result)["PodGroup"]["spec"]["networkTopology"] == rendered
    assert codes(result) == []


def test_without_one_the_runtimes_topology_stays():
    result = volcano(runtime={"podGroupPolicy": {"volcano": {"networkTopology": {"highestTierAllowed": 1}}}})
    assert objects(result)["PodGroup"]["spec"]["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}


@pytest.mark.parametrize(
    ("tiers", "highest", "severity"),
    [((1, 2), 1, None), ((1, 2), 0, "error"), ((1, 2), 3, "warning"), ((1, 3), 2, "warning"), ((), 7, None)],
)
def test_a_tier_is_that_of_a_declared_hypernode(tiers, highest, severity):
    result = volcano(*tiers, topology={"highestTierAllowed": highest})
    told = [each for each in result["jobs"][0]["diagnostics"] if each["code"] == "TF353"]
    assert [each["severity"] for each in told] == ([severity] if severity else [])
    if severity:
        assert told[0]["field"] == "spec.scheduling.gang.networkTopology.highestTierAllowed"


def test_a_tier_of_the_runtime_is_told_there():
    facts = fact("HyperNode", "s1", {"tier": 1}, version="topology.volcano.sh/v1alpha1")
    policy = {"podGroupPolicy": {"volcano": {"networkTopology": {"highestTierAllowed": 0}}}}
    error = the(compiled(facts, runtime=policy, pod={"schedulerName": "volcano"}), "TF353")
    assert error["field"] == "spec.podGroupPolicy.volcano.networkTopology.highestTierAllowed"


@pytest.mark.parametrize(
    ("topology", "code"),
    [({"mode": "soft", "highestTierAllowed": 2}, "TF165"), ({"highestTierAllowed": -1}, "TF104")],
)
def test_a_tier_that_volcano_ignores_or_refuses(topology, code):
    field = "spec.scheduling.gang.networkTopology.highestTierAllowed"
    assert the(volcano(topology=topology), code)["field"] == field


QUEUES = [
    fact("Queue", "department", version="scheduling.run.ai/v2"),
    fact("Queue", "team-a", {"parentQueue": "department"}, version="scheduling.run.ai/v2"),
]


@pytest.mark.parametrize(
    ("queue", "code", "hint"),
    [
        ("team-a", None, ""),
        ("team-b", "TF370", 'did you mean "team-a"?'),
        ("department", "TF371", "use one of those: team-a"),
        ("default-queue", None, ""),
        (None, "TF370", "set scheduling.gang.queue: team-a, or declare default-queue"),
    ],
)
def test_kais_queue_exists_and_takes_jobs(queue, code, hint):
    gang = {"scheduler": "kai", **({"queue": queue} if queue else {})}
    result = compiled(*QUEUES, scheduling={"gang": gang})
    assert codes(result) == ([code] if code else [])
    if code:
        assert the(result, code)["hint"] == hint


def test_queues_of_kai_and_volcano_may_share_a_name():
    queues = [fact("Queue", "team-a", version=v) for v in ("scheduling.run.ai/v2", "scheduling.volcano.sh/v1beta1")]
    for scheduler in ("kai", "volcano"):
        assert codes(compiled(*queues, scheduling={"gang": {"scheduler": scheduler, "queue": "team-a"}})) == []
    only_volcanos = compiled(queues[1], scheduling={"gang": {"scheduler": "kai", "queue": "team-a"}})
    assert codes(only_volcanos) == ["TF563"]


def test_a_parent_that_is_not_declared_is_told():
    warning = the(compiled(QUEUES[1], scheduling={"gang": {"scheduler": "kai", "queue": "team-a"}}), "TF563")
    assert (warning["field"], warning["message"]) == ("spec.parentQueue", "Queue department is not declared")
