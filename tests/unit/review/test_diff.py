"""What becomes of a job, from its objects before and after."""

from __future__ import annotations

import pytest

from trainform.review.diff.model import HIDDEN, Diff, JobDiff, Reason, diff_job
from trainform.review.diff.update_rules import Change

JOB = ("prod", "ml", "llm")
HASHED = "llm-bcdfghjk"


def jobset(name="llm", image="i:1", suspend=None, labels=None, **pod):
    container = {"name": "node", "image": image, "env": [{"name": "HOST", "value": f"{name}-node-0-0.{name}"}]}
    step = {"name": "node", "template": {"spec": {"template": {"spec": {"containers": [container], **pod}}}}}
    spec = {"replicatedJobs": [step], **({} if suspend is None else {"suspend": suspend})}
    metadata = {"name": name, "namespace": "ml", **({"labels": labels} if labels else {})}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def other(kind, name="llm", version="v1", **fields):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "ml"}, **fields}


def group(members, name="llm"):
    return other("PodGroup", name, "scheduling.x-k8s.io/v1alpha1", spec={"minMember": members})


def hostfile(text, name="llm-hostfile"):
    return other("ConfigMap", name, data={"hostfile": text})


def changed(before, after, untouched=None) -> JobDiff:
    found = diff_job(JOB, before, after, untouched)
    assert found is not None
    return found


def test_a_job_without_objects_before_is_new():
    found = diff_job(JOB, [], [jobset()])
    assert found is not None
    assert (found.change, found.reasons) == ("new", ())


def test_a_job_without_objects_after_is_deleted():
    assert diff_job(JOB, [jobset()], []) == JobDiff(JOB, "delete")


def test_a_job_that_was_not_and_is_not_is_no_difference():
    assert diff_job(JOB, [], []) is None


def test_what_is_the_same_is_no_difference():
    assert diff_job(JOB, [jobset(), group(2)], [group(2), jobset()]) is None


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ([jobset()], [jobset(labels={"team": "a"})], "in-place"),
        ([jobset()], [jobset(nodeSelector={"zone": "a"})], "needs-suspend"),
        ([jobset()], [jobset(suspend=True, nodeSelector={"zone": "a"})], "in-place"),
        ([jobset(suspend=True)], [jobset(nodeSelector={"zone": "a"})], "in-place"),
        ([jobset()], [jobset(image="i:2")], "restart"),
        ([jobset(), group(2)], [jobset(), group(3)], "in-place"),
        ([jobset(), group(2)], [jobset()], "in-place"),
        ([jobset(), hostfile("a")], [jobset(), hostfile("b")], "restart"),
        ([group(2)], [jobset(), group(2)], "restart"),
    ],
    ids=[
        "a label",
        "a node selector",
        "suspended with the change",
        "resumed with the change",
        "an image",
        "members of a gang",
        "no gang any more",
        "a hostfile",
        "a JobSet where there was none",
    ],
)
def test_the_class_of_a_change(before, after, change):
    assert changed(before, after).change == change


def test_each_field_is_a_reason():
    found = changed([jobset(), group(2)], [jobset(image="i:2"), group(3)])
    path = "spec.replicatedJobs[0].template.spec.template.spec.containers[0].image"
    assert [reason.to_json() for reason in found.reasons] == [
        {
            "object": "JobSet/llm",
            "field": path,
            "before": "i:1",
            "after": "i:2",
            "immutable": True,
            "inherited": False,
        },
        {
            "object": "PodGroup/llm",
            "field": "spec.minMember",
            "before": 2,
            "after": 3,
            "immutable": False,
            "inherited": False,
        },
    ]


def test_an_object_that_comes_is_one_reason():
    (reason,) = changed([jobset()], [jobset(), group(2)]).reasons
    assert (reason.object, reason.field, reason.before, reason.after) == ("PodGroup/llm", "", None, group(2))


def test_groups_of_two_schedulers_are_two_objects():
    volcano = other("PodGroup", version="scheduling.volcano.sh/v1beta1", spec={"minMember": 2})
    found = changed([jobset(), group(2)], [jobset(), volcano])
    assert [(reason.before is None, reason.after is None) for reason in found.reasons] == [(False, True), (True, False)]


def test_under_content_hash_a_change_is_a_new_object():
    found = changed([jobset(HASHED), group(2, HASHED)], [jobset("llm-zzzz9999", "i:2"), group(2, "llm-zzzz9999")])
    assert (found.change, found.new_name) == ("restart", "llm-zzzz9999")
    assert [(each.object, each.field, each.before, each.after) for each in found.reasons] == [
        ("JobSet/llm-zzzz9999", "metadata.name", HASHED, "llm-zzzz9999"),
        (
            "JobSet/llm-zzzz9999",
            "spec.replicatedJobs[0].template.spec.template.spec.containers[0].image",
            "i:1",
            "i:2",
        ),
    ]


def test_names_of_companions_are_told_as_they_are():
    before = [jobset(HASHED), hostfile("a", f"{HASHED}-hostfile")]
    after = [jobset("llm-zzzz9999"), hostfile("b", "llm-zzzz9999-hostfile")]
    assert [reason.object for reason in changed(before, after).reasons][1:] == ["ConfigMap/llm-zzzz9999-hostfile"]


def test_from_stable_names_to_hashed_ones():
    found = changed([jobset()], [jobset(HASHED)])
    assert (found.change, found.new_name, len(found.reasons)) == ("restart", HASHED, 1)


def test_what_an_untouched_job_would_also_get_is_inherited():
    before, after = [jobset()], [jobset(image="i:2", serviceAccountName="trainer")]
    untouched = [jobset(serviceAccountName="trainer")]
    found = changed(before, after, untouched)
    assert [(each.after, each.inherited) for each in found.reasons] == [("i:2", False), ("trainer", True)]


def test_a_new_name_is_inherited_only_with_everything_else():
    before, after = [jobset(HASHED)], [jobset("llm-zzzz9999", "i:2")]
    assert all(each.inherited for each in changed(before, after, after).reasons)
    assert not any(each.inherited for each in changed(before, after).reasons)


@pytest.mark.parametrize("kind", ["Secret", "SealedSecret"])
def test_the_contents_of_secrets_are_not_shown(kind):
    before, after = ([jobset(), other(kind, "llm-keys", data={"key": value})] for value in "ab")
    (reason,) = changed(before, after).reasons
    assert (reason.field, reason.before, reason.after) == ("data.key", HIDDEN, HIDDEN)


def test_a_new_secret_is_not_shown():
    (reason,) = changed([jobset()], [jobset(), other("Secret", "llm-keys", data={"key": "a"})]).reasons
    assert (reason.before, reason.after) == (None, HIDDEN)


def test_the_gravest_comes_first():
    changes: list[Change] = ["behind", "in-place", "new", "needs-suspend", "restart", "delete"]
    diff = Diff([JobDiff(("prod", "ml", change), change) for change in changes])
    diff.sort()
    assert [job.change for job in diff.jobs] == changes[::-1]
    assert list(diff.counts()) == ["delete", "restart", "needs-suspend", "new", "in-place", "behind"]


def test_the_document():
    reason = Reason("ClusterTrainingRuntime/torch", "", "", "a", "b", inherited=True)
    assert Diff([JobDiff(JOB, "behind", (reason,), "jobs/llm.yaml")]).to_json() == {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "DiffResult",
        "jobs": [
            {
                "environment": "prod",
                "namespace": "ml",
                "name": "llm",
                "source": "jobs/llm.yaml",
                "change": "behind",
                "highlights": [],
                "reasons": [
                    {
                        "object": "ClusterTrainingRuntime/torch",
                        "field": "",
                        "before": "a",
                        "after": "b",
                        "immutable": False,
                        "inherited": True,
                    }
                ],
            }
        ],
        "totals": {},
        "notes": [],
    }


@pytest.mark.parametrize(
    "spec", [[], "text", {"replicatedJobs": [{"template": [1]}]}, {"failurePolicy": {"rules": [1]}}]
)
def test_an_object_that_was_edited_into_nonsense_is_compared_as_it_is(spec):
    nonsense = {**jobset(), "spec": spec}
    assert changed([nonsense], [jobset()]).change == "restart"
    assert changed([jobset()], [nonsense]).change == "restart"
