"""Which differences between git's JobSet and a live one are drift."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from support.streams import compiled, job, jobset, replicated_job, runtime
from trainform.review.live.drift import drift

QUEUE = {"kueue.x-k8s.io/queue-name": "team"}
POD = ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec")
SHOWN = "spec.replicatedJobs[node].template.spec.template.spec"


def git(labels: dict[str, str] | None = None) -> dict:
    node = {"name": "node", "image": "example/i:1", "args": ["a", "b"], "env": [{"name": "A", "value": "1"}]}
    pod = {"containers": [node], "nodeSelector": {"zone": "a"}, "tolerations": [{"key": "own", "operator": "Exists"}]}
    template = runtime("rt", replicated_job(pod=pod))
    template["spec"]["template"]["metadata"] = {"labels": labels or {}}
    found: dict = jobset(compiled(job(), template))
    return found


def changed(tree: dict, at: tuple, value: Any) -> dict:
    live = copy.deepcopy(tree)
    above: Any = live
    for key in at[:-1]:
        above = above[key]
    above[at[-1]] = value
    return live


@pytest.mark.parametrize(
    ("at", "value", "fields"),
    [
        (("status",), {"restarts": 1}, []),
        (("metadata", "uid"), "1", []),
        (("metadata", "annotations"), {"kubectl.kubernetes.io/last-applied-configuration": "{}"}, []),
        (("spec", "newField"), {"a": 1}, []),
        ((*POD, "containers", 0, "resources"), {}, []),
        ((*POD, "containers", 0, "env"), [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}], []),
        ((*POD, "containers", 0, "image"), "example/i:2", [f"{SHOWN}.containers[node].image"]),
        ((*POD, "containers", 0, "args"), ["a", "c"], [f"{SHOWN}.containers[node].args[1]"]),
        ((*POD, "containers", 0, "args"), ["a"], [f"{SHOWN}.containers[node].args"]),
        ((*POD, "containers", 0, "name"), "other", [f"{SHOWN}.containers[node]"]),
        ((*POD, "nodeSelector"), {"zone": "b"}, [f"{SHOWN}.nodeSelector.zone"]),
        ((*POD, "tolerations"), [], [f"{SHOWN}.tolerations"]),
    ],
)
def test_what_git_has_and_the_cluster_has_otherwise_is_drift(at, value, fields):
    assert [each.field for each in drift(git(), changed(git(), at, value))] == fields


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("spec", "suspend"), True),
        ((*POD, "nodeSelector"), {"zone": "a", "pool": "h100"}),
        ((*POD, "nodeSelector"), {"zone": "b"}),
        ((*POD, "tolerations"), [{"key": "flavor", "operator": "Exists"}]),
        ((*POD, "schedulingGates"), [{"name": "kueue.x-k8s.io/topology"}]),
    ],
)
def test_what_kueue_writes_is_none_in_a_queue(at, value):
    tree = git(QUEUE)
    assert drift(tree, changed(tree, at, value)) == []


def test_a_field_that_is_gone_is_told_with_both_values():
    tree = git()
    live = copy.deepcopy(tree)
    del live["spec"]["network"]
    (found,) = drift(tree, live)
    assert (found.field, found.git, found.live) == ("spec.network", tree["spec"]["network"], None)
