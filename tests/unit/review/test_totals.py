"""What jobs ask for, summed."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainform.output.emitter import emit
from trainform.review.capacity.amounts import spelled
from trainform.review.diff.totals import Ask, Asks, Totals, ask_of
from trainform.source import load

GOLDEN = Path(__file__).parents[3] / "golden"


def jobset(name="llm", gpus=8, image="i:1", pods=2, queue="team-a", **pod):
    container = {"name": "node", "image": image, "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    job = {"parallelism": pods, "completions": pods, "template": {"spec": {"containers": [container], **pod}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": "ml", "labels": {"kueue.x-k8s.io/queue-name": queue}},
        "spec": {"replicatedJobs": [{"name": "node", "replicas": 1, "template": {"spec": job}}]},
    }


def test_a_job_asks_for_its_pods_and_what_they_request():
    assert ask_of(jobset(pods=3, gpus=4)) == Ask("team-a", 3, {"nvidia.com/gpu": 12})


@pytest.mark.parametrize(
    ("metadata", "queue"),
    [
        ({"labels": {"kai.scheduler/queue": "research"}}, "research"),
        ({"annotations": {"scheduling.volcano.sh/queue-name": "batch"}}, "batch"),
        ({}, ""),
    ],
)
def test_queues_of_other_schedulers(metadata, queue):
    tree = jobset()
    ask = ask_of({**tree, "metadata": {"name": "llm", **metadata}})
    assert ask is not None
    assert ask.queue == queue


def test_totals_are_those_of_queues_before_and_after():
    totals = Totals()
    totals.add("prod", Ask("a", 1, {"cpu": 1500}), Ask("b", 2, {"cpu": 3000}))
    totals.add("prod", None, Ask("b", 1, {"memory": 1024}))
    nothing = {"jobs": 0, "pods": 0, "resources": {}}
    assert totals.to_json() == {
        "prod": {
            "a": {"before": {"jobs": 1, "pods": 1, "resources": {"cpu": "1500m"}}, "after": nothing},
            "b": {"before": nothing, "after": {"jobs": 2, "pods": 3, "resources": {"cpu": "3", "memory": "1Ki"}}},
        }
    }


def test_devices_come_before_cpu_and_memory():
    totals = Totals()
    totals.add("prod", Ask("", 1, {"memory": 1, "cpu": 1, "nvidia.com/gpu": 1}), None)
    assert totals.resources() == ["nvidia.com/gpu", "cpu", "memory"]


def of(asks, tree):
    return asks.of(emit(tree).encode())


def test_files_that_differ_in_nothing_that_counts_are_parsed_once(monkeypatch):
    asks = Asks()
    expected = of(asks, jobset("a"))
    monkeypatch.delattr("trainform.review.diff.totals.ask_of")
    assert of(asks, jobset("another", image="another:2")) == expected == Ask("team-a", 2, {"nvidia.com/gpu": 16})


@pytest.mark.parametrize(
    "other",
    [
        jobset(gpus=4),
        jobset(pods=3),
        jobset(queue="team-b"),
        jobset(overhead={"nvidia.com/gpu": 1}),
        jobset(initContainers=[{"name": "init", "resources": {"requests": {"nvidia.com/gpu": 64}}}]),
        jobset(initContainers=[{"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": 1}}}]),
    ],
    ids=["gpus", "pods", "queue", "overhead", "init", "sidecar"],
)
def test_files_that_differ_in_what_counts_are_told_apart(other):
    asks = Asks()
    of(asks, jobset())
    assert of(asks, other) == ask_of(other)
    assert of(asks, other) != of(asks, jobset())


@pytest.mark.parametrize("text", ["{kind: JobSet, spec: {}}", "kind: ConfigMap\n", ""])
def test_files_of_others_are_read_as_they_are(text):
    trees = [document.tree for document in load(text, "").documents]
    expected = ask_of(trees[0]) if trees and trees[0]["kind"] == "JobSet" else None
    assert Asks().of(text.encode()) == expected


def test_every_golden_jobset_is_read_right():
    asks = Asks()
    files = sorted(GOLDEN.rglob("jobset-*.yaml"))
    for data in (file.read_bytes() for file in files):
        (document,) = load(data, "").documents
        assert asks.of(data) == ask_of(document.tree)
    assert len(files) > 100


@pytest.mark.parametrize(
    ("resource", "numbers", "expected"),
    [
        ("cpu", (1_000_000_000, 1500), ("1000000", "1.5")),
        ("memory", (1536 * 1024**3, 2 * 1024**4), ("1536Gi", "2048Gi")),
        ("memory", (0, 1024), ("0", "1Ki")),
        ("memory", (0, 0), ("0", "0")),
        ("nvidia.com/gpu", (64_000, 8), ("64000", "8")),
    ],
)
def test_amounts_are_spelled_alike(resource, numbers, expected):
    assert spelled(resource, *numbers) == expected
