"""YuniKorn: the application, and a task group for each step, which every pod tells of."""

from __future__ import annotations

import json

import pytest

from support.scheduling import codes, compiled, fact, objects, pods_of, step, the

GROUP_NAME = "yunikorn.apache.org/task-group-name"
GROUPS = "yunikorn.apache.org/task-groups"
PARAMETERS = "yunikorn.apache.org/schedulingPolicyParameters"


def yunikorn(*facts, gang=None, **words):
    return compiled(*facts, scheduling={"gang": {"scheduler": "yunikorn", **(gang or {})}}, **words)


def groups(result):
    return json.loads(pods_of(result)["node"]["metadata"]["annotations"][GROUPS])


def limits(**amounts):
    return {"trainer": {"numNodes": 4, "resourcesPerNode": {"limits": amounts}}}


def test_every_pod_tells_of_all_groups_and_of_its_own():
    pods = pods_of(yunikorn(steps=(step("reader", replicas=3),)))
    annotations = {name: pod["metadata"]["annotations"] for name, pod in pods.items()}
    assert {name: each[GROUP_NAME] for name, each in annotations.items()} == {"node": "node", "reader": "reader"}
    assert annotations["node"][GROUPS] == annotations["reader"][GROUPS]
    assert [(g["name"], g["minMember"]) for g in json.loads(annotations["node"][GROUPS])] == [
        ("node", 4),
        ("reader", 3),
    ]


def test_there_is_no_pod_group():
    assert list(objects(yunikorn())) == ["JobSet"]


def test_resources_are_those_of_one_pod_limits_included():
    result = yunikorn(job=limits(**{"nvidia.com/gpu": 8, "memory": "1024Gi", "cpu": "0.5"}))
    assert groups(result)[0]["minResource"] == {"cpu": "500m", "memory": "1Ti", "nvidia.com/gpu": "8"}


def test_declared_limit_ranges_count():
    limit = {"type": "Container", "defaultRequest": {"cpu": "2"}}
    declared = fact("LimitRange", "defaults", {"limits": [limit]}, version="v1", namespace="team-a")
    assert groups(yunikorn(declared))[0]["minResource"] == {"cpu": "2"}


@pytest.mark.parametrize(
    "field",
    [
        {"nodeSelector": {"gpu": "h100"}},
        {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
        {"affinity": {"nodeAffinity": {}}},
    ],
)
def test_placeholders_stand_where_the_pods_may(field):
    (name, value) = next(iter(field.items()))
    assert groups(yunikorn(pod=field))[0][name] == value


@pytest.mark.parametrize(
    ("gang", "labels", "parameters"),
    [
        ({}, {"applicationId": "team-a-llm"}, None),
        ({"queue": "root.a"}, {"applicationId": "team-a-llm", "queue": "root.a"}, None),
        (
            {"scheduleTimeoutSeconds": 600},
            {"applicationId": "team-a-llm"},
            "placeholderTimeoutInSeconds=600",
        ),
    ],
)
def test_application_queue_and_time(gang, labels, parameters):
    metadata = pods_of(yunikorn(gang=gang))["node"]["metadata"]
    assert metadata["labels"] == labels
    assert metadata["annotations"].get(PARAMETERS) == parameters


PARALLELISM = "/spec/replicatedJobs/0/template/spec"


@pytest.mark.parametrize(
    ("operations", "found"),
    [
        ([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}], []),
        (
            [
                {"op": "replace", "path": f"{PARALLELISM}/{field}", "value": 2}
                for field in ("parallelism", "completions")
            ],
            ["TF363"],
        ),
        (
            [
                {
                    "op": "add",
                    "path": f"{PARALLELISM}/template/spec/containers/0/resources",
                    "value": {"requests": {"cpu": "1"}},
                }
            ],
            ["TF363"],
        ),
    ],
)
def test_patches_that_leave_the_groups_behind(operations, found):
    patch = {"target": {"kind": "JobSet"}, "patch": operations}
    result = yunikorn(environment={"patches": [patch]})
    assert codes(result, "error") == found
    if found:
        assert the(result, "TF363")["object"] == "JobSet/llm"
