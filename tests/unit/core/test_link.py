"""Which runtime a job gets, and what is said when there is none."""

from __future__ import annotations

import pytest

from support.streams import compiled, errors, job, pod_spec, replicated_job, runtime

CLUSTER, NAMESPACED = "ClusterTrainingRuntime", "TrainingRuntime"


def image(result):
    return pod_spec(result)["containers"][0]["image"]


@pytest.mark.parametrize("kind", ["", CLUSTER])
def test_a_cluster_runtime_serves_every_namespace(kind):
    assert image(compiled(runtime(), job(kind=kind, namespace="anywhere"))) == "train:1"


def test_a_namespaced_runtime_serves_its_namespace():
    ours = runtime("rt", replicated_job(image="ours:1"), kind=NAMESPACED, namespace="ml")
    theirs = runtime("rt", replicated_job(image="theirs:1"), kind=NAMESPACED, namespace="nlp")
    assert image(compiled(theirs, ours, job(kind=NAMESPACED))) == "ours:1"


def test_without_a_namespace_both_are_in_default():
    assert image(compiled(runtime(kind=NAMESPACED), job(kind=NAMESPACED, namespace="default"))) == "train:1"
    assert image(compiled(runtime(kind=NAMESPACED), job(kind=NAMESPACED, namespace=""))) == "train:1"


def test_a_shipped_runtime_needs_no_file():
    assert image(compiled(job(runtime="torch-distributed", trainer={}))).startswith("pytorch/pytorch:")


def test_a_runtime_of_the_repository_comes_before_a_shipped_one():
    own = runtime("torch-distributed", replicated_job(image="own:1"))
    assert image(compiled(own, job(runtime="torch-distributed"))) == "own:1"


@pytest.mark.parametrize(
    ("known", "wanted", "message", "hint"),
    [
        (runtime(), job(runtime="rtt"), f"{CLUSTER} 'rtt' not found", 'did you mean "rt"?'),
        (
            runtime(),
            job(runtime="jax-distribute"),
            f"{CLUSTER} 'jax-distribute' not found",
            'did you mean "jax-distributed"?',
        ),
        (
            runtime(),
            job(kind=NAMESPACED),
            f"{NAMESPACED} 'rt' not found in namespace ml",
            f"a {CLUSTER} with this name exists; write runtimeRef: {{kind: {CLUSTER}, name: rt}}",
        ),
        (
            runtime(kind=NAMESPACED, namespace="ml"),
            job(),
            f"{CLUSTER} 'rt' not found",
            f"a {NAMESPACED} with this name exists; write runtimeRef: {{kind: {NAMESPACED}, name: rt}}",
        ),
        (
            runtime(kind=NAMESPACED, namespace="nlp"),
            job(kind=NAMESPACED),
            f"{NAMESPACED} 'rt' not found in namespace ml",
            f"a {NAMESPACED} with this name exists in namespace nlp, but only jobs in that namespace can use it",
        ),
        (
            runtime(kind=NAMESPACED, namespace="nlp"),
            job(),
            f"{CLUSTER} 'rt' not found",
            f"a {NAMESPACED} with this name exists in namespace nlp, but only jobs in that namespace can use it",
        ),
        (
            runtime(),
            job(runtime="torch-distributed", kind=NAMESPACED),
            f"{NAMESPACED} 'torch-distributed' not found in namespace ml",
            f"a shipped {CLUSTER} has this name; write runtimeRef: {{name: torch-distributed}}",
        ),
        (
            runtime("batch", kind=NAMESPACED, namespace="ml"),
            job(runtime="zzz", kind=NAMESPACED),
            f"{NAMESPACED} 'zzz' not found in namespace ml",
            "available: batch",
        ),
        (
            runtime(),
            job(runtime="zzz", kind=NAMESPACED),
            f"{NAMESPACED} 'zzz' not found in namespace ml",
            "add the runtime to runtimes/",
        ),
    ],
)
def test_a_missing_runtime_is_told_with_the_way_out(known, wanted, message, hint):
    (error,) = errors(compiled(known, wanted))
    assert (error.code, error.path) == ("TF201", ("spec", "runtimeRef", "name"))
    assert (error.message, error.hint) == (message, hint)


def test_a_runtime_with_an_error_fails_its_jobs_and_says_where():
    broken = runtime(policy={"numNodes": "four"})
    result = compiled(broken, job("one"), job("two"))
    assert [e.message for e in errors(result) if e.code == "TF206"] == [
        "runtime 'rt' has an error at <stdin>:2: spec.mlPolicy.numNodes: must be an integer, not the string \"four\""
    ] * 2


def test_a_runtime_that_is_defined_twice_fails_its_jobs_whichever_comes_first():
    first, second = runtime("rt", replicated_job(image="a:1")), runtime("rt", replicated_job(image="b:1"))
    for objects in ([first, second, job()], [job(), first, second]):
        assert [error.code for error in errors(compiled(*objects))] == ["TF203", "TF206"]


def test_of_two_jobs_of_one_name_the_second_is_the_error():
    result = compiled(runtime(), job("llm", suspend=True), job("llm"))
    assert [bool(each.objects) for each in result.jobs] == [True, False]
    assert [(e.code, e.message) for e in errors(result)] == [
        ("TF203", "TrainJob ml/llm is defined twice; the first is at <stdin>:4")
    ]
