"""Gangs that can start: steps that wait for others, and a gang for each stage."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from support.scheduling import codes, compiled, objects, pods_of, step, the

Tree = dict[str, Any]

COSCHEDULING = "scheduling.x-k8s.io/pod-group"
VOLCANO = "scheduling.k8s.io/group-name"
LEAST_SUBGROUPS = "kai.scheduler/batch-min-member"
GROUPS = "yunikorn.apache.org/task-groups"
PARAMETERS = "yunikorn.apache.org/schedulingPolicyParameters"
READY, COMPLETE = "Ready", "Complete"
SCHEDULERS = ["coscheduling", "volcano", "kai", "yunikorn"]
IN_ORDER = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}


def gang(scheduler: str, **settings: Any) -> Tree:
    return {"gang": {"scheduler": scheduler, **settings}}


def after(*names: str, status: str = COMPLETE) -> list[Tree]:
    return [{"name": name, "status": status} for name in names]


def steps(status: str = COMPLETE) -> list[Tree]:
    """Two initializers, and nodes that wait for both."""
    awaited = after("dataset", "model", status=status)
    return [step("dataset"), step("model"), {**step("node", trainer=True), "dependsOn": awaited}]


def with_steps(jobs: list[Tree], policy: Tree | None = None, **spec: Any) -> Tree:
    return {"template": {"spec": {"replicatedJobs": jobs, **spec}}, **({"podGroupPolicy": policy} if policy else {})}


@pytest.mark.parametrize(
    ("scheduler", "jobs", "spec", "told"),
    [
        *(("coscheduling", steps(status), {}, True) for status in (READY, COMPLETE)),
        *(("volcano", steps(status), {}, True) for status in (READY, COMPLETE)),
        *(("kai", steps(status), {}, True) for status in (READY, COMPLETE)),
        *(("yunikorn", steps(status), {}, True) for status in (READY, COMPLETE)),
        ("coscheduling", [step("a"), step("node", trainer=True)], IN_ORDER, True),
        ("volcano", [step("a"), step("node", trainer=True)], IN_ORDER, True),
        ("kai", [step("a"), step("node", trainer=True)], IN_ORDER, False),
        ("yunikorn", [step("a"), step("node", trainer=True)], IN_ORDER, True),
        *((name, [step("a"), step("node", trainer=True)], {}, False) for name in ("coscheduling", "volcano", "kai")),
        ("yunikorn", [step("a"), step("node", trainer=True)], {}, False),
        *((name, [step("node", trainer=True)], IN_ORDER, False) for name in ("coscheduling", "kai", "yunikorn")),
    ],
)
def test_one_gang_of_steps_that_wait_for_each_other_is_told(scheduler, jobs, spec, told):
    result = compiled(scheduling=gang(scheduler), runtime=with_steps(jobs, **spec))
    assert ("TF361" in codes(result, "warning")) == told


@pytest.mark.parametrize("policy", ["coscheduling", "volcano"])
def test_it_is_told_at_the_runtime_if_that_asked_for_the_gang(policy):
    warning = the(compiled(runtime=with_steps(steps(), {policy: {}})), "TF361")
    assert warning["field"] == "spec.podGroupPolicy"
    assert f"gang: {{scheduler: {policy}, perStage: true}}" in warning["hint"]


@pytest.mark.parametrize("status", [READY, COMPLETE])
def test_kais_other_remedy_is_for_steps_that_wait_until_others_are_ready(status):
    warning = the(compiled(scheduling=gang("kai"), runtime=with_steps(steps(status))), "TF361")
    assert warning["field"] == "spec.scheduling.gang.scheduler"
    assert ("startupPolicy: {startupPolicyOrder: InOrder}" in warning["hint"]) == (status == READY)


@pytest.mark.parametrize("status", [READY, COMPLETE])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_the_remedy_of_the_hint_cures(scheduler, status):
    hint = the(compiled(scheduling=gang(scheduler), runtime=with_steps(steps(status))), "TF361")["hint"]
    assert "perStage: true" in hint
    result = compiled(scheduling=gang(scheduler, perStage=True), runtime=with_steps(steps(status)))
    assert "TF361" not in codes(result, "warning")


def launching(hint: str = "", policy: Tree | None = None, **spec: Any) -> Tree:
    """The runtime of an MPI job whose launcher comes first and waits for nobody, or as a hint says."""
    jobs = [step("launcher", trainer=True), step("node")]
    if wanted := re.search(r"write dependsOn: (\[.*?\]) in launcher", hint):
        jobs[0]["dependsOn"] = yaml.safe_load(wanted[1])
    if "list node before launcher" in hint:
        jobs.reverse()
    if "readiness probe" in hint:
        (container,) = jobs[0]["template"]["spec"]["template"]["spec"]["containers"]
        container["readinessProbe"] = {"tcpSocket": {"port": 2222}}
    return {"mlPolicy": {"numNodes": 1, "mpi": {}}, **with_steps(jobs, policy, **spec)}


def asked(hint: str) -> Tree:
    """What a hint says to write in the Environment."""
    wanted = re.search(r"write scheduling.gang: (\{.*?\}) in the Environment", hint)
    return {"gang": yaml.safe_load(wanted[1])} if wanted else {}


@pytest.mark.parametrize("order", [{}, IN_ORDER], ids=["at once", "in order"])
@pytest.mark.parametrize("chosen", [{}, *map(gang, SCHEDULERS), *(gang(each, perStage=True) for each in SCHEDULERS)])
def test_a_launcher_waits_as_its_hint_says_whatever_the_gang(chosen, order):
    hint = the(compiled(scheduling=chosen, runtime=launching(**order)), "TF611")["hint"]
    cured = compiled(scheduling=asked(hint) or chosen, runtime=launching(hint, **order))
    assert not {"TF611", "TF361"} & {*codes(cured, "warning")}
    assert codes(cured, "error") == codes(compiled(scheduling=chosen, runtime=launching(**order)), "error")
    assert ("perStage" in hint) == ("perStage" not in str(chosen) and chosen != {})


@pytest.mark.parametrize("policy", ["coscheduling", "volcano"])
def test_a_launcher_waits_as_its_hint_says_in_a_gang_of_the_runtime(policy):
    hint = the(compiled(scheduling={}, runtime=launching(policy={policy: {}})), "TF611")["hint"]
    assert asked(hint) == gang(policy, perStage=True)
    cured = compiled(scheduling=asked(hint), runtime=launching(hint, {policy: {}}))
    assert not {"TF611", "TF361"} & {*codes(cured, "error", "warning")}


def test_a_patch_that_removes_the_dependency_cures_too():
    operations = [{"op": "remove", "path": "/spec/replicatedJobs/2/dependsOn"}]
    patches = {"patches": [{"target": {"kind": "JobSet"}, "patch": operations}]}
    result = compiled(scheduling=gang("volcano"), runtime=with_steps(steps()), environment=patches)
    assert "TF361" not in codes(result, "warning")


def test_yunikorn_needs_more_time_or_stages():
    assert "TF361" not in codes(compiled(scheduling=gang("yunikorn", scheduleTimeoutSeconds=7200),
                                         runtime=with_steps(steps())), "warning")  # fmt: skip


def test_a_step_count_on_the_trainjob_is_kais_remedy_as_well():
    result = compiled(scheduling=gang("kai"), runtime=with_steps(steps()), note={LEAST_SUBGROUPS: "1"})
    assert "TF361" not in codes(result, "warning")


def groups_of(result: Tree) -> dict[str, Tree]:
    return {
        tree["metadata"]["name"]: tree["spec"] for tree in result["jobs"][0]["objects"] if tree["kind"] == "PodGroup"
    }


@pytest.mark.parametrize(
    ("scheduler", "kind", "key"), [("coscheduling", "labels", COSCHEDULING), ("volcano", "annotations", VOLCANO)]
)
def test_each_stage_has_a_pod_group_and_its_pods_name_it(scheduler, kind, key):
    result = compiled(scheduling=gang(scheduler, perStage=True), runtime=with_steps(steps()))
    assert {name: spec["minMember"] for name, spec in groups_of(result).items()} == {"llm.dataset": 2, "llm.node": 4}
    assert {name: pod["metadata"][kind][key] for name, pod in pods_of(result).items()} == {
        "dataset": "llm.dataset",
        "model": "llm.dataset",
        "node": "llm.node",
    }


def test_a_stage_is_what_waits_for_the_same_steps():
    jobs = [step("a"), {**step("b"), "dependsOn": after("a")}, {**step("c"), "dependsOn": after("a", status=READY)},
            {**step("node", trainer=True), "dependsOn": after("a")}]  # fmt: skip
    result = compiled(scheduling=gang("volcano", perStage=True), runtime=with_steps(jobs))
    assert {name: spec["minMember"] for name, spec in groups_of(result).items()} == {"llm.a": 1, "llm.b": 5, "llm.c": 1}


def test_in_order_every_step_is_a_stage():
    jobs = [step("a"), step("b"), step("node", trainer=True)]
    result = compiled(scheduling=gang("volcano", perStage=True), runtime=with_steps(jobs, **IN_ORDER))
    assert sorted(groups_of(result)) == ["llm.a", "llm.b", "llm.node"]


@pytest.mark.parametrize("scheduler", ["coscheduling", "volcano"])
def test_a_job_of_one_stage_has_the_gang_that_it_had(scheduler):
    jobs = with_steps([step("reader"), step("node", trainer=True)])
    whole, staged = (compiled(scheduling=gang(scheduler, perStage=each), runtime=jobs) for each in (False, True))
    assert staged["jobs"][0]["objects"] == whole["jobs"][0]["objects"]


@pytest.mark.parametrize("policy", ["coscheduling", "volcano"])
def test_a_gang_of_the_runtime_is_one_as_with_the_controller(policy):
    result = compiled(runtime=with_steps(steps(), {policy: {}}), environment={})
    assert {name: spec["minMember"] for name, spec in groups_of(result).items()} == {"llm": 6}


def test_yunikorn_has_an_application_for_each_stage():
    result = compiled(scheduling=gang("yunikorn", perStage=True), runtime=with_steps(steps()))
    pods = pods_of(result)
    assert {name: pod["metadata"]["labels"]["applicationId"] for name, pod in pods.items()} == {
        "dataset": "team-a-llm.dataset",
        "model": "team-a-llm.dataset",
        "node": "team-a-llm.node",
    }
    named = {
        name: [g["name"] for g in json.loads(pod["metadata"]["annotations"][GROUPS])] for name, pod in pods.items()
    }
    assert named == {"dataset": ["dataset", "model"], "model": ["dataset", "model"], "node": ["node"]}


def test_kai_places_one_step_at_a_time():
    jobset = objects(compiled(scheduling=gang("kai", perStage=True), runtime=with_steps(steps())))["JobSet"]
    assert jobset["metadata"]["annotations"] == {LEAST_SUBGROUPS: "1"}


def test_the_trainjobs_own_count_stays():
    result = compiled(scheduling=gang("kai", perStage=True), runtime=with_steps(steps()), note={LEAST_SUBGROUPS: "2"})
    assert objects(result)["JobSet"]["metadata"]["annotations"] == {LEAST_SUBGROUPS: "2"}


@pytest.mark.parametrize("scheduler", ["coscheduling", "volcano"])
def test_a_patch_that_changes_a_stage_must_change_its_pod_group(scheduler):
    def patched(*patches: Tree) -> Tree:
        return compiled(
            scheduling=gang(scheduler, perStage=True),
            runtime=with_steps(steps()),
            environment={"patches": list(patches)},
        )

    path = "/spec/replicatedJobs/2/template/spec"
    pods = [{"op": "replace", "path": f"{path}/{field}", "value": 8} for field in ("parallelism", "completions")]
    jobset = {"target": {"kind": "JobSet"}, "patch": pods}
    error = the(patched(jobset), "TF162")
    assert (error["object"], error["hint"]) == (
        "PodGroup/llm.node", "patch it to 8, or set the number of nodes in the job instead"
    )  # fmt: skip
    members = {"target": {"kind": "PodGroup", "name": r"llm\.node"}, "patch": {"spec": {"minMember": 8}}}
    assert codes(patched(jobset, members), "error") == []


@pytest.mark.parametrize(
    ("settings", "parameters", "told"),
    [
        ({}, None, "900 s"),
        ({"scheduleTimeoutSeconds": 60}, "placeholderTimeoutInSeconds=60", "60 s"),
        ({"style": "Hard"}, "gangSchedulingStyle=Hard", None),
        ({"style": "Soft"}, "gangSchedulingStyle=Soft", None),
        (
            {"scheduleTimeoutSeconds": 60, "style": "Hard"},
            "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard",
            None,
        ),
    ],
)
def test_yunikorns_style_is_chosen_or_its_default_is_told(settings, parameters, told):
    result = compiled(scheduling=gang("yunikorn", **settings))
    assert pods_of(result)["node"]["metadata"]["annotations"].get(PARAMETERS) == parameters
    assert codes(result, "info") == ([] if told is None else ["TF375"])
    if told is not None:
        assert told in the(result, "TF375")["message"]


@pytest.mark.parametrize("name", [None, "default-scheduler"])
def test_pods_that_volcanos_gang_of_the_runtime_never_sees_are_told(name):
    pod = {"schedulerName": name} if name else {}
    result = compiled(runtime={"podGroupPolicy": {"volcano": {}}}, pod=pod)
    assert "use scheduler default-scheduler, but the volcano gang" in the(result, "TF360")["message"]


@pytest.mark.parametrize(
    ("scheduler", "key", "value"),
    [
        ("coscheduling", "queue", "a"),
        ("volcano", "scheduleTimeoutSeconds", 60),
        ("kai", "scheduleTimeoutSeconds", 60),
        ("coscheduling", "queueLabel", "a/b"),
        *((name, "style", "Hard") for name in ("coscheduling", "volcano", "kai")),
        *((name, "topology", {"name": "a", "required": "b"}) for name in ("coscheduling", "volcano", "yunikorn")),
        *((name, "networkTopology", {"mode": "soft"}) for name in ("coscheduling", "kai", "yunikorn")),
        ("none", "perStage", True),
    ],
)
def test_a_setting_that_the_scheduler_ignores_is_told_at_its_line(scheduler, key, value):
    warning = the(compiled(scheduling=gang(scheduler, **{key: value})), "TF165")
    assert (warning["field"], warning["severity"]) == (f"spec.scheduling.gang.{key}", "warning")


def test_no_setting_is_read_without_a_scheduler():
    assert the(compiled(scheduling={"gang": {"perStage": True}}), "TF165")["field"] == "spec.scheduling.gang.perStage"
