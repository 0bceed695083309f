"""KAI and the other schedulers that an Environment chooses: where the pods go, and which do not fit."""

from __future__ import annotations

import pytest

from support.scheduling import codes, compiled, fact, objects, pods_of, step, the

KAI_QUEUE = "kai.scheduler/queue"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
NAMES = {
    "coscheduling": "scheduler-plugins-scheduler",
    "volcano": "volcano",
    "kai": "kai-scheduler",
    "yunikorn": "yunikorn",
}


def gang(scheduler, **settings):
    return {"gang": {"scheduler": scheduler, **settings}}


@pytest.mark.parametrize(("scheduler", "name"), NAMES.items())
def test_every_pod_goes_to_the_chosen_scheduler(scheduler, name):
    result = compiled(scheduling=gang(scheduler), steps=(step("reader"),))
    assert [pod["spec"]["schedulerName"] for pod in pods_of(result).values()] == [name, name]
    assert ("PodGroup" in objects(result)) == (scheduler in ("coscheduling", "volcano"))


@pytest.mark.parametrize("policy", ["coscheduling", "volcano"])
def test_a_gang_of_the_runtime_leaves_the_scheduler_to_its_template(policy):
    result = compiled(runtime={"podGroupPolicy": {policy: {}}})
    assert "schedulerName" not in pods_of(result)["node"]["spec"]


@pytest.mark.parametrize("policy", ["coscheduling", "volcano"])
def test_a_choice_that_the_runtime_shares_sends_the_pods_there(policy):
    result = compiled(scheduling=gang(policy), runtime={"podGroupPolicy": {policy: {}}})
    assert pods_of(result)["node"]["spec"]["schedulerName"] == NAMES[policy]


@pytest.mark.parametrize(
    ("scheduler", "name", "fits"),
    [
        ("kai", "kai-scheduler", True),
        ("kai", "default-scheduler", False),
        ("volcano", "yunikorn", False),
        ("yunikorn", "volcano", False),
        ("coscheduling", "default-scheduler", True),
        ("coscheduling", "team-scheduler", True),
        ("coscheduling", "kai-scheduler", False),
    ],
)
def test_a_template_may_name_the_gangs_scheduler_only(scheduler, name, fits):
    result = compiled(scheduling=gang(scheduler), pod={"schedulerName": name})
    assert codes(result, "error") == ([] if fits else ["TF360"])
    if not fits:
        message = the(result, "TF360")["message"]
        assert name in message
        assert NAMES[scheduler] in message


@pytest.mark.parametrize(
    ("installed", "name", "found"),
    [
        (None, "volcano", []),
        ([], "volcano", ["TF153"]),
        (["kai"], "volcano", ["TF153"]),
        (["volcano"], "volcano", []),
        ([], "scheduler-plugins-scheduler", ["TF153"]),
        ([], "some-other-scheduler", []),
        ([], None, []),
    ],
)
def test_pods_go_to_schedulers_that_are_installed(installed, name, found):
    cluster = {} if installed is None else {"schedulers": installed}
    result = compiled(cluster=cluster, pod={"schedulerName": name} if name else {})
    assert codes(result, "error") == found


@pytest.mark.parametrize(("installed", "found"), [(["volcano"], []), (["kai"], ["TF153"])])
def test_the_gang_of_a_runtime_is_installed(installed, found):
    result = compiled(cluster={"schedulers": installed}, runtime={"podGroupPolicy": {"volcano": {}}})
    assert codes(result, "error") == found


def test_two_gangs_are_one_error():
    result = compiled(
        scheduling=gang("kai"), cluster={"schedulers": ["kai"]}, runtime={"podGroupPolicy": {"coscheduling": {}}}
    )
    assert codes(result, "error") == ["TF164"]


@pytest.mark.parametrize(
    ("key", "queue", "of_job", "of_template", "rendered"),
    [
        (KAI_QUEUE, "team-a", {}, {}, "team-a"),
        (KAI_QUEUE, "team-a", {}, {KAI_QUEUE: "old"}, "team-a"),
        (KAI_QUEUE, "team-a", {KAI_QUEUE: "urgent"}, {KAI_QUEUE: "old"}, "urgent"),
        (KAI_QUEUE, None, {}, {KAI_QUEUE: "old"}, "old"),
        (KAI_QUEUE, None, {}, {}, None),
        ("runai/queue", "team-a", {}, {}, "team-a"),
        ("runai/queue", "team-a", {"runai/queue": "urgent"}, {}, "urgent"),
    ],
)
def test_kai_reads_the_queue_off_jobset_and_pods(key, queue, of_job, of_template, rendered):
    settings = {"queueLabel": key, **({"queue": queue} if queue else {})}
    result = compiled(scheduling=gang("kai", **settings), labels=of_job, template=of_template)
    trees = (objects(result)["JobSet"], pods_of(result)["node"])
    assert [tree["metadata"].get("labels", {}).get(key) for tree in trees] == [rendered, rendered]


@pytest.mark.parametrize(
    ("queue", "of_job", "declared", "rendered", "told"),
    [
        ("a", {}, ("a", "b"), "a", []),
        ("a", {VOLCANO_QUEUE: "b"}, ("a", "b"), "b", []),
        (None, {}, ("a",), None, []),
        ("default", {}, ("a",), "default", []),
        ("a", {}, (), "a", ["TF563"]),
    ],
)
def test_volcanos_queue(queue, of_job, declared, rendered, told):
    queues = [fact("Queue", name, {"weight": 1}, version="scheduling.volcano.sh/v1beta1") for name in declared]
    settings = {"queue": queue} if queue else {}
    result = compiled(*queues, scheduling=gang("volcano", **settings), note=of_job)
    assert objects(result)["PodGroup"]["spec"].get("queue") == rendered
    assert codes(result) == told


def test_a_volcano_queue_is_among_the_declared():
    queue = fact("Queue", "research", {"weight": 1}, version="scheduling.volcano.sh/v1beta1")
    error = the(compiled(queue, scheduling=gang("volcano", queue="reserch")), "TF362")
    assert (error["field"], error["hint"]) == ("spec.scheduling.gang.queue", 'did you mean "research"?')


def test_the_environments_timeout_is_the_pod_groups():
    result = compiled(scheduling=gang("coscheduling", scheduleTimeoutSeconds=300))
    assert objects(result)["PodGroup"]["spec"]["scheduleTimeoutSeconds"] == 300
