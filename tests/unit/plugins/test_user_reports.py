"""What users of this ecosystem ran into, one public report per test: none of it happens here."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from trainform import compile_stream

Tree = dict[str, Any]

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
GPUS = {"limits": {"nvidia.com/gpu": 4}}


def replicated(name: str, pod: Tree | None = None, *, step: str = "trainer", **container: Any) -> Tree:
    """A replicated job with one main container."""
    main = {"name": "node", "image": f"llm@sha256:{0:064}", **container}
    template: Tree = {"spec": {"template": {"spec": {"containers": [main], **(pod or {})}}}}
    if step:
        template["metadata"] = {"labels": {STEP: step}}
    return {"name": name, "template": template}


NODE = replicated("node")
WORKERS = replicated("node", step="", command=["/usr/sbin/sshd", "-De"])
LAUNCHER = replicated("launcher")
WAITING = {**LAUNCHER, "dependsOn": [{"name": "node", "status": "Ready"}]}


def runtime(*jobs: Tree, ml: Tree | None = None, kind: str = "ClusterTrainingRuntime", **spec: Any) -> Tree:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": kind,
        "metadata": {"name": "own"},
        "spec": {
            "mlPolicy": {"torch": {}} if ml is None else ml,
            "template": {"spec": {"replicatedJobs": list(jobs or (NODE,))}},
            **spec,
        },
    }


def compiled(own: Tree, trainer: Tree | None = None, *, name: str = "llm", **spec: Any) -> Tree:
    """The result of one TrainJob on the runtime `own`, with what is told of the stream."""
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": {"runtimeRef": {"name": "own", "kind": own["kind"]}, "trainer": trainer or {}, **spec},
    }
    result = compile_stream(yaml.safe_dump_all([own, job]))
    (only,) = result["jobs"]
    return {**only, "diagnostics": [*result["diagnostics"], *only["diagnostics"]]}


def pod_spec(result: Tree, name: str = "node") -> Tree:
    jobs = result["objects"][-1]["spec"]["replicatedJobs"]
    spec: Tree = next(job for job in jobs if job["name"] == name)["template"]["spec"]["template"]["spec"]
    return spec


def variables(result: Tree, name: str = "node") -> list[tuple[str, str | None]]:
    env = pod_spec(result, name)["containers"][0].get("env", [])
    return [(each["name"], each.get("value")) for each in env]


def pod_group(result: Tree) -> Tree:
    spec: Tree = next(tree for tree in result["objects"] if tree["kind"] == "PodGroup")["spec"]
    return spec


def told(result: Tree, code: str) -> list[tuple[str, str]]:
    return [(d["severity"], d["field"]) for d in result["diagnostics"] if d["code"] == code]


def test_memory_of_the_job_leaves_the_gpus_of_the_runtime_busy():
    """trainer PR 3974"""
    own = runtime(replicated("node", resources=GPUS))
    result = compiled(own, {"resourcesPerNode": {"requests": {"memory": "64Gi"}}})
    assert dict(variables(result))["PET_NPROC_PER_NODE"] == "auto"
    assert result["deviations"] == ["D03"]


@pytest.mark.parametrize(
    ("name", "image", "severity"), [("own", "torch-cuda:2", "info"), ("torch-gpu", "torch:2", "warning")]
)
def test_a_gpu_runtime_without_a_gpu_is_told(name, image, severity):
    """NVIDIA/aicr 2280"""
    own = runtime(replicated("node", image=image))
    own["metadata"]["name"] = name
    result = compiled(own, runtimeRef={"name": name})
    assert told(result, "TF601") == [(severity, "spec.trainer.resourcesPerNode")]


def test_variables_reach_the_workers_when_the_launcher_is_one():
    """trainer 3427"""
    own = runtime(WORKERS, WAITING, ml={"mpi": {"runLauncherAsNode": True}})
    result = compiled(own, {"env": [{"name": "LR", "value": "0.1"}]})
    assert ("LR", "0.1") in variables(result, "node")
    assert ("LR", "0.1") in variables(result, "launcher")


def test_variables_that_stop_at_the_launcher_are_told():
    """trainer 3427"""
    result = compiled(runtime(WORKERS, WAITING, ml={"mpi": {}}), {"env": [{"name": "LR", "value": "0.1"}]})
    assert told(result, "TF322") == [("info", "spec.trainer.env")]


@pytest.mark.parametrize(("launcher", "count"), [(LAUNCHER, 1), (WAITING, 0)])
def test_a_launcher_that_does_not_wait_for_its_workers_is_told(launcher, count):
    """trainer PR 3748"""
    result = compiled(runtime(WORKERS, launcher, ml={"mpi": {}}))
    assert len(told(result, "TF611")) == count


def test_a_launcher_that_starts_in_order_waits_too():
    """trainer PR 3748"""
    own = runtime(WORKERS, LAUNCHER, ml={"mpi": {}})
    own["spec"]["template"]["spec"]["startupPolicy"] = {"startupPolicyOrder": "InOrder"}
    assert told(compiled(own), "TF611") == []


@pytest.mark.parametrize("name", ["launcher", "node"])
def test_ssh_accepts_the_modes_of_the_keys(name):
    """mpi-operator 429, trainer PR 3649"""
    volumes = pod_spec(compiled(runtime(WORKERS, WAITING, ml={"mpi": {}})), name)["volumes"]
    secret = next(volume["secret"] for volume in volumes if volume["name"] == "mpi-ssh-auth")
    assert secret["defaultMode"] == 0o400
    assert {item["path"]: item["mode"] for item in secret["items"]}["id_rsa"] == 0o640


@pytest.mark.parametrize(("length", "severities"), [(45, []), (60, ["error"])])
def test_a_name_is_checked_at_its_longest(length, severities):
    """mpi-operator PR 385, trainer 2735"""
    result = compiled(runtime(), {"numNodes": 1000}, name="a" * length)
    errors = [d for d in result["diagnostics"] if d["severity"] == "error"]
    assert [d["severity"] for d in errors] == severities


@pytest.mark.parametrize("policy", [{"coscheduling": {}}, {"volcano": {}}])
def test_a_gang_asks_for_what_its_pods_ask_for(policy):
    """trainer 2525, trainer 2980, volcano 5075: and says how many they are"""
    own = runtime(replicated("node", resources={"requests": {"cpu": 1}}), podGroupPolicy=policy)
    group = pod_group(compiled(own, {"numNodes": 3, "resourcesPerNode": {"requests": {"cpu": 8}}}))
    assert (group["minMember"], group["minResources"]) == (3, {"cpu": "24"})


def test_two_gang_schedulers_are_an_error():
    """trainer 4060"""
    result = compiled(runtime(podGroupPolicy={"coscheduling": {}, "volcano": {}}))
    assert ("error", "spec.podGroupPolicy") in told(result, "TFD06")


@pytest.mark.parametrize(("policy", "seconds", "count"), [({}, 60, 0), ({"scheduleTimeoutSeconds": 0}, 0, 1)])
def test_a_gang_has_a_timeout(policy, seconds, count):
    """scheduler-plugins 713"""
    result = compiled(runtime(podGroupPolicy={"coscheduling": policy}))
    assert pod_group(result)["scheduleTimeoutSeconds"] == seconds
    assert len(told(result, "TF615")) == count


def test_a_job_is_validated_against_the_runtime_that_it_is_built_from():
    """trainer 3923, trainer 3975: the shipped runtime of this name has no initializer"""
    mounted = {"volumeMounts": [{"name": "initializer", "mountPath": "/workspace"}]}
    first = replicated(
        "dataset-initializer",
        {"volumes": [{"name": "initializer", "emptyDir": {}}]},
        step="dataset-initializer",
        **mounted,
    )
    first["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = "dataset-initializer"
    own = runtime(first, NODE)
    own["metadata"]["name"] = "torch-distributed"
    wanted = {"dataset": {"storageUri": "hf://a/b"}}
    result = compiled(own, runtimeRef={"name": "torch-distributed"}, initializer=wanted)
    assert variables(result, "dataset-initializer") == [("STORAGE_URI", "hf://a/b")]


@pytest.mark.parametrize("kind", ["TrainingRuntime", "ClusterTrainingRuntime"])
def test_a_runtime_of_either_kind_is_always_validated(kind):
    """trainer 3686"""
    result = compiled(runtime(ml={"torch": {}, "jax": {}}, kind=kind))
    assert ("error", "spec.mlPolicy") in told(result, "TF401")


def test_init_containers_get_the_rendezvous_where_the_runtime_says_so():
    """trainer 1690, trainer PR 3516"""
    targets = [{"jobName": "node", "containerNames": ["warm-up"]}]
    node = replicated("node", {"initContainers": [{"name": "warm-up", "image": "llm:1"}]})
    result = compiled(runtime(node, ml={"torch": {"envInjection": {"targets": targets}}}), {"numNodes": 2})
    (warm_up,) = pod_spec(result)["initContainers"]
    assert {"name": "PET_NNODES", "value": "2"} in warm_up["env"]


def test_a_variable_stands_once_and_the_jobs_value_wins():
    """training-operator 1921"""
    own = runtime(replicated("node", env=[{"name": "LR", "value": "1"}]))
    names = [name for name, _ in variables(compiled(own, {"env": [{"name": "LR", "value": "2"}]}))]
    assert len(names) == len(set(names))
    assert ("LR", "2") in variables(compiled(own, {"env": [{"name": "LR", "value": "2"}]}))


def test_a_variable_of_the_framework_is_an_error():
    """training-operator 1921"""
    result = compiled(runtime(), {"env": [{"name": "PET_NNODES", "value": "1"}]})
    assert told(result, "TF312") == [("error", "spec.trainer.env")]


@pytest.mark.parametrize(("nodes", "expected"), [(1999, []), (2000, [("warning", "spec.trainer.numNodes")])])
def test_a_job_of_thousands_of_pods_is_told(nodes, expected):
    """trainer 2318, trainer PR 3284"""
    assert told(compiled(runtime(), {"numNodes": nodes}), "TF616") == expected


def test_elastic_training_is_refused_with_what_replaces_it():
    """trainer 2903"""
    (error,) = compiled(runtime(ml={"torch": {"elasticPolicy": {"minNodes": 1}}}))["diagnostics"][:1]
    assert (error["severity"], error["field"]) == ("error", "spec.mlPolicy.torch.elasticPolicy")
    assert "numNodes" in error["hint"]


def test_a_patch_of_an_unknown_job_names_the_nearest():
    """kueue 14504"""
    unknown = {"spec": {"replicatedJobs": [{"name": "nodes", "template": {}}]}}
    patch = {"manager": "a.example/b", "trainingRuntimeSpec": {"template": unknown}}
    (error,) = [d for d in compiled(runtime(), runtimePatches=[patch])["diagnostics"] if d["code"] == "TFD04"]
    assert error["severity"] == "error"
    assert "node" in error["hint"]


def test_a_stream_without_a_job_is_an_error_instead_of_nothing():
    """argo-cd 15058"""
    (error,) = compile_stream(yaml.safe_dump(runtime()))["diagnostics"]
    assert (error["code"], error["severity"]) == ("TF202", "error")


@pytest.mark.parametrize("kind", ["", "kind: 3\n"])
def test_a_document_that_does_not_say_its_kind_may_be_the_job(kind):
    text = f"apiVersion: trainer.kubeflow.org/v1alpha1\n{kind}metadata: {{name: a}}\n"
    assert [each["field"] for each in compile_stream(text)["diagnostics"]] == ["kind"]


def test_a_patch_of_a_list_changes_one_element():
    """kustomize 1027, kustomize 2825, kustomize 4674"""
    volumes: list[Tree] = [{"name": name, "emptyDir": {}} for name in ("cache", "data")]
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "corpus"}}
    job = {"name": "node", "template": {"spec": {"template": {"spec": {"volumes": [claim]}}}}}
    template = {"template": {"spec": {"replicatedJobs": [job]}}}
    patches = [{"manager": "a.example/b", "trainingRuntimeSpec": template}]
    result = compiled(runtime(replicated("node", {"volumes": volumes})), runtimePatches=patches)
    assert pod_spec(result)["volumes"] == [volumes[0], claim]


def test_training_is_no_hook():
    """NVIDIA/aicr 2408, envoyproxy/gateway 3156"""
    metadata = compiled(runtime())["objects"][-1]["metadata"]
    assert metadata == {"name": "llm", "namespace": "default"}


def test_a_jobset_has_no_empty_labels():
    """infra-deployments 14152"""
    own = runtime()
    own["spec"]["template"]["metadata"] = {"labels": {}, "annotations": {}}
    (jobset,) = compiled(own)["objects"]
    assert jobset["metadata"] == {"name": "llm", "namespace": "default"}
