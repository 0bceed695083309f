"""Third-party plugins that break the rules of the API: whose fault it is, and that nothing of it outlives the job."""

from __future__ import annotations

import sys

import pytest

from support.streams import Tree, compiled, errors, job, jobset, replicated_job, runtime
from trainform import Plugin
from trainform.core.plugin import STAGES
from trainform.installed import load_plugins

TOLERATION = {"key": "gpu", "operator": "Exists"}
OTHER = {"key": "spot", "operator": "Exists"}
RUNTIME = runtime("rt", replicated_job(pod={"tolerations": [TOLERATION]}))
ENVIRONMENT = {
    "apiVersion": "trainform.dev/v1alpha1",
    "kind": "Environment",
    "metadata": {"name": "prod"},
    "spec": {"values": {"a": "b"}},
}
FACT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1}


def guest(name="acme", **methods):
    return type("Guest", (Plugin,), {"name": name, **methods})()


def compile_with(*plugins, jobs=("one", "two"), more=()):
    return compiled(*(job(name) for name in jobs), RUNTIME, *more, plugins=(*load_plugins(), *plugins))


def told(result):
    return [(error.code, error.message) for error in errors(result)]


def pod_spec(tree: Tree) -> Tree:
    spec: Tree = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return spec


EDITS = {
    "runtime": (
        lambda plan: plan.runtime.spec.template.spec["replicatedJobs"].append({}),
        "runtime rt at spec.template.spec.replicatedJobs",
    ),
    "runtime-document": (
        lambda plan: pod_spec(plan.runtime_document.tree["spec"]["template"])["tolerations"].append(OTHER),
        "runtime rt at spec.template.spec.replicatedJobs[0].template.spec.template.spec.tolerations",
    ),
    "job": (lambda plan: plan.job_document.tree["spec"].update(suspend=True), "the TrainJob at spec.suspend"),
    "environment": (lambda plan: plan.environment.spec.values.update(a="c"), "the Environment at spec.values.a"),
    "fact": (
        lambda plan: plan.facts.get("PriorityClass", "high").update(value=2),
        "cluster fact PriorityClass high at value",
    ),
}


@pytest.mark.parametrize(("edit", "where"), EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("stage", ["validate", "enforce_pod_spec", "check"])
def test_an_input_that_is_edited_in_place_names_plugin_stage_and_path(edit, where, stage):
    plugin = guest(**{stage: lambda self, plan: edit(plan) and None})
    result = compile_with(plugin, more=(ENVIRONMENT, FACT))
    message = f"plugin acme edited {where} in {stage}, which would change other jobs"
    assert {(code, text) for code, text in told(result)} == {("TF902", message)}
    assert {error.plugin for error in errors(result)} == {"acme"}
    assert [each.objects for each in result.jobs] == [[], []]


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_a_verb_takes_effect_in_each_stage(stage):
    def act(self, plan):
        plan.label_pods("acme.example/team", "nlp")
        plan.annotate_pods("acme.example/note", "seen")
        plan.pod_sets[0].set_count(3)
        return [] if stage == "build" else None

    result = compile_with(guest(**{stage: act}), jobs=("one",))
    template = jobset(result, 0)["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert template["template"]["metadata"]["labels"]["acme.example/team"] == "nlp"
    assert template["template"]["metadata"]["annotations"]["acme.example/note"] == "seen"
    assert (template["parallelism"], template["completions"]) == (3, 3)


@pytest.mark.parametrize("stage", ["pre_build_sync", "build"])
def test_an_edit_in_place_is_kept(stage):
    def act(self, plan):
        plan.pod_sets[0].job_spec["parallelism"] = 7
        return [] if stage == "build" else None

    result = compile_with(guest(name="zeta", **{stage: act}), jobs=("one",))
    assert jobset(result, 0)["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] == 7


def test_a_label_of_a_model_is_an_input_too():
    plugin = guest(enforce_pod_spec=lambda self, plan: plan.job.metadata.labels.update(team="x"))
    given = job("one")
    given["metadata"]["labels"] = {"team": "vision"}
    result = compiled(given, RUNTIME, plugins=(*load_plugins(), plugin))
    assert [code for code, _ in told(result)] == ["TF902"]


def test_only_the_job_with_the_edit_fails_and_the_others_do_not_see_it():
    def edit(self, plan):
        if plan.name == "one":
            plan.runtime.spec.template.spec["replicatedJobs"].clear()

    result = compile_with(guest(enforce_pod_spec=edit))
    one, two = result.jobs
    assert [error.code for error in one.diagnostics if error.severity == "error"] == ["TF902"]
    assert pod_spec(two.objects[0])["tolerations"] == [TOLERATION]


@pytest.mark.parametrize("stage", STAGES[1:5])
def test_what_belongs_to_the_job_may_be_edited_in_place(stage):
    def edit(self, plan):
        plan.trainer_pod_set.pod_spec["tolerations"].append(OTHER)
        plan.trainer_container["env"] = [{"name": "A", "value": "1"}]

    result = compile_with(guest(**{stage: edit}), jobs=("one", "two", "three"))
    for index in range(3):
        assert pod_spec(jobset(result, index))["tolerations"] == [TOLERATION, OTHER]


def endless(self, plan):
    return endless(self, plan)


class Odd:
    """No plain value."""


def with_itself() -> Tree:
    tree: Tree = {}
    tree["self"] = tree
    return tree


NOT_PLAIN = (
    "TF903",
    "plugin acme returned something that is no plain tree: use only dict, list, str, int, float, bool and None",
)


def built(value):
    return {"build": lambda self, plan: value(plan)}


def raised(what, stage="build"):
    return "TF901", f"plugin acme failed in {stage}: {what}"


def returned(what):
    return "TF903", f"plugin acme returned {what}"


LIST = "from build, not a list of objects"
BOOL = "from applies, not True or False"


@pytest.mark.parametrize(
    ("methods", "problem"),
    [
        (built(lambda plan: 1 / 0), raised("ZeroDivisionError('division by zero')")),
        (built(lambda plan: sys.exit(3)), raised("SystemExit(3)")),
        ({"applies": lambda self, plan: sys.exit(0), "check": print}, raised("SystemExit(0)", "applies")),
        (built(lambda plan: (1 / 0 for _ in "x")), raised("ZeroDivisionError('division by zero')")),
        ({"validate": endless}, raised("RecursionError('maximum recursion depth exceeded')", "validate")),
        (built(lambda plan: None), returned("None " + LIST)),
        (built(lambda plan: {}), returned("a value of type dict " + LIST)),
        (built(lambda plan: "x"), returned("a value of type str " + LIST)),
        (built(lambda plan: [None]), NOT_PLAIN),
        (built(lambda plan: [Odd()]), NOT_PLAIN),
        (built(lambda plan: [with_itself()]), NOT_PLAIN),
        (built(lambda plan: [plan.new_object("v1", "ConfigMap", data={"a": {1}})]), NOT_PLAIN),
        (built(lambda plan: [plan.new_object("v1", "ConfigMap", data=(1,))]), NOT_PLAIN),
        (built(lambda plan: [plan.new_object("v1", "ConfigMap", data=float("nan"))]), NOT_PLAIN),
        (built(lambda plan: [{"kind": "ConfigMap"}]), returned("an object without apiVersion")),
        (built(lambda plan: [{"apiVersion": "v1", "kind": "X"}]), returned("an object without metadata.name")),
        (
            built(lambda plan: [plan.new_object("v1", "ConfigMap", "shared")]),
            ("TF904", "plugin acme adds ConfigMap/shared, which is not named after the job"),
        ),
        ({"applies": lambda self, plan: None, "check": print}, returned("None " + BOOL)),
        (
            {"pre_build_sync": lambda self, plan: [{}]},
            returned("a value of type list from pre_build_sync, which returns nothing"),
        ),
        (
            {"check": lambda self, plan: plan.objects[0]["spec"].update(suspend=True)},
            ("TF902", "plugin acme edited JobSet/one at spec.suspend in check, after they were checked"),
        ),
        (
            {"check": lambda self, plan: plan.objects.clear()},
            ("TF902", "plugin acme edited the list of finished objects in check, after they were checked"),
        ),
        (
            {"enforce_pod_spec": lambda self, plan: plan.metadata.clear()},
            ("TF901", "plugin acme broke the job in enforce_pod_spec: KeyError('name')"),
        ),
        (
            {"enforce_pod_spec": lambda self, plan: plan.trainer_pod_set.pod_spec.update(tolerations={1})},
            ("TF901", "plugin acme broke the job in enforce_pod_spec: KeyError(<class 'set'>)"),
        ),
    ],
)  # fmt: skip
def test_a_fault_is_told_as_the_plugins(methods, problem):
    result = compile_with(guest(**methods), jobs=("one",))
    (error,) = errors(result)
    assert (error.code, error.message.partition(" (")[0]) == problem or (error.code, error.message) == problem
    assert error.plugin == "acme"
    assert error.file == "<stdin>"
    assert [failure.plugin for failure in result.failures] == ["acme"]
    assert result.jobs[0].objects == []


def test_an_error_that_a_plugin_causes_names_it_and_one_of_the_user_does_not():
    plugin = guest(
        enforce_pod_spec=lambda self, plan: plan.trainer_pod_set.pod_spec.update(priorityClassName="Not Valid")
    )
    result = compile_with(plugin, jobs=("one",))
    (error,) = errors(result)
    assert error.message.startswith("plugin acme causes this in enforce_pod_spec: ")
    users = runtime("rt", replicated_job(pod={"priorityClassName": "Not Valid"}))
    result = compiled(job("one"), users, plugins=(*load_plugins(), guest(validate=lambda self, plan: None)))
    assert errors(result)
    assert not any("acme" in error.message for error in errors(result))


def config_map(name="a"):
    return guest(name, build=lambda self, plan: [plan.new_object("v1", "ConfigMap", data={"by": name})])


def test_two_plugins_that_add_one_object_are_both_named():
    result = compile_with(config_map("a"), config_map("b"), jobs=("one",))
    assert told(result) == [("TF905", "plugins a and b both add ConfigMap/one")]
    assert result.failures == []


def test_a_plugin_that_adds_what_trainform_builds_is_named_with_its_builder():
    plugin = guest(build=lambda self, plan: [plan.new_object("jobset.x-k8s.io/v1alpha2", "JobSet", spec={})])
    assert told(compile_with(plugin, jobs=("one",))) == [("TF905", "plugins jobset and acme both add JobSet/one")]


@pytest.mark.parametrize(
    ("api_version", "kind", "metadata", "namespace"),
    [
        ("v1", "ConfigMap", {}, "ml"),
        ("v1", "ConfigMap", {"namespace": "other"}, "other"),
        ("acme.example/v1", "Budget", {}, "ml"),
        ("acme.example/v1", "ClusterBudget", {"namespace": None}, None),
        ("scheduling.k8s.io/v1", "PriorityClass", {}, None),
        ("scheduling.k8s.io/v1", "PriorityClass", {"namespace": "ml"}, None),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", {}, None),
        ("kueue.x-k8s.io/v1beta2", "ResourceFlavor", {}, None),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", {}, "ml"),
    ],
)
def test_an_object_without_a_namespace_gets_the_jobs_unless_its_kind_has_none(api_version, kind, metadata, namespace):
    def build(self, plan):
        return [{"apiVersion": api_version, "kind": kind, "metadata": {"name": plan.name, **metadata}}]

    result = compile_with(guest(build=build), jobs=("one",))
    assert errors(result) == []
    (added,) = [tree for tree in result.jobs[0].objects if tree["kind"] == kind]
    assert added["metadata"].get("namespace") == namespace


def test_our_own_plugins_keep_the_rules_as_well(monkeypatch):
    """They are not watched in production, as they are tested: here they are, over a job that uses several."""
    monkeypatch.setattr("trainform.core.pipeline.is_shipped", lambda name: False)
    gang = {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "prod"},
            "spec": {"scheduling": {"gang": {"scheduler": "volcano"}}}}  # fmt: skip
    given = job("one", "torch-distributed", trainer={"image": "example/img:1", "numNodes": 2})
    for environment in ((), (gang,)):
        result = compiled(given, *environment)
        assert [code for code, _ in told(result) if code.startswith("TF9")] == []
        assert jobset(result)["metadata"]["name"] == "one"
