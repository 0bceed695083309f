"""Change classes, held against what the real API answered to 50 changes of a JobSet."""

from __future__ import annotations

import copy
import gzip
import json
import re
from pathlib import Path

import pytest

from trainform.review.diff.compare import FieldChange, compare
from trainform.review.diff.update_rules import Rule, class_of, is_suspended, needs_new_run, rule

TRUTH = Path(__file__).parents[2] / "conformance" / "truth" / "jobset-updates.json.gz"
TABLE = json.loads(gzip.decompress(TRUTH.read_bytes()))
BASE = TABLE["base"]
STATES = {
    "running": (False, False),
    "suspended": (True, True),
    "resuming": (True, False),
    "suspending": (False, True),
}


def changed(field, value):
    """The base with one field set, or removed where `value` is None."""
    tree = copy.deepcopy(BASE)
    *above, last = parts(field)
    place = tree
    for part in above:
        place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return tree


def parts(field):
    """`a.b[0].nvidia.com/gpu` as keys and indexes."""
    field = field.replace("nvidia.com/gpu", "nvidia\0com/gpu")
    found = re.findall(r"\[(\d+)\]|([^.\[\]]+)", field)
    return [int(index) if index else name.replace("\0", ".") for index, name in found]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("case", TABLE["changes"], ids=lambda case: f"{case['field']}={case['to']}"[:90])
def test_the_api_takes_or_refuses_what_we_say(case, state):
    rules = [rule(BASE, each) for each in compare(BASE, changed(case["field"], case["to"]))]
    was, now = STATES[state]
    assert (class_of(rules, suspended=was or now) == "in-place") is case[state]


def test_the_whole_table_is_there():
    assert len(TABLE["changes"]) == 50


QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"


@pytest.mark.parametrize(
    ("label", "before", "after", "expected"),
    [
        (QUEUE, "a", "b", Rule.STAYS_SUSPENDED),
        (QUEUE, None, "b", Rule.STAYS_SUSPENDED),
        ("kueue.x-k8s.io/max-exec-time-seconds", "60", None, Rule.STAYS_SUSPENDED),
        ("kueue.x-k8s.io/prebuilt-workload-name", "a", "b", Rule.STAYS_SUSPENDED),
        (PRIORITY, "low", "high", Rule.ANYTIME),
        (PRIORITY, None, "high", Rule.STAYS_SUSPENDED),
        (PRIORITY, "low", None, Rule.NEVER),
        ("team", "a", "b", Rule.ANYTIME),
    ],
)
def test_labels_of_kueue(label, before, after, expected):
    change = FieldChange(("metadata", "labels", label), label, before, after)
    assert rule({"kind": "JobSet"}, change) is expected


POD = "spec.replicatedJobs[{}].template.spec.template"
JOB = "spec.replicatedJobs[{}].template"


@pytest.mark.parametrize(
    ("field", "to", "expected"),
    [
        (POD.format(0) + ".metadata", {"labels": {"p": "1"}}, Rule.SUSPENDED),
        (POD.format(0) + ".metadata", {"annotations": {"p": "1"}, "labels": {"p": "1"}}, Rule.SUSPENDED),
        (POD.format(0) + ".metadata", {"labels": {"p": "1"}, "name": "p"}, Rule.NEVER),
        (POD.format(1) + ".metadata", None, Rule.SUSPENDED),
        (POD.format(0) + ".metadata", {}, None),
        (POD.format(0) + ".spec.nodeSelector", {"n": "1"}, Rule.SUSPENDED),
        (POD.format(0) + ".spec.tolerations", [{"key": "k", "operator": "Exists"}], Rule.SUSPENDED),
        (POD.format(0) + ".spec.schedulingGates", [{"name": "g/g"}], Rule.SUSPENDED),
        (POD.format(0) + ".spec.containers[0].resources", {}, None),
        (POD.format(0) + ".spec.containers[0].resources", {"limits": {"cpu": "1"}}, Rule.NEVER),
        (POD.format(0) + ".spec.containers[0].args", [], None),
        (POD.format(0) + ".spec.hostNetwork", False, None),
        (POD.format(0) + ".spec.securityContext", {}, Rule.NEVER),
        (POD.format(0) + ".spec.resources", {}, Rule.NEVER),
        (JOB.format(0) + ".metadata", {"labels": {"j": "1"}}, Rule.NEVER),
        (JOB.format(0) + ".metadata", {}, None),
        (JOB.format(1) + ".metadata", None, Rule.NEVER),
    ],
)
def test_what_comes_where_nothing_stood_is_judged_by_what_is_in_it(field, to, expected):
    """Go has no absent metadata or resources: the webhook compares what is in them."""
    rules = [rule(BASE, each) for each in compare(BASE, changed(field, to))]
    assert max(rules, default=None) is expected


def test_the_status_that_admission_adds_to_claims_is_no_change():
    claims = [{"templates": [{"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}]
    stored = copy.deepcopy(claims)
    stored[0]["templates"][0]["status"] = {}
    before, after = changed("spec.volumeClaimPolicies", stored), changed("spec.volumeClaimPolicies", claims)
    assert compare(before, after) == compare(after, before) == []


@pytest.mark.parametrize(
    ("field", "to"),
    [
        ("spec.coordinator", {"replicatedJob": "init"}),
        ("spec.coordinator", None),
    ],
)
def test_a_coordinator_may_also_change_and_go(field, to):
    before = changed(field, {"replicatedJob": "node"})
    after = {**before, "spec": {**before["spec"], "coordinator": to}}
    assert [rule(before, each) for each in compare(before, after)] == [Rule.ANYTIME]


@pytest.mark.parametrize(
    "policy", ["network", "successPolicy", "failurePolicy", "startupPolicy", "volumeClaimPolicies"]
)
def test_a_policy_may_come_and_go_but_not_change(policy):
    def ruled(before, after, *below):
        return rule({"kind": "JobSet"}, FieldChange(("spec", policy, *below), "", before, after))

    assert ruled(None, {"a": 1}) is Rule.ANYTIME
    assert ruled({"a": 1}, None) is Rule.ANYTIME
    assert ruled({"a": 1}, {"b": 1}) is Rule.NEVER
    for before, after in ((1, 2), (None, 2), (1, None)):
        assert ruled(before, after, "a") is Rule.NEVER


@pytest.mark.parametrize("field", ["managedBy", "replicatedJobs", "aFieldOfTomorrow"])
def test_any_other_field_of_the_spec_neither_changes_nor_comes_nor_goes(field):
    for before, after in ((None, "b"), ("a", None), ("a", "b")):
        assert rule({"kind": "JobSet"}, FieldChange(("spec", field), field, before, after)) is Rule.NEVER


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (("metadata", "labels", "a"), Rule.SUSPENDED),
        (("metadata", "annotations", "a"), Rule.SUSPENDED),
        (("spec", "nodeSelector", "a"), Rule.SUSPENDED),
        (("spec", "tolerations"), Rule.SUSPENDED),
        (("spec", "schedulingGates"), Rule.SUSPENDED),
        (("metadata", "name"), Rule.NEVER),
        (("spec", "nodeName"), Rule.NEVER),
        (("spec", "containers", 0, "image"), Rule.NEVER),
    ],
)
def test_five_fields_of_pods_change_while_the_jobset_is_suspended(field, expected):
    path = ("spec", "replicatedJobs", 0, "template", "spec", "template", *field)
    assert rule({"kind": "JobSet"}, FieldChange(path, "", "a", "b")) is expected


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
@pytest.mark.parametrize(
    ("immutable", "path", "expected"),
    [
        (True, ("data", "a"), Rule.NEVER),
        (True, ("binaryData", "a"), Rule.NEVER),
        (True, ("immutable",), Rule.NEVER),
        (True, ("metadata", "labels", "a"), Rule.ANYTIME),
        (False, ("data", "a"), Rule.ANYTIME),
        (None, ("data", "a"), Rule.ANYTIME),
    ],
)
def test_an_immutable_object_changes_only_its_metadata(kind, immutable, path, expected):
    before = {"kind": kind, "immutable": immutable}
    assert rule(before, FieldChange(path, "", "a", "b")) is expected


@pytest.mark.parametrize("field", ["suspend", "ttlSecondsAfterFinished", "coordinator"])
def test_three_fields_of_the_spec_change_at_any_time(field):
    for before, after in ((None, "b"), ("a", None), ("a", "b")):
        assert rule({"kind": "JobSet"}, FieldChange(("spec", field), field, before, after)) is Rule.ANYTIME


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        ("PodGroup", ("spec", "minMember"), Rule.ANYTIME),
        ("ConfigMap", ("data", "hostfile"), Rule.ANYTIME),
        ("PersistentVolumeClaim", ("spec", "resources", "requests", "storage"), Rule.ANYTIME),
        ("PersistentVolumeClaim", ("spec", "storageClassName"), Rule.NEVER),
        ("RoleBinding", ("roleRef", "name"), Rule.NEVER),
        ("RoleBinding", ("subjects",), Rule.ANYTIME),
        ("Secret", ("type",), Rule.NEVER),
        ("SomethingElse", ("spec", "anything"), Rule.ANYTIME),
    ],
)
def test_other_kinds(kind, path, expected):
    assert rule({"kind": kind}, FieldChange(path, "", "a", "b")) is expected


def test_an_immutable_config_map_never_changes():
    change = FieldChange(("data", "hostfile"), "", "a", "b")
    assert rule({"kind": "ConfigMap", "immutable": True}, change) is Rule.NEVER


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        ("ConfigMap", ("data", "hostfile"), True),
        ("ConfigMap", ("binaryData", "hostfile"), True),
        ("ConfigMap", ("metadata", "labels", "a"), False),
        ("PodGroup", ("spec", "minMember"), False),
        ("JobSet", ("metadata", "annotations", "trainform.dev/rerun"), True),
        ("JobSet", ("metadata", "annotations", "other"), False),
    ],
)
def test_what_the_api_takes_and_only_a_new_run_heeds(kind, path, expected):
    assert needs_new_run(kind, path) is expected


@pytest.mark.parametrize(
    ("rules", "state", "expected"),
    [
        ([], "running", "in-place"),
        ([Rule.ANYTIME], "running", "in-place"),
        ([Rule.ANYTIME, Rule.SUSPENDED], "running", "needs-suspend"),
        ([Rule.SUSPENDED], "resuming", "in-place"),
        ([Rule.SUSPENDED], "suspended", "in-place"),
        ([Rule.STAYS_SUSPENDED], "running", "needs-suspend"),
        ([Rule.STAYS_SUSPENDED], "resuming", "needs-suspend"),
        ([Rule.STAYS_SUSPENDED], "suspending", "needs-suspend"),
        ([Rule.STAYS_SUSPENDED], "suspended", "in-place"),
        ([Rule.SUSPENDED, Rule.NEVER], "suspended", "restart"),
    ],
)
def test_the_gravest_field_decides(rules, state, expected):
    was, now = STATES[state]
    assert class_of(rules, suspended=was or now, throughout=was and now) == expected


def test_with_a_queue_it_is_not_git_that_says_what_is_suspended():
    jobset = {"metadata": {"labels": {}}, "spec": {"suspend": True}}
    assert is_suspended(jobset)
    assert not is_suspended({**jobset, "metadata": {"labels": {QUEUE: "team-a"}}})
    assert not is_suspended({**jobset, "spec": {}})
