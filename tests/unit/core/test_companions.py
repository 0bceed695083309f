"""A runtime's service account and its rights are rendered with each job, under the job's name."""

from __future__ import annotations

import pytest

import trainform

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: ml}}
spec: {{runtimeRef: {{name: {runtime}}}{more}}}
---
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: own}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {serviceAccountName: reader, containers: [{name: node, image: a:1}]}}}
---
"""
ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: reader
  labels: {team: ml}
  annotations: {trainform.dev/companion-of: own, example.com/role: lake}
---
"""
BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, annotations: {trainform.dev/companion-of: own}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
- {kind: ServiceAccount, name: reader}
- {kind: ServiceAccount, name: other, namespace: tools}
- {kind: Group, name: ops, apiGroup: rbac.authorization.k8s.io}
---
"""
PATCH = """, runtimePatches: [{
  manager: example.com/a, trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
  {name: dataset-initializer, template: {spec: {template: {spec: {serviceAccountName: mine}}}}}]}}}}]"""
CACHE = "torch-distributed-with-cache"


def job(name: str = "a", runtime: str = "own", more: str = "") -> str:
    return JOB.format(name=name, runtime=runtime, more=more)


def objects(*texts: str) -> dict[str, dict]:
    """The objects of all jobs, as `Kind/name`."""
    found = [tree for each in trainform.compile_stream("".join(texts))["jobs"] for tree in each["objects"]]
    named = {f"{tree['kind']}/{tree['metadata']['name']}": tree for tree in found}
    assert len(named) == len(found)
    return named


def account(jobset: dict) -> str:
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return str(pod["serviceAccountName"])


def codes(*texts: str) -> list[str]:
    return [each["code"] for each in trainform.compile_stream("".join(texts))["diagnostics"]]


def test_two_jobs_of_one_namespace_own_nothing_together():
    found = objects(job("a", CACHE), job("b", CACHE))
    kinds = ("ServiceAccount", "Role", "RoleBinding")
    expected = [f"{kind}/{name}-cache-initializer" for name in "ab" for kind in kinds]
    assert sorted(found) == sorted([*expected, "JobSet/a", "JobSet/b"])
    assert {tree["metadata"]["namespace"] for tree in found.values()} == {"ml"}
    assert account(found["JobSet/a"]) == "a-cache-initializer"


def test_companions_come_before_the_jobset():
    assert [name.partition("/")[0] for name in objects(job("a", CACHE))] == [
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "JobSet",
    ]


def test_the_cache_binding_ties_the_jobs_own_account_to_the_jobs_own_role():
    binding = objects(job("a", CACHE))["RoleBinding/a-cache-initializer"]
    assert binding["roleRef"]["name"] == "a-cache-initializer"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "a-cache-initializer", "namespace": "ml"}]


def test_the_cache_role_creates_the_cluster_and_deletes_nothing():
    rules = objects(job("a", CACHE))["Role/a-cache-initializer"]["rules"]
    verbs = {rule["resources"][0]: rule["verbs"] for rule in rules}
    assert verbs["leaderworkersets"] == ["create", "get"]
    assert verbs["services"] == ["create"]
    assert not {"delete", "patch", "*"} & {verb for each in verbs.values() for verb in each}


def test_a_runtime_without_companions_has_none():
    assert list(objects(job("a", "torch-distributed"))) == ["JobSet/a"]


def test_a_job_patched_to_another_account_brings_none():
    found = objects(job("a", CACHE, PATCH))
    assert list(found) == ["JobSet/a"]
    assert account(found["JobSet/a"]) == "mine"


def test_companions_of_a_runtime_of_the_stream():
    found = objects(job(), RUNTIME, BINDING, ACCOUNT)
    assert list(found) == ["ServiceAccount/a-reader", "RoleBinding/a-reader", "JobSet/a"]
    assert account(found["JobSet/a"]) == "a-reader"
    assert codes(job(), RUNTIME, BINDING, ACCOUNT) == []


def test_a_companion_keeps_its_labels_and_other_annotations():
    assert objects(job(), RUNTIME, ACCOUNT)["ServiceAccount/a-reader"]["metadata"] == {
        "name": "a-reader",
        "namespace": "ml",
        "labels": {"team": "ml"},
        "annotations": {"example.com/role": "lake"},
    }


def test_only_the_companions_are_renamed_in_a_binding():
    binding = objects(job(), RUNTIME, ACCOUNT, BINDING)["RoleBinding/a-reader"]
    assert binding["roleRef"]["name"] == "view"
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "a-reader", "namespace": "ml"},
        {"kind": "ServiceAccount", "name": "other", "namespace": "tools"},
        {"kind": "Group", "name": "ops", "apiGroup": "rbac.authorization.k8s.io"},
    ]


def test_a_repository_runtime_takes_no_companions_from_the_one_it_replaces():
    own = RUNTIME.replace("{name: own}", f"{{name: {CACHE}}}")
    assert list(objects(job("a", CACHE), own)) == ["JobSet/a"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("companion-of: own", "companion-of: elsewhere"),
        ("trainform.dev/companion-of: own, ", ""),
        ("kind: ServiceAccount", "kind: Secret"),
        ("companion-of: own", "companion-of: 3"),
        ("  name: reader", "  name: [reader]"),
        ("  annotations: {", "  annotations: own\n  more: {"),
    ],
)
def test_what_is_no_companion_is_left_alone(old, new):
    assert codes(job(), RUNTIME, ACCOUNT.replace(old, new)) == ["TF204"]
    assert list(objects(job(), RUNTIME, ACCOUNT.replace(old, new))) == ["JobSet/a"]


@pytest.mark.parametrize("subjects", ["null", "[null, 3]", "[{kind: ServiceAccount}]"])
def test_odd_subjects_do_not_stop_the_compiler(subjects):
    head, _, _ = BINDING.partition("subjects:")
    assert "RoleBinding/a-reader" in objects(job(), RUNTIME, ACCOUNT, f"{head}subjects: {subjects}\n---\n")


def test_a_companion_twice_is_an_error():
    assert "TF203" in codes(job(), RUNTIME, ACCOUNT, ACCOUNT)
