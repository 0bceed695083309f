"""The order of stages, plugins that disagree, and plugins that fail."""

from __future__ import annotations

from typing import Any

import pytest

from support.streams import compiled, errors, job, jobset, runtime
from trainform import Plugin
from trainform.core.plugin import STAGES
from trainform.installed import load_plugins


def recorder(name, calls, *, applies=True):
    """A plugin that notes each call of a stage in the list `calls`."""

    def recorded(stage):
        def call(self, plan):
            calls.append((name, stage))
            return ()

        return call

    def asked(self, plan):
        calls.append((name, "applies"))
        return applies

    stages = {stage: recorded(stage) for stage in STAGES}
    return type("Recorder", (Plugin,), {"name": name, "applies": asked, **stages})()


def toy(name, value="1"):
    """A plugin that sets one variable, port, volume, mount, label and annotation."""

    def enforce_ml_policy(self, plan):
        pods, node = plan.trainer_pod_set, plan.trainer_container
        pods.set_env(node, {"name": "MODE", "value": value})
        pods.add_port(node, 8080)
        pods.add_volume({"name": "cache", "emptyDir": {"sizeLimit": f"{value}Gi"}})
        pods.mount(node, {"name": "cache", "mountPath": "/cache", "subPath": value})
        plan.label_pods("mode", value)
        plan.annotate_pods("mode", value)
        plan.label_pods("of-a-step", value, steps=[pods])
        plan.annotate_jobset("mode", value)

    return type("Toy", (Plugin,), {"name": name, "enforce_ml_policy": enforce_ml_policy})()


def failing(method):
    """A plugin that raises in one of its methods, for the job called `bad` only."""

    def fail(self, plan):
        if plan.name == "bad":
            raise ZeroDivisionError("oh no")
        return True if method == "applies" else ()

    return type("Failing", (Plugin,), {"name": "toy", "check": lambda self, plan: None, method: fail})()


def with_plugins(*plugins):
    return (*load_plugins(), *plugins)


def test_each_stage_runs_for_all_plugins_before_the_next_begins():
    calls: list[Any] = []
    compiled(job(), runtime(), plugins=[recorder("a", calls), recorder("b", calls)])
    assert [call for call in calls if call[1] != "applies"] == [(name, stage) for stage in STAGES for name in "ab"]


def test_whether_a_plugin_applies_is_asked_once_for_each_job():
    calls: list[Any] = []
    compiled(job("one"), job("two"), runtime(), plugins=[recorder("a", calls)])
    assert calls.count(("a", "applies")) == 2


def test_a_plugin_that_does_not_apply_is_left_out():
    calls: list[Any] = []
    compiled(job(), runtime(), plugins=[recorder("a", calls, applies=False)])
    assert calls == [("a", "applies")]


def test_two_plugins_that_disagree_are_both_named_for_everything_that_they_set():
    result = compiled(job(), runtime(), plugins=with_plugins(toy("red", "1"), toy("blue", "2")))
    assert {(error.code, error.message) for error in errors(result)} == {
        ("TF310", f"plugins red and blue set {what} to different values")
        for what in (
            "variable MODE of node/node",
            "volume cache of node",
            "mount /cache of node/node",
            "label mode",
            "annotation mode",
            "label of-a-step of node",
            "annotation mode of the JobSet",
        )
    }
    assert result.jobs[0].objects == []


def test_two_plugins_that_agree_are_no_conflict():
    result = compiled(job(), runtime(), plugins=with_plugins(toy("red"), toy("blue")))
    node = jobset(result)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert node["metadata"] == {"labels": {"mode": "1", "of-a-step": "1"}, "annotations": {"mode": "1"}}
    assert node["spec"]["containers"][0]["env"] == [{"name": "MODE", "value": "1"}]


@pytest.mark.parametrize("method", ["applies", *STAGES])
def test_a_plugin_that_raises_is_named_and_the_other_jobs_compile(method):
    result = compiled(job("good"), job("bad"), runtime(), plugins=with_plugins(failing(method)))
    good, bad = result.jobs
    assert [tree["kind"] for tree in good.objects] == ["JobSet"]
    assert bad.objects == []
    (error,) = errors(result)
    assert (error.code, error.message) == (
        "TF901",
        f"plugin toy failed in {method}: ZeroDivisionError('oh no')",
    )
    assert isinstance(result.failures[0].__cause__, ZeroDivisionError)
