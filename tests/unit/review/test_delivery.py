"""What each engine makes of a change, with the bootstrap that `init` writes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainform.core.gitops import FLUX_PRUNE, SYNC_OPTIONS
from trainform.review.diff.delivery import FLUX_SSA, pruning
from trainform.review.diff.grouping import consequence
from trainform.review.diff.model import Diff, JobDiff, diff_job
from trainform.review.diff.wording import headline

JOB = ("prod", "ml", "llm")
QUEUED = {"kueue.x-k8s.io/queue-name": "team-a"}
ZONE = {"zone": "a"}
CLAIM = {"templates": [{"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}


def jobset(name="llm", labels=None, annotations=None, suspend=None, image="i:1", claims=None, **pod):
    step = {"name": "node", "template": {"spec": {"template": {"spec": {"containers": [_node(image)], **pod}}}}}
    spec = {"replicatedJobs": [step], **({} if suspend is None else {"suspend": suspend})}
    spec |= {"volumeClaimPolicies": claims} if claims else {}
    metadata = {"name": name, "namespace": "ml", "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def _node(image):
    return {"name": "node", "image": image}


def gang(members=2):
    metadata = {"name": "llm", "namespace": "ml"}
    version = "scheduling.x-k8s.io/v1alpha1"
    return {"apiVersion": version, "kind": "PodGroup", "metadata": metadata, "spec": {"minMember": members}}


def changed(before, after, engine="none") -> JobDiff:
    found = diff_job(JOB, before, after, engine=engine)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("engine", "before", "after", "change"),
    [
        ("argocd", {}, {"nodeSelector": ZONE}, "needs-suspend"),
        ("flux", {}, {"nodeSelector": ZONE}, "needs-suspend"),
        ("none", {"suspend": True}, {"labels": QUEUED}, "needs-suspend"),
        ("none", {"suspend": True}, {"labels": QUEUED, "suspend": True}, "in-place"),
        ("none", {}, {"labels": QUEUED, "suspend": True}, "needs-suspend"),
        ("none", {"suspend": True}, {"nodeSelector": ZONE}, "in-place"),
        ("argocd", {"suspend": True}, {}, "in-place"),
        ("flux", {"suspend": True}, {}, "in-place"),
        ("none", {"labels": QUEUED}, {"labels": QUEUED, "nodeSelector": ZONE}, "needs-suspend"),
        ("argocd", {"labels": QUEUED}, {"labels": QUEUED, "nodeSelector": ZONE}, "restart"),
        ("argocd", {"labels": QUEUED}, {"labels": QUEUED, "tolerations": [{"operator": "Exists"}]}, "restart"),
        ("argocd", {"labels": QUEUED}, {"labels": {**QUEUED, "team": "a"}}, "in-place"),
        ("argocd", {"labels": QUEUED}, {"labels": QUEUED, "image": "i:2"}, "restart"),
        ("flux", {"labels": QUEUED}, {"labels": {**QUEUED, "team": "a"}}, "restart"),
        ("argocd", {"claims": [CLAIM]}, {}, "restart"),
        ("argocd", {}, {"claims": [CLAIM]}, "in-place"),
        ("none", {"claims": [CLAIM]}, {}, "in-place"),
        ("flux", {}, {"labels": {"team": "a"}}, "in-place"),
        ("flux", {}, {"labels": {"team": "a"}, "annotations": {FLUX_SSA: "IfNotPresent"}}, "restart"),
        ("flux", {"labels": QUEUED}, {"labels": QUEUED, "suspend": True}, "in-place"),
    ],
)
def test_the_class_is_what_the_engine_does(engine, before, after, change):
    assert changed([jobset(**before)], [jobset(**after)], engine).change == change


@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_what_an_engine_leaves_alone_takes_effect_once_the_jobset_is_deleted(engine):
    found = changed([jobset(labels=QUEUED), gang()], [jobset(labels=QUEUED, nodeSelector=ZONE), gang()], engine)
    told = consequence([found])
    assert "takes effect when JobSet llm and PodGroup llm are deleted" in told
    assert {"argocd": "Argo CD", "flux": "Flux"}[engine] in told


def test_suspending_in_a_queue_has_no_effect():
    told = consequence([changed([jobset(labels=QUEUED)], [jobset(labels=QUEUED, suspend=True)], "argocd")])
    assert told == "suspend has no effect, because Kueue decides when pods run"


def test_a_companion_of_a_queued_jobset_changes_in_place():
    queued = jobset(labels=QUEUED)
    assert changed([queued, gang(2)], [queued, gang(3)], "flux").change == "in-place"


def test_advice_to_delete_names_the_pod_group():
    found = changed([jobset(), gang()], [jobset(image="i:2"), gang()])
    assert consequence([found]).endswith("delete JobSet llm and PodGroup llm first, then it starts anew")
    assert "delete their JobSets and PodGroups first" in consequence([found, found])


def test_flux_stops_at_an_update_that_is_refused():
    for after in (jobset(image="i:2"), jobset(nodeSelector=ZONE)):
        told = consequence([changed([jobset()], [after], "flux")])
        assert "Flux applies nothing in namespace ml until then" in told


def test_flux_stops_in_each_namespace_of_a_group():
    one = changed([jobset()], [jobset(image="i:2")], "flux")
    other = replace(one, id=("prod", "nlp", "llm"))
    assert "Flux applies nothing in their namespaces until then" in consequence([one, other])


def test_what_to_delete_is_called_by_its_present_name():
    """Annotations of the engine are no part of a content hash."""
    before = jobset("llm-bcdfghjk", labels=QUEUED)
    after = jobset("llm-bcdfghjk", labels=QUEUED, annotations={FLUX_PRUNE: "disabled"})
    assert "JobSet llm-bcdfghjk is deleted" in consequence([changed([before], [after], "flux")])


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, "automatic"),
        ({FLUX_PRUNE: "disabled"}, "never"),
        ({FLUX_PRUNE: "Disabled"}, "never"),
        ({FLUX_PRUNE: "enabled"}, "automatic"),
        ({SYNC_OPTIONS: "Prune=confirm,Delete=confirm"}, "confirmed"),
        ({SYNC_OPTIONS: " Delete=confirm , prune=Confirm"}, "confirmed"),
        ({SYNC_OPTIONS: "Prune=false"}, "never"),
        ({SYNC_OPTIONS: "Delete=false"}, "automatic"),
    ],
)
def test_pruning_follows_the_annotations_of_the_applied_object(annotations, expected):
    assert pruning(jobset(annotations=annotations)) == expected


def test_a_job_that_nothing_prunes_is_left_running():
    found = changed([jobset(annotations={FLUX_PRUNE: "disabled"})], [], "flux")
    assert (found.change, found.keeps_running) == ("orphan", True)
    assert consequence([found]) == "keeps running until you delete JobSet llm, as nothing prunes it"
    assert headline(Diff([found])) == "1 job left running"


def test_a_job_that_is_pruned_once_it_is_confirmed():
    found = changed([jobset(annotations={SYNC_OPTIONS: "Prune=confirm"})], [], "argocd")
    assert (found.change, found.keeps_running) == ("delete", False)
    assert consequence([found]) == "stopped and removed once you confirm it in Argo CD"


@pytest.mark.parametrize(
    ("annotations", "told", "keeps_running"),
    [
        ({}, "the old one is pruned", False),
        ({FLUX_PRUNE: "disabled"}, "nothing prunes the old one: both run", True),
        ({SYNC_OPTIONS: "Prune=confirm"}, "both run", False),
    ],
)
def test_a_new_name_says_what_becomes_of_the_old_object(annotations, told, keeps_running):
    before = jobset("llm-bcdfghjk", annotations=annotations)
    found = changed([before], [jobset("llm-lmnpqrst", image="i:2", annotations=annotations)])
    assert found.change == "restart"
    assert told in consequence([found])
    assert found.keeps_running is keeps_running
