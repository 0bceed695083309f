"""`trainform.compile_stream`: its document, and that nothing which anyone may write makes it raise."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

import trainform
from support.streams import compiled, errors, job, runtime, stream
from trainform import compile_stream
from trainform.installed import load_plugins

GOLDEN = Path(__file__).parents[3] / "golden"
GOOD = stream(runtime(), job(trainer={"numNodes": 2}))

DIAGNOSTIC = {
    "code",
    "severity",
    "message",
    "field",
    "file",
    "line",
    "column",
    "hint",
    "plugin",
    "object",
    "objectField",
    "jobs",
}


def told(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [*result["diagnostics"], *(d for each in result["jobs"] for d in each["diagnostics"])]


def test_the_result_has_the_keys_of_the_contract():
    result = compile_stream(GOOD)
    assert list(result) == ["apiVersion", "kind", "jobs", "diagnostics"]
    assert (result["apiVersion"], result["kind"]) == ("trainform.dev/v1alpha1", "RenderResult")
    (only,) = result["jobs"]
    assert list(only) == ["name", "namespace", "environment", "objects", "diagnostics", "deviations"]
    assert (only["name"], only["namespace"], only["environment"]) == ("llm", "ml", "default")
    assert [tree["kind"] for tree in only["objects"]] == ["JobSet"]
    assert only["deviations"] == []


def test_a_diagnostic_has_the_keys_of_the_contract():
    (error,) = told(compile_stream(stream(job(runtime="nope"))))
    assert error.keys() == DIAGNOSTIC
    assert {key: error[key] for key in ("code", "severity", "field", "file", "line", "plugin", "object")} == {
        "code": "TF201",
        "severity": "error",
        "field": "spec.runtimeRef.name",
        "file": "<stdin>",
        "line": 2,
        "plugin": None,
        "object": None,
    }


def test_the_result_is_plain_data():
    assert json.loads(json.dumps(compile_stream(GOOD))) == compile_stream(GOOD)


def test_jobs_come_in_the_order_of_the_stream():
    result = compile_stream(stream(job("b"), runtime(), job("a")))
    assert [each["name"] for each in result["jobs"]] == ["b", "a"]


def test_a_job_with_an_error_has_no_objects_and_does_not_stop_the_others():
    result = compile_stream(stream(runtime(), job("good"), job("bad", trainer={"numNodes": 0})))
    assert [bool(each["objects"]) for each in result["jobs"]] == [True, False]
    assert result["jobs"][1]["deviations"] == ["D02"]


def test_objects_come_before_the_jobset_that_needs_them():
    gang = runtime(podGroupPolicy={"coscheduling": {}})
    (only,) = compile_stream(stream(gang, job()))["jobs"]
    assert [tree["kind"] for tree in only["objects"]] == ["PodGroup", "JobSet"]


def test_the_same_text_gives_the_same_result_twice():
    assert compile_stream(GOOD) == compile_stream(GOOD)


class Cost(trainform.Plugin):
    """A plugin as anybody may write it: one label on every pod."""

    name = "cost"

    def enforce_pod_spec(self, plan) -> None:
        plan.label_pods("example.com/cost-center", "4711")


def test_a_third_party_plugin_has_its_say(monkeypatch):
    monkeypatch.setattr("trainform.stream.load_plugins", lambda: (*load_plugins(), Cost()))
    (only,) = compile_stream(GOOD)["jobs"]
    pod = only["objects"][0]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert pod["metadata"]["labels"] == {"example.com/cost-center": "4711"}


# What nobody should send and somebody will.

JOB = (GOLDEN / "torch" / "four-nodes-with-gpus" / "input" / "job.yaml").read_text()

HOSTILE = {
    "nothing": "",
    "white space": " \n\t\r\n",
    "only a comment": "# soon",
    "only separators": "---\n---\n...\n---\n",
    "a null byte": "kind: \0",
    "binary": "\x7fELF\x02\x01\x01\x00\x00",
    "a lone surrogate": "kind: \ud800",
    "an escaped surrogate": 'kind: "\\ud800"',
    "beyond Unicode": 'kind: "\\U00110000"',
    "a scalar": "TrainJob",
    "a list": "- TrainJob",
    "an empty list": "[]",
    "an empty object": "{}",
    "an alias of nothing": "kind: *nothing",
    "an alias of itself": "kind: &a [*a]",
    "a merge of a number": "<<: 5\nkind: TrainJob",
    "a foreign tag": "!!python/object:os.system kind: TrainJob",
    "a date that does not exist": "kind: 2026-02-30",
    "a list as a key": "? [kind]\n: TrainJob",
    "null as a key": "null: TrainJob",
    "no number": "kind: .nan",
    "an endless number": f"kind: {'9' * 5000}",
    "a huge exponent": "kind: 1e999999999",
    "deep lists": "[" * 5000,
    "deep maps": "{a: " * 5000,
    "deep JSON": '{"a":' * 5000,
    "deep indentation": "".join(f"{' ' * depth}a:\n" for depth in range(500)),
    "JSON that is cut off": '{"kind": "TrainJob", ',
    "JSON with NaN": '{"kind": NaN}',
    "two JSON objects": '{"kind": "TrainJob"} {"kind": "TrainJob"}',
    "a List of nothing": "kind: List",
    "a List of anything": "kind: List\nitems: [1, null, x, [], {}]",
    "a List of Lists": "kind: List\nitems: [{kind: List, items: [{kind: List, items: 5}]}]",
    "aliases that explode": "a: &a [x, x, x, x, x, x, x, x]\n"
    + "".join(f"{y}: &{y} [{', '.join([f'*{x}'] * 8)}]\n" for x, y in pairwise("abcdefghi")),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_an_error_and_never_raises(text):
    assert "error" in [diagnostic["severity"] for diagnostic in told(compile_stream(text))]


@pytest.mark.parametrize("text", [JOB[:end] for end in range(0, len(JOB), 2)])
def test_a_text_that_is_cut_off_anywhere_never_raises(text):
    assert compile_stream(text)["kind"] == "RenderResult"


@pytest.mark.parametrize("text", [JOB[:at] + JOB[at + 1 :] for at in range(0, len(JOB), 3)])
def test_a_text_that_lacks_a_character_never_raises(text):
    assert compile_stream(text)["kind"] == "RenderResult"


# Every element of a valid job and runtime, replaced by everything that it should not be.

VALUES: tuple[Any, ...] = (None, 1, "x", [], {}, True, ["x"], [{}])

RUNTIME_AND_JOB = dedent(
    """\
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: ClusterTrainingRuntime
    metadata: {name: rt, labels: {a: b}}
    spec:
      mlPolicy: {numNodes: 2, torch: {envInjection: {targets: [{jobName: node, containerNames: [side]}]}}}
      podGroupPolicy: {coscheduling: {scheduleTimeoutSeconds: 60}}
      template:
        metadata: {labels: {a: b}, annotations: {a: b}}
        spec:
          network: {subdomain: net}
          failurePolicy: {maxRestarts: 3, rules: [{name: r, action: FailJobSet}]}
          successPolicy: {operator: All, targetReplicatedJobs: [node]}
          coordinator: {replicatedJob: node}
          replicatedJobs:
            - name: dataset-initializer
              replicas: 1
              template:
                metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}
                spec:
                  template:
                    spec:
                      containers:
                        - name: dataset-initializer
                          image: fetch:1
                          volumeMounts: [{name: initializer, mountPath: /workspace}]
                      volumes: [{name: initializer, emptyDir: {}}]
            - name: node
              dependsOn: [{name: dataset-initializer, status: Complete}]
              template:
                metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                spec:
                  parallelism: 1
                  completions: 1
                  activeDeadlineSeconds: 100
                  template:
                    metadata: {labels: {a: b}, annotations: {a: b}}
                    spec:
                      overhead: {cpu: 1}
                      imagePullSecrets: [{name: registry}]
                      resourceClaims: [{name: gpu, resourceClaimName: gpu}]
                      initContainers:
                        - {name: side, image: side:1, restartPolicy: Always, env: [{name: A, value: b}]}
                      containers:
                        - name: node
                          image: torch:1
                          command: [python]
                          args: [train.py]
                          env: [{name: A, value: b}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]
                          envFrom: [{secretRef: {name: s}}]
                          ports: [{containerPort: 8080, protocol: TCP}]
                          resources: {limits: {amd.com/gpu: 2}, requests: {cpu: 500m}, claims: [{name: gpu}]}
                          volumeMounts: [{name: data, mountPath: /data}]
                      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
    ---
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata:
      name: llm
      namespace: ml
      labels: {kueue.x-k8s.io/queue-name: q}
      annotations: {scheduling.volcano.sh/queue-name: q}
    spec:
      runtimeRef: {name: rt, kind: ClusterTrainingRuntime, apiGroup: trainer.kubeflow.org}
      suspend: true
      activeDeadlineSeconds: 50
      managedBy: trainer.kubeflow.org/trainjob-controller
      initializer:
        dataset: {storageUri: hf://a/b, secretRef: {name: s}, env: [{name: A, value: b}]}
      trainer:
        image: torch:2
        command: [torchrun]
        args: [train.py]
        numNodes: 3
        numProcPerNode: 4
        env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        resourcesPerNode: {requests: {cpu: 1}, limits: {cpu: 2, nvidia.com/gpu: 1}, claims: [{name: gpu}]}
      runtimePatches:
        - manager: example.com/me
          time: "2026-01-01T00:00:00Z"
          trainingRuntimeSpec:
            template:
              metadata: {labels: {a: c}, annotations: {a: c}}
              spec:
                replicatedJobs:
                  - name: node
                    template:
                      metadata: {labels: {a: b}}
                      spec:
                        template:
                          metadata: {annotations: {a: b}}
                          spec:
                            nodeSelector: {gpu: h100}
                            tolerations: [{key: a, operator: Exists}]
                            imagePullSecrets: [{name: more}]
                            volumes: [{name: data, emptyDir: {}}]
                            initContainers: [{name: side, env: [{name: X, value: y}]}]
                            containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]
    """
)

POLICIES: dict[str, dict[str, Any]] = {
    "jax": {"jax": {}},
    "xgboost": {"xgboost": {}},
    "flux": {"flux": {"numProcPerNode": 2}},
    "mpi": {"mpi": {"numProcPerNode": 2, "runLauncherAsNode": True, "sshAuthMountPath": "/ssh"}},
}
VOLCANO = {"volcano": {"networkTopology": {"mode": "hard", "highestTierAllowed": 1}}}


@cache
def documents() -> list[Any]:
    return list(yaml.safe_load_all(RUNTIME_AND_JOB))


def paths(tree, path=()):
    """Every path in `tree`, parents before their children."""
    yield path
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in children:
        yield from paths(child, (*path, key))


def replaced(tree, path, value):
    """A copy of `tree` with `value` at `path`; the rest is shared."""
    if not path:
        return value
    copy = tree.copy()
    copy[path[0]] = replaced(tree[path[0]], path[1:], value)
    return copy


def check_every_replacement(objects, value, within=()):
    """No replacement raises or makes a plugin fail, and none that leaves no job goes without an error."""
    assert errors(compiled(*objects)) == []
    for path in paths(objects):
        if path[: len(within)] != within or not path:
            continue
        result = compiled(*replaced(objects, path, value))
        assert result.failures == [], path
        assert all(each.objects for each in result.jobs) or errors(result), path


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_any_value_anywhere_is_compiled_or_told(value):
    check_every_replacement(documents(), value)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("framework", POLICIES)
def test_any_value_in_policy_and_trainer_is_compiled_or_told_by_every_framework(framework, value):
    base, wanted = documents()
    spec = {**base["spec"], "mlPolicy": {"numNodes": 1, **POLICIES[framework]}, "podGroupPolicy": VOLCANO}
    spec["template"] = {"spec": {"replicatedJobs": spec["template"]["spec"]["replicatedJobs"]}}
    if framework == "mpi":
        launcher = {**spec["template"]["spec"]["replicatedJobs"][1], "name": "launcher", "dependsOn": None}
        jobs = [{**launcher, "name": "node", "template": {"spec": launcher["template"]["spec"]}}, launcher]
        spec["template"] = {"spec": {"replicatedJobs": jobs}}
        wanted = {**wanted, "spec": {**wanted["spec"], "initializer": None}}
    objects = [{**base, "spec": spec}, wanted]
    check_every_replacement(objects, value, within=(0, "spec", "mlPolicy"))
    check_every_replacement(objects, value, within=(1, "spec", "trainer"))
