"""Keys and files that pods ask for, and that the ConfigMap or Secret here does not have."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trainform
from trainform.core.beside.contents import keys_of

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: cfg}
data: {train.py: "", ds.json: "{}"}
binaryData: {model.bin: AAAA}
"""
EXTERNAL = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: hub}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  target: {name: hub-token}
  data: [{secretKey: token, remoteRef: {key: hub}}]
"""
SEALED = """\
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: llm-hub}
spec: {encryptedData: {token: AgB}}
"""
SECRET = """\
apiVersion: v1
kind: Secret
metadata: {name: hub}
stringData: {token: x}
"""
HASHED = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: prod}
spec: {gitops: {naming: content-hash}}
"""
MOUNT = {"name": "v", "mountPath": "/job"}
WHOLE = {"name": "v", "configMap": {"name": "cfg"}}
ONE_ITEM = {"name": "v", "configMap": {"name": "cfg", "items": [{"key": "ds.json", "path": "conf/ds.json"}]}}


def job(
    *volumes: Any, env: Any = (), mounts: Any = (MOUNT,), command: Any = ("torchrun", "train.py"), args: Any = ()
) -> str:
    container = {"name": "node", "volumeMounts": [*mounts] if volumes else []}
    pods = {"spec": {"template": {"spec": {"volumes": [*volumes], "containers": [container]}}}}
    template = {"spec": {"replicatedJobs": [{"name": "node", "template": pods}]}}
    trainer = {"image": "example/train:1", "command": [*command], "args": [*args], "env": [*env]}
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: llm, namespace: ml}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer: {json.dumps(trainer)}
  runtimePatches: [{{manager: example.com/tests, trainingRuntimeSpec: {{template: {json.dumps(template)}}}}}]
"""


def variable(field: str, name: str, key: str, **more: Any) -> dict[str, Any]:
    return {"name": "V", "valueFrom": {field: {"name": name, "key": key, **more}}}


def told(*documents: str, code: str = "TF651") -> list[dict[str, Any]]:
    result = trainform.compile_stream("---\n".join(documents))
    found = [*result["diagnostics"], *(each for one in result["jobs"] for each in one["diagnostics"])]
    return [each for each in found if each["code"] == code]


def items(*keys: str) -> list[dict[str, str]]:
    return [{"key": key, "path": key} for key in keys]


def configured(*keys: str, **more: Any) -> dict[str, Any]:
    return {"name": "v", "configMap": {"name": "cfg", "items": items(*keys), **more}}


@pytest.mark.parametrize("naming", [[], [HASHED]])
@pytest.mark.parametrize(
    ("job_text", "other", "message", "hint"),
    [
        (
            job(env=[variable("configMapKeyRef", "cfg", "ds.jsn")]),
            CONFIG,
            "ConfigMap cfg has no key 'ds.jsn'",
            'did you mean "ds.json"?',
        ),
        (
            job(env=[variable("secretKeyRef", "hub-token", "password")]),
            EXTERNAL,
            "ExternalSecret hub has no key 'password'",
            "its keys are token",
        ),
        (
            job(env=[variable("secretKeyRef", "llm-hub", "tokens")]),
            SEALED,
            "SealedSecret llm-hub has no key 'tokens'",
            'did you mean "token"?',
        ),
        (
            job(configured("ds.json", "nokey")),
            CONFIG,
            "ConfigMap cfg has no key 'nokey'",
            "its keys are ds.json, model.bin, train.py",
        ),
        (
            job({"name": "v", "secret": {"secretName": "hub-token", "items": items("nokey")}}),
            EXTERNAL,
            "ExternalSecret hub has no key 'nokey'",
            "its keys are token",
        ),
        (
            job({"name": "v", "projected": {"sources": [{"configMap": {"name": "cfg", "items": items("trian.py")}}]}}),
            CONFIG,
            "ConfigMap cfg has no key 'trian.py'",
            'did you mean "train.py"?',
        ),
        (
            job({"name": "v", "projected": {"sources": [{"secret": {"name": "llm-hub", "items": items("nokey")}}]}}),
            SEALED,
            "SealedSecret llm-hub has no key 'nokey'",
            "its keys are token",
        ),
    ],
)
def test_a_key_that_a_rendered_object_lacks_is_an_error_at_its_line(job_text, other, message, hint, naming):
    (error,) = told(job_text, other, *naming)
    assert error["severity"] == "error"
    assert error["message"].startswith(message)
    assert error["hint"] == hint
    assert error["line"] in (6, 7)
    assert error["field"].endswith("key")


@pytest.mark.parametrize(
    ("job_text", "other"),
    [
        (job(env=[variable("configMapKeyRef", "cfg", "ds.json")]), CONFIG),
        (job(env=[variable("configMapKeyRef", "cfg", "model.bin")]), CONFIG),
        (job(env=[variable("configMapKeyRef", "cfg", "nokey", optional=True)]), CONFIG),
        (job(configured("ds.json", "train.py")), CONFIG),
        (job(configured("nokey", optional=True)), CONFIG),
        (job(env=[variable("secretKeyRef", "hub-token", "nokey")]), EXTERNAL + "  dataFrom: [{extract: {key: hub}}]\n"),
        (job(env=[variable("secretKeyRef", "elsewhere", "nokey")]), EXTERNAL),
    ],
)
def test_a_key_that_is_there_optional_or_not_known_is_not_told(job_text, other):
    assert told(job_text, other) == []


def test_a_volume_that_no_container_mounts_is_skipped_by_the_kubelet():
    assert told(job(configured("nokey"), mounts=[]), CONFIG) == []
    assert told(job({"name": "v", "secret": {"secretName": "other"}}, mounts=[]), code="TF650") == []
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "other"}}  # the scheduler looks for it
    assert told(job(claim, mounts=[]), code="TF650") != []


def test_a_key_of_an_object_that_somebody_else_applies_is_a_warning():
    (warning,) = told(job(env=[variable("secretKeyRef", "hub", "nokey")]), SECRET)
    assert (warning["severity"], warning["hint"]) == ("warning", "its keys are token")


def test_an_object_of_another_namespace_says_nothing_about_the_jobs():
    elsewhere = CONFIG.replace("name: cfg", "name: cfg, namespace: other")
    assert told(job(env=[variable("configMapKeyRef", "cfg", "nokey")]), elsewhere) == []


def test_an_object_with_an_error_is_not_blamed_for_its_keys_too():
    broken = CONFIG.replace('ds.json: "{}"', "ds.json: 3")
    assert told(job(env=[variable("configMapKeyRef", "cfg", "nokey")]), broken) == []
    assert told(job(env=[variable("configMapKeyRef", "cfg", "nokey")]), broken, code="TF102") != []


def test_a_final_patch_may_add_the_key():
    patch = HASHED.replace(
        "gitops: {naming: content-hash}", "patches: [{target: {kind: ConfigMap}, patch: {data: {added: x}}}]"
    )
    assert told(job(env=[variable("configMapKeyRef", "cfg", "added")]), CONFIG, patch) == []


def test_a_key_that_a_runtime_asks_for_is_told_where_the_runtime_does():
    runtime = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: mine}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: example/train:1
                  env: [{name: V, valueFrom: {configMapKeyRef: {name: cfg, key: nokey}}}]
"""
    head = "".join(job().replace("torch-distributed", "mine").splitlines(keepends=True)[:5])
    (error,) = told(head, CONFIG, runtime)
    assert error["line"] == "---\n".join((head, CONFIG, runtime)).count("\n")


@pytest.mark.parametrize(
    ("volume", "sub_path", "is_there"),
    [
        (WHOLE, "train.py", True),
        (WHOLE, "./train.py", True),
        (WHOLE, "trian.py", False),
        (WHOLE, "conf/ds.json", False),
        (ONE_ITEM, "conf/ds.json", True),
        (ONE_ITEM, "conf", True),
        (ONE_ITEM, "train.py", False),
        (configured("nokey", optional=True), "other", True),
        ({"name": "v", "emptyDir": {}}, "nokey", True),
        ({"name": "v", "projected": {"sources": [{"configMap": {"name": "cfg"}}]}}, "nokey", False),
        (
            {"name": "v", "projected": {"sources": [{"configMap": {"name": "cfg"}}, {"secret": {"name": "other"}}]}},
            "nokey",
            True,
        ),
    ],
)
def test_a_sub_path_that_no_key_has_is_an_empty_folder(volume, sub_path, is_there):
    found = told(job(volume, mounts=[{**MOUNT, "subPath": sub_path}]), CONFIG)
    assert [each["severity"] for each in found] == ([] if is_there else ["warning"])
    assert all(each["field"].endswith("subPath") for each in found)


@pytest.mark.parametrize(
    ("volume", "command", "args", "lost"),
    [
        (WHOLE, ["torchrun", "/job/train.py"], [], None),
        (ONE_ITEM, ["torchrun", "/job/train.py"], [], "train.py"),
        (ONE_ITEM, ["torchrun", "/job/conf/ds.json"], [], None),
        (WHOLE, ["torchrun", "train.py"], ["--config", "/job/ds.yaml"], "ds.yaml"),
        (WHOLE, ["torchrun", "train.py"], ["--config=/job/ds.yaml"], "ds.yaml"),
        (WHOLE, ["torchrun", "train.py"], ["--out=/job/out/x", "/jobs/train.py", "/job", "/job/"], None),
        (WHOLE, ["sh", "-c", "torchrun /job/other.py"], [], None),
        (WHOLE, ["torchrun", "train.py"], ["/job/*.json", "/job/$NAME"], None),
    ],
)
def test_a_file_that_a_mounted_object_lacks_is_told_at_the_word_that_names_it(volume, command, args, lost):
    scratch = {"name": "out", "emptyDir": {}}
    mounts = [MOUNT, {"name": "out", "mountPath": "/job/out"}]
    found = told(job(volume, scratch, mounts=mounts, command=command, args=args), CONFIG)
    assert [each["message"].partition(":")[0] for each in found] == ([f"volume v has no file {lost!r}"] if lost else [])


@pytest.mark.parametrize(
    ("target", "keys"),
    [
        ({}, {"token"}),
        ({"creationPolicy": "Orphan"}, {"token"}),
        ({"creationPolicy": "Merge"}, None),
        ({"template": {"metadata": {}}}, {"token"}),
        ({"template": {"data": {"url": "x"}}}, {"url"}),
        ({"template": {"data": {"url": "x"}, "mergePolicy": "Merge"}}, {"url", "token"}),
        ({"template": {"templateFrom": [{"configMap": {}}]}}, None),
    ],
)
def test_a_template_decides_which_keys_an_external_secret_makes(target, keys):
    spec = {"target": target, "data": [{"secretKey": "token"}]}
    tree = {"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "metadata": {"name": "x"}, "spec": spec}
    assert keys_of(tree) == keys
