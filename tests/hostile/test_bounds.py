"""No input up to the size limit takes more than ten seconds of two processors, or 500 MB. Each of these once took
minutes, or gigabytes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from support.bounded import trainform
from trainform.api.selectors import matches_path
from trainform.core.patches.regex import RegexError, compile_regex
from trainform.source.templates.load import load_template

JOB: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "llm", "namespace": "ml"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 1}},
}


def stream(documents: Iterable[object]) -> str:
    return "\n---\n".join(map(json.dumps, documents))


def job(name: str = "llm", runtime: str = "torch-distributed", **trainer: Any) -> dict[str, Any]:
    spec = {"runtimeRef": {"name": runtime}, "trainer": {"numNodes": 1, **trainer}}
    return {**JOB, "metadata": {"name": name, "namespace": "ml"}, "spec": spec}


def numbered(stem: str, count: int) -> dict[str, Any]:
    return dict.fromkeys((f"{stem}{number}" for number in range(count)), 1)


def pod_patch(pod: dict[str, Any]) -> dict[str, Any]:
    """A job with a patch of its pods."""
    spec = {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]}
    patch = {"manager": "example.com/me", "trainingRuntimeSpec": {"template": {"spec": spec}}}
    return {**JOB, "spec": {**JOB["spec"], "runtimePatches": [patch]}}


def environment(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "e"}, "spec": spec}


def runtime(name: str) -> dict[str, Any]:
    head = {"apiVersion": JOB["apiVersion"], "kind": "ClusterTrainingRuntime", "metadata": {"name": name}}
    return {**head, "spec": {"template": {"spec": {"replicatedJobs": []}}}}


def limited(count: int) -> dict[str, Any]:
    """A replicated job with many resources, none of them valid."""
    container = {"name": "node", "image": "example/img:1", "resources": {"limits": numbered("cpu", count)}}
    head = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    return {"name": "node", "template": {"metadata": head, "spec": {"template": {"spec": {"containers": [container]}}}}}


def local_queue(number: int) -> dict[str, Any]:
    head = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue"}
    spec = {"clusterQueue": f"missing-{number}"}
    return {**head, "metadata": {"name": f"q{number}", "namespace": "ml"}, "spec": spec}


def limit_range(number: int) -> dict[str, Any]:
    item = {"type": "Container", "max": {"cpu": 100}}
    head = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": f"l{number}", "namespace": "ml"}}
    return {**head, "spec": {"limits": [item]}}


def quota(count: int) -> dict[str, Any]:
    head = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ml"}}
    return {**head, "spec": {"hard": numbered("requests.example.com/r", count)}}


def named(number: int) -> dict[str, Any]:
    return job(f"j{number}")


AMOUNTS = b"have more than 300 amounts up to here"


def cohort(number: int) -> dict[str, Any]:
    head = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Cohort", "metadata": {"name": f"c{number}"}}
    return {**head, "spec": {"parent": f"c{number + 1}"}}


def json_patch(path: str, count: int) -> str:
    first = {"op": "add", "path": "/metadata/labels", "value": {}}
    more = ({"op": "add", "path": path.format(number), "value": "x"} for number in range(count))
    patch = {"target": {"kind": "JobSet"}, "patch": json.dumps([first, *more])}
    return stream([environment(patches=[patch]), JOB])


ALIASES = "a: &a [{}]\nb: &b [{}]\nc: [{}]\n".format("x," * 100, "*a," * 100, "*b," * 90)
"""A document that expands to 900,000 nodes."""


def config_map(keys: int) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": numbered_text("key", keys)}


def numbered_text(stem: str, count: int) -> dict[str, str]:
    return dict.fromkeys((f"{stem}{number}" for number in range(count)), "")


def mounting(items: int) -> dict[str, Any]:
    """A job that mounts keys of a ConfigMap, which lacks them."""
    wanted = [{"key": f"kye{number}", "path": f"p{number}"} for number in range(items)]
    node = {"name": "node", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    return pod_patch({"volumes": [{"name": "v", "configMap": {"name": "c", "items": wanted}}], "containers": [node]})


def reading(containers: int) -> dict[str, Any]:
    """A runtime whose containers have as many variables as they may, each from another ConfigMap."""
    images = ({"name": f"c{number}", "image": "example/img:1"} for number in range(containers))
    pods = {"initContainers": [{**each, "env": [*map(variable, range(128))]} for each in images]}
    step = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    pods["containers"] = [{"name": "node", "image": "example/img:1"}]
    replicated = {"name": "node", "template": {"metadata": step, "spec": {"template": {"spec": pods}}}}
    return {**runtime("r"), "spec": {"template": {"spec": {"replicatedJobs": [replicated]}}}}


def variable(number: int) -> dict[str, Any]:
    return {"name": f"A{number}", "valueFrom": {"configMapKeyRef": {"name": f"cnofig-{number}", "key": "a"}}}


def listing(names: int) -> dict[str, Any]:
    listed = {"kind": "ConfigMap", "namespace": "ml", "names": [f"config-{number}" for number in range(names)]}
    return environment(cluster={"objects": [listed]})


INPUTS = {
    "keys that a ConfigMap of many lacks": (
        stream([mounting(items=10_000), config_map(60_000)]),
        b"ConfigMap c lacks 9980 more keys",
    ),
    "keys that are nearly those of a ConfigMap": (
        stream([mounting(items=10_000), config_map(900)]),
        b"ConfigMap c lacks 9980 more keys",
    ),
    "objects that are not listed, but nearly": (
        stream([listing(900), reading(60), job(runtime="r")]),
        b"namespace ml has no ConfigMap 'cnofig-",
    ),
    "objects that are not here, but nearly": (
        stream(
            [
                reading(60),
                job(runtime="r"),
                *({**config_map(1), "metadata": {"name": f"config-{n}"}} for n in range(900)),
            ]
        ),
        b"nothing here provides ConfigMap",
    ),
    "unknown fields of a job": (stream([job(**numbered("numNodes", 100_000))]), b"and 99,900 more unknown fields"),
    "unknown fields of a pod": (stream([pod_patch(numbered("volume", 100_000))]), b"and 99,900 more unknown fields"),
    "an unknown field in each of many entries": (
        stream([job(env=[{"name": f"A{number}", "valeu": "x"} for number in range(100_000)])]),
        b"and 1 more problem\n",
    ),
    "jobs in a stream": (stream(job(f"j{number}") for number in range(50_000)), b"more than 20,000 documents"),
    "documents without content": ("---\n" * 1_000_000, b"more than 20,000 documents"),
    "jobs of one name": (stream(job() for _ in range(9_000)), b"more problems\n"),
    "mistyped runtimes among many": (
        stream([*(job(f"j{n}", f"torhc-{n}") for n in range(4_900)), *(runtime(f"torch-{n}") for n in range(4_900))]),
        b"available: torch-0",
    ),
    "undeclared queues among many": (stream(map(local_queue, range(9_900))), b"and 8900 more problems"),
    "a chain of cohorts": (stream(map(cohort, range(9_900))), b"no problems in 9900 documents"),
    "ambiguous values in a List": (
        "kind: List\napiVersion: v1\nitems:\n"
        + "".join(
            f"- {{apiVersion: {JOB['apiVersion']}, kind: TrainJob, spec: {{runtimeRef: {{name: torch-distributed}}}},"
            f" metadata: {{name: j{number}, labels: {{a: 2020-01-01}}}}}}\n"
            for number in range(9_900)
        ),
        b"9900 warnings",
    ),
    "duplicate keys in a List": (
        "kind: List\napiVersion: v1\nitems:\n" + "- {apiVersion: v1, kind: Secret, x: 1, x: 2}\n" * 9_900,
        b"9900 errors",
    ),
    "aliases in many documents": ("---\n".join([ALIASES] * 100), b"expand to more nodes than a file may have"),
    "a long list": ("[" + "a," * 8_000_000 + "a]", b"more than 500,000 keys and values"),
    "a number with underscores": (f"a: 1{'_' * 100_000}x\n", b"2 errors"),
    "a number with digits and underscores": (f"a: {'1_' * 100_000}:x\n", b"2 errors"),
    "a number of a million digits": (f"{{a: {'9' * 1_000_000}, b: 1e{'9' * 1_000_000}}}\n", b"2 errors"),
    "an exponent beyond all bounds": (
        stream([job(resourcesPerNode={"limits": {"cpu": "1e999999999", "memory": "9" * 500_000}})]),
        b"is not a quantity",
    ),
    "a target's regular expression": (
        stream([environment(patches=[{"target": {"kind": f"({'(a|a)*' * 30}|JobSet)*b"}, "patch": "{a: b}"}]), JOB]),
        b"matches nothing in any job",
    ),
    "resources that no pod may have": (
        stream(
            [{**runtime("r"), "spec": {"template": {"spec": {"replicatedJobs": [limited(20_000)]}}}}, job(runtime="r")]
        ),
        b"1001 errors",
    ),
    "patches for many jobs": (
        stream(
            [
                environment(
                    patches=[{"target": {"kind": "JobSet", "name": f"j{n}"}, "patch": "{a: b}"} for n in range(9_000)]
                ),
                *(job(f"j{number}") for number in range(2_000)),
            ]
        ),
        b"has 9,000 entries, and each job is held against all",
    ),
    "limits for many jobs": (
        stream([environment(), *map(limit_range, range(4_000)), *map(named, range(2_000))]),
        AMOUNTS,
    ),
    "quotas for many jobs": (stream([environment(), quota(50_000), *map(named, range(2_000))]), AMOUNTS),
    "conditions for many jobs": (
        stream(
            [
                environment(
                    jobs={
                        "selector": {
                            "matchLabels": dict.fromkeys((f"l{n}" for n in range(50_000)), "x"),
                            "matchExpressions": [
                                {"key": "team", "operator": "NotIn", "values": [*map(str, range(50_000))]}
                            ],
                        }
                    }
                ),
                *(job(f"j{number}") for number in range(2_000)),
            ]
        ),
        b"has 50,001 entries, and each job is held against all",
    ),
    "additions to a mapping": (json_patch("/metadata/labels/a{}", 50_000), b"too large for the object"),
    "a deep text": ("a: " + "[" * 5_000_000, b"nested"),
}


@pytest.mark.parametrize(("given", "told"), INPUTS.values(), ids=INPUTS)
def test_a_stream_is_read_in_bounds(given, told):
    taken = trainform("validate", "-", stdin=given)
    assert taken.code in (0, 2), taken.err[-500:]
    assert told in taken.out
    assert taken.is_bounded, taken[-2:]


def test_a_stream_of_many_jobs_is_rendered_without_keeping_them():
    jobs = stream(job(f"j{number}") for number in range(5_000))
    few, many = (trainform("render", "-", stdin=given) for given in (jobs[: len(jobs) // 10], jobs))
    assert (many.code, many.out.count(b"kind: JobSet")) == (0, 5_000)
    assert many.megabytes < few.megabytes + 60, "what is left of a job takes 10 kB, what it was compiled to 20 kB"


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "github"])
def test_many_problems_of_many_documents_are_printed_in_bounds(form):
    documents = [job(f"j{number}", **numbered("numNodes", 300)) for number in range(150)]
    taken = trainform("validate", "-", "--format", form, stdin=stream(documents))
    assert taken.code == 2
    if form == "junit":  # holds what a terminal shows
        assert b"more problems\n" in taken.out
    else:
        assert taken.out.count(b"and 200 more unknown fields") == 150
    assert taken.is_bounded, taken[-2:]


def test_a_functions_configuration_is_read_in_bounds():
    data = {
        "values.x": ALIASES + ALIASES.replace("a:", "d:").replace("b:", "e:").replace("c:", "f:"),
        "a." * 100_000: "1",
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}
    given = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [], "functionConfig": config}
    taken = trainform("krm", stdin=json.dumps(given))
    assert taken.code == 2
    assert taken.is_bounded, taken[-2:]


def test_the_items_of_a_function_are_read_in_bounds():
    items = [job(f"j{number}") for number in range(50_000)]
    given = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
    taken = trainform("krm", stdin=json.dumps(given))
    assert (taken.code, b"more than 10,000 items" in taken.err) == (2, True)
    assert taken.is_bounded, taken[-2:]


DOUBLED = '{% set a = ["xxxxxxxxxxxxxxxx"] %}' + "{% set a = [a, a] %}" * 24
"""A list that takes a gigabyte to print."""

TEMPLATES = {
    "as a key": (DOUBLED + "{{ env[a] }}", "a list cannot be a key"),
    "as a key of a literal": (DOUBLED + "{{ {'b': 1}[a] }}", "a list cannot be a key"),
    "as an index": (DOUBLED + "{{ [1][a] }}", "a list cannot be a key"),
    "as an operand": (DOUBLED + "{{ a + 1 }}", "can only concatenate list"),
    "joined": (DOUBLED + "{{ a ~ a }}", "1,000,000 steps"),
    "compared": (DOUBLED + "{{ a == a }}", "1,000,000 steps"),
    "repeated": ("{{ ([1] * 30000000) | length }}", "1,000,000 steps"),
    "a name of a megabyte": ("{{ env[('y' * 2000000)] }}", "is not set"),
}


@pytest.mark.parametrize(("template", "told"), TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_cannot_print_more_than_its_budget(template, told):
    (problem, *_) = load_template(template, "jobs/a.yaml.j2", {}).diagnostics
    assert told in problem.message
    assert len(problem.message) < 1_000


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("trainer|launcher", ["trainer", "launcher"], ["trainers", "", "train"]),
        ("worker-.*", ["worker-", "worker-1"], ["a-worker-1"]),
        ("^llm-[0-9]{2,3}$", ["llm-12", "llm-123"], ["llm-1", "llm-1234"]),
        ("(?i)JobSet", ["jobset", "JOBSET"], ["job"]),
        (r"a\.b+?|[^x-z]", ["a.bb", "c"], ["aXb", "y"]),
        ("(?:a(b|c)?)*", ["", "abaca"], ["b"]),
        ("[[:alpha:]_]+", ["ab_"], ["a1"]),
        ("(a+)+b", ["aab"], ["a" * 253]),
        ("(.*)*x", ["ax"], ["a" * 253]),
        ("(a|a)*b|(a{1,30}){1,9}b", ["ab"], ["a" * 253]),
    ],
)
def test_a_regular_expression_matches_whole_values_in_linear_time(pattern, fitting, others):
    regex = compile_regex(pattern)
    assert [text for text in (*fitting, *others) if regex.fullmatch(text)] == fitting


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a", "a ( is not closed"),
        ("a)", "a ) has no ("),
        ("[a", "a [ is not closed"),
        ("[z-a]", "bad character range"),
        ("*a", "nothing to repeat before *"),
        ("a{2,1}", "from 0 to 1,000 repetitions"),
        ("a{99999999999999}", "from 0 to 1,000 repetitions"),
        ("((a{1000}){1000}){1000}", "more than 1,000 steps"),
        ("(((){1000}){1000}){1000}", "more than 1,000 steps"),
        ("(" * 100_000, "more than 50 deep"),
        (r"(a)\1", r"\1 is not supported"),
        ("(?=a)", "RE2 has no look-around"),
        ("(?<!a)", "RE2 has no look-around"),
        ("(?m)a", "the flag m is not supported"),
    ],
)
def test_what_is_no_regular_expression_is_told(pattern, why):
    with pytest.raises(RegexError) as error:
        compile_regex(pattern)
    assert why in str(error.value)


@pytest.mark.parametrize(
    "pattern", ["a/" * 100_000 + "**", "**/a/" * 20_000, "*a" * 20_000], ids=["folders", "any", "names"]
)
def test_a_path_pattern_is_no_longer_than_a_path(pattern):
    given = stream([environment(jobs={"paths": [pattern]}), JOB])
    taken = trainform("validate", "-", stdin=given)
    assert (taken.code, b"TF151" in taken.out, b"at most 4,096 characters" in taken.out) == (2, True, True)
    assert len(taken.out) < 10_000
    assert taken.is_bounded, taken[-2:]


@pytest.mark.parametrize(
    "value",
    [
        "[b" + ":c" * 30_000 + "&]",
        "[" + "a, " * 20_000 + "&]",
        "b " * 30_000 + "\a",
        "b#" * 30_000 + "\a",
        "b" + " " * 60_000,
    ],
    ids=["colons", "entries", "words", "comments", "spaces"],
)
def test_a_long_line_is_read_in_linear_time(value):
    given = f"{stream([JOB])}\n---\nkind: Notes\na: {value}\n"
    assert trainform("validate", "-", stdin=given).is_bounded


@pytest.mark.parametrize("pattern", ["**/" * 100 + "x", "*a" * 2_000, "*a/" * 300 + "**/*b*c*d"])
def test_a_path_pattern_is_matched_in_linear_time(pattern):
    assert not matches_path([pattern], "/".join(["a" * 200] * 20))
