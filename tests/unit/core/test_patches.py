"""runtimePatches: what managers change in the runtime's template."""

from __future__ import annotations

import pytest

from support.streams import (
    compiled,
    errors,
    job,
    jobset,
    patch,
    pod_patch,
    pod_spec,
    replicated_job,
    runtime,
)

CACHE = replicated_job("cache", "")


def patched(*patches, jobs=(), **pod):
    """A job with patches, on a runtime whose node has `pod` as further fields of its pod spec."""
    base = runtime("rt", replicated_job(pod=pod), *jobs)
    return compiled(base, job(runtimePatches=list(patches)))


def test_managers_patch_one_after_the_other():
    first = patch(pod_patch(nodeSelector={"pool": "a", "zone": "1"}), manager="example.com/a")
    second = patch(pod_patch(nodeSelector={"pool": "b"}), manager="example.com/b")
    assert pod_spec(patched(first, second, nodeSelector={"disk": "ssd"}))["nodeSelector"] == {
        "disk": "ssd",
        "pool": "b",
        "zone": "1",
    }


def test_tolerations_are_replaced_whole():
    result = patched(patch(pod_patch(tolerations=[{"key": "gpu"}])), tolerations=[{"key": "spot"}])
    assert pod_spec(result)["tolerations"] == [{"key": "gpu"}]


@pytest.mark.parametrize("kind", ["labels", "annotations"])
def test_labels_and_annotations_of_the_template_go_on_the_jobset(kind):
    one = patch(metadata={kind: {"a": "1", "b": "1"}}, manager="example.com/a")
    two = patch(metadata={kind: {"b": "2"}}, manager="example.com/b")
    assert jobset(patched(one, two))["metadata"][kind] == {"a": "1", "b": "2"}


def test_replicated_jobs_keep_the_order_of_the_runtime():
    both = patch(pod_patch("cache", nodeSelector={"a": "1"}), pod_patch(nodeSelector={"b": "2"}))
    result = patched(both, jobs=[CACHE])
    assert [each["name"] for each in jobset(result)["spec"]["replicatedJobs"]] == ["node", "cache"]
    assert pod_spec(result)["nodeSelector"] == {"b": "2"}
    assert pod_spec(result, 1)["nodeSelector"] == {"a": "1"}


@pytest.mark.parametrize(
    ("patches", "message", "hint"),
    [
        (
            patch(pod_patch("nodes")),
            "the runtime has no replicated job 'nodes'; the controller would add one without an image",
            'did you mean "node"?',
        ),
        (
            patch(pod_patch("zzz")),
            "the runtime has no replicated job 'zzz'; the controller would add one without an image",
            "the runtime has: node, cache",
        ),
        (
            patch(pod_patch(containers=[{"name": "nod"}])),
            "the runtime has no container 'nod'; the controller would add one without an image",
            'did you mean "node"?',
        ),
        (
            patch(pod_patch(initContainers=[{"name": "warm-up"}])),
            "the runtime has no container 'warm-up'; the controller would add one without an image",
            "the runtime has: none",
        ),
    ],
)
def test_a_patch_adds_no_job_and_no_container(patches, message, hint):
    result = patched(patches, jobs=[CACHE])
    (error,) = errors(result)
    assert (error.code, error.message, error.hint) == ("TFD04", message, hint)
    assert result.jobs[0].deviations == ["D04"]


def test_every_unknown_name_is_told_at_its_place():
    names = [{"name": "a"}, {"name": "node"}, {"name": "b"}]
    result = patched(patch(pod_patch(containers=names), pod_patch("x")))
    assert [error.path[-2:] for error in errors(result)] == [(0, "name"), (2, "name"), (1, "name")]


def test_a_patched_volume_has_one_source():
    volume = {"name": "data", "emptyDir": {}}
    result = patched(patch(pod_patch(volumes=[{"name": "data", "hostPath": {"path": "/d"}}])), volumes=[volume])
    assert pod_spec(result)["volumes"] == [{"name": "data", "hostPath": {"path": "/d"}}]
    assert result.jobs[0].deviations == ["D05"]


def test_a_volume_patched_with_the_same_source_is_no_deviation():
    volume = {"name": "data", "emptyDir": {}}
    result = patched(patch(pod_patch(volumes=[{"name": "data", "emptyDir": {"medium": "Memory"}}])), volumes=[volume])
    assert pod_spec(result)["volumes"] == [{"name": "data", "emptyDir": {"medium": "Memory"}}]
    assert result.jobs[0].deviations == []


def test_entries_that_cannot_be_told_apart_are_an_error():
    result = patched(patch(pod_patch(imagePullSecrets=[{"name": "a"}])), imagePullSecrets=[{}])
    (error,) = errors(result)
    assert (error.code, error.message) == (
        "TF305",
        "cannot be merged into the runtime: needs `name`",
    )
