"""What stands beside a TrainJob and is mounted by its pods is rendered with it, under the job's name."""

from __future__ import annotations

import json
from textwrap import indent
from typing import Any

import pytest
import yaml

import trainform

VOLUMES = """\
    - {name: config, configMap: {name: ds-config}}
    - {name: data, persistentVolumeClaim: {claimName: llm-data}}
    - {name: more, projected: {sources: [{configMap: {name: ds-config, optional: true}}]}}
"""

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: ds-config, labels: {team: nlp}, creationTimestamp: null}
data: {ds.json: "{}"}
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: llm-data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 20Gi}}}
"""
EXTERNAL = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: hub}
spec: {secretStoreRef: {name: vault}, target: {name: hub-token}, data: [{secretKey: token, remoteRef: {key: hub}}]}
"""
SEALED = """\
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: llm-hub}
spec: {encryptedData: {token: AgB}}
"""
HASHED = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: prod}
spec: {gitops: {naming: content-hash}}
"""


def job(name: str = "llm", volumes: str = VOLUMES, env: str = "[]") -> str:
    given = yaml.safe_load(volumes) or []
    mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in given]
    node = {"name": "node", "volumeMounts": mounts}
    pods = {"spec": {"template": {"spec": {"volumes": given, "containers": [node]}}}}
    template = {"spec": {"replicatedJobs": [{"name": "node", "template": pods}]}}
    patch = {"manager": "example.com/tests", "trainingRuntimeSpec": {"template": template}}
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: ml}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer: {{image: "example/train:1", command: [torchrun, train.py], env: {env}}}
  runtimePatches: [{json.dumps(patch)}]
"""


def compiled(*documents: str) -> dict[str, Any]:
    return trainform.compile_stream("---\n".join(documents))


def objects(*documents: str) -> dict[str, Any]:
    """The objects of the first job, by kind and name."""
    first = compiled(*documents)["jobs"][0]
    assert [each for each in first["diagnostics"] if each["severity"] == "error"] == []
    return {f"{tree['kind']}/{tree['metadata']['name']}": tree for tree in first["objects"]}


def pods(found: dict[str, Any]) -> dict[str, Any]:
    (jobset,) = (tree for name, tree in found.items() if name.startswith("JobSet/"))
    pod: dict[str, Any] = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod


def told(*documents: str) -> list[tuple[str, str]]:
    result = compiled(*documents)
    found = [*result["diagnostics"], *(each for one in result["jobs"] for each in one["diagnostics"])]
    return [(each["code"], each["severity"]) for each in found if each["code"] != "TF608"]


def config_of(found: dict[str, Any]) -> str:
    (name,) = (name.removeprefix("ConfigMap/") for name in found if name.startswith("ConfigMap/"))
    return name


def test_a_mounted_config_map_becomes_the_jobs_own_and_every_reference_follows():
    found = objects(job(), CONFIG, CLAIM)
    name = config_of(found)
    assert name.startswith("llm-ds-config-")
    assert found[f"ConfigMap/{name}"]["metadata"] == {"name": name, "namespace": "ml", "labels": {"team": "nlp"}}
    volumes = pods(found)["volumes"]
    assert volumes[0]["configMap"]["name"] == name
    assert volumes[2]["projected"]["sources"][0]["configMap"]["name"] == name


@pytest.mark.parametrize("environment", ["", HASHED])
def test_an_edit_of_a_config_map_is_a_change_of_the_job(environment):
    before = objects(job(), CONFIG, CLAIM, *filter(None, [environment]))
    after = objects(job(), CONFIG.replace('"{}"', '"[]"'), CLAIM, *filter(None, [environment]))
    assert pods(before) != pods(after)
    assert before.keys() != after.keys()


def test_with_content_hash_the_jobs_hash_is_the_only_one():
    found = objects(job(), CONFIG, CLAIM, HASHED)
    (jobset,) = (name.removeprefix("JobSet/") for name in found if name.startswith("JobSet/"))
    assert config_of(found) == f"{jobset}-ds-config"


def test_two_jobs_that_mount_one_config_map_have_a_copy_each():
    result = compiled(job("llm"), job("eval"), CONFIG)
    names = [config_of({f"{t['kind']}/{t['metadata']['name']}": t for t in one["objects"]}) for one in result["jobs"]]
    assert [name.rpartition("-")[0] for name in names] == ["llm-ds-config", "eval-ds-config"]


def test_a_claim_keeps_its_name_and_is_no_part_of_the_hash():
    before = objects(job(), CONFIG, CLAIM, HASHED)
    after = objects(job(), CONFIG, CLAIM.replace("20Gi", "40Gi"), HASHED)
    assert "PersistentVolumeClaim/llm-data" in before
    assert before.keys() == after.keys()


def test_an_external_secret_is_copied_with_the_secret_that_it_makes():
    found = objects(
        job(volumes="", env="[{name: T, valueFrom: {secretKeyRef: {name: hub-token, key: token}}}]"), EXTERNAL
    )
    assert found["ExternalSecret/llm-hub"]["spec"]["target"]["name"] == "llm-hub-token"
    assert pods(found)["containers"][0]["env"][0]["valueFrom"]["secretKeyRef"]["name"] == "llm-hub-token"


def test_a_sealed_secret_keeps_the_name_that_it_is_sealed_for():
    found = objects(job(volumes="- {name: hub, secret: {secretName: llm-hub}}"), SEALED)
    assert found["SealedSecret/llm-hub"]["spec"] == {"encryptedData": {"token": "AgB"}}


@pytest.mark.parametrize(
    ("volume", "other", "code"),
    [
        ("persistentVolumeClaim: {claimName: data}", CLAIM.replace("llm-data", "data"), "TF644"),
        ("secret: {secretName: hub}", SEALED.replace("llm-hub", "hub"), "TF644"),
        (
            "secret: {secretName: hub}",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: hub}\nstringData: {a: b}\n",
            "TF646",
        ),
    ],
)
def test_what_cannot_be_copied_is_not_rendered_under_a_name_that_others_may_use(volume, other, code):
    with_volume = job(volumes=f"- {{name: v, {volume}}}")
    assert told(with_volume, other) == [(code, "warning")]
    assert [name.partition("/")[0] for name in objects(with_volume, other)] == ["JobSet"]


@pytest.mark.parametrize(
    ("other", "code"),
    [
        (CONFIG.replace("name: ds-config", "name: ds-config, namespace: elsewhere"), "TF644"),
        (CONFIG.replace("ds.json", "../ds.json"), "TF104"),
        (CONFIG.replace('"{}"', "3"), "TF102"),
        (CONFIG.replace("\ndata:", "\ndta:"), "TF101"),
        (CONFIG.replace('"{}"', '"' + "x" * (1024 * 1024 + 1) + '"'), "TF647"),
        (CONFIG + 'binaryData: {ds.json: ""}\n', "TF105"),
        (CONFIG + 'binaryData: {a: "not base64"}\n', "TF104"),
        (CONFIG + f'binaryData: {{a: "{"AAAA" * 2**19}"}}\n', "TF647"),
        (CONFIG.replace("team: nlp", "team: a b"), "TF533"),
        (CONFIG.replace("name: ds-config", "name: ds-config, annotations: {a/b/c: x}"), "TF533"),
    ],
)
def test_a_config_map_that_the_api_server_refuses_is_an_error_at_its_line(other, code):
    result = compiled(job(), other, CLAIM)
    (error,) = [each for each in result["jobs"][0]["diagnostics"] if each["severity"] == "error"]
    assert error["code"] == code
    assert error["line"] > job().count("\n")
    assert not result["jobs"][0]["objects"]


def test_the_api_server_counts_the_bytes_of_binary_data_and_not_its_letters():
    large = CONFIG + f'binaryData: {{a: "{"AAAA" * 300_000}\\n"}}\n'
    assert told(job(), large, CLAIM) == []
    assert len(objects(job(), large, CLAIM)) == 3


def test_what_no_pod_mounts_is_told_and_not_rendered():
    other = CONFIG.replace("ds-config", "other")
    assert told(job(), CONFIG, CLAIM, other) == [("TF204", "info")]
    assert len(objects(job(), CONFIG, CLAIM, other)) == 3


def test_a_runtime_may_mount_what_only_the_job_has():
    runtime = f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: mine}}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                containers: [{{name: node, image: "example/train:1"}}]
                volumes:
{indent(VOLUMES, "            ")}"""
    bare = "\n".join(job().replace("torch-distributed", "mine").splitlines()[:6]) + "\n"
    assert config_of(objects(bare, CONFIG, CLAIM, runtime)).startswith("llm-ds-config-")


def test_a_final_patch_finds_a_companion():
    patch = HASHED.replace(
        "naming: content-hash}", "naming: stable}, patches: [{target: {kind: ConfigMap}, patch: {data: {b: c}}}]"
    )
    found = objects(job(), CONFIG, CLAIM, patch)
    assert found[f"ConfigMap/{config_of(found)}"]["data"] == {"ds.json": "{}", "b": "c"}


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ("configMap: {name: ds-config}", [("TF650", "info")]),
        ("configMap: {name: ds-config, optional: true}", []),
        ("configMap: {name: kube-root-ca.crt}", []),
        ("secret: {secretName: hub}", [("TF650", "info")]),
        ("persistentVolumeClaim: {claimName: data}", [("TF650", "info")]),
        ("emptyDir: {}", []),
    ],
)
def test_what_nothing_here_provides_is_told(volume, expected):
    assert told(job(volumes=f"- {{name: v, {volume}}}")) == expected


def test_one_note_names_all_that_is_missing():
    result = compiled(job(env="[{name: T, valueFrom: {secretKeyRef: {name: hub, key: t}}}]"))
    (note,) = [each for each in result["jobs"][0]["diagnostics"] if each["code"] == "TF650"]
    assert "ConfigMap ds-config, PersistentVolumeClaim llm-data, Secret hub" in note["message"]
    assert note["line"] == 7


def test_a_typo_is_a_warning_that_names_what_is_here():
    result = compiled(job(volumes="- {name: v, configMap: {name: ds-confg}}"), CONFIG)
    (warning,) = [each for each in result["jobs"][0]["diagnostics"] if each["severity"] == "warning"]
    assert (warning["code"], warning["hint"]) == ("TF650", 'did you mean "ds-config"?')


def test_a_generator_in_a_stream_has_no_files():
    generator = (
        "apiVersion: trainform.dev/v1alpha1\nkind: ConfigMapGenerator\nmetadata: {name: ds-config}\nfiles: [ds.json]\n"
    )
    assert ("TF648", "error") in told(job(), generator, CLAIM)


@pytest.mark.parametrize(
    "wrong", ["", "apiRersion: v1\n", "apiVersion: [v1]\n", "apiVersion: /v1\n", "apiVersion: v1/\n"]
)
def test_an_object_without_a_valid_api_version_is_told_and_never_rendered(wrong):
    result = compiled(job(), CONFIG.replace("apiVersion: v1\n", wrong), CLAIM)
    found = [*result["diagnostics"], *(each for one in result["jobs"] for each in one["diagnostics"])]
    assert any(each["severity"] == "error" for each in found) or wrong in ("apiVersion: /v1\n", "apiVersion: v1/\n")
    rendered = [tree for one in result["jobs"] for tree in one["objects"]]
    assert not any(tree["kind"] == "ConfigMap" for tree in rendered)


READS = "[{{name: T, valueFrom: {{secretKeyRef: {{name: {}, key: token}}}}}}]"


def diagnosed(mine: str, other: str) -> list[dict[str, Any]]:
    """What is told of the second document."""
    found = compiled(mine, other)["jobs"][0]["diagnostics"]
    return [each for each in found if each["line"] > mine.count("\n") + 1]


@pytest.mark.parametrize(
    ("other", "name", "before", "now", "told"),
    [
        (EXTERNAL, "hub", "target: {name: hub-token}", "targt: {}", "TF101 warning: did you mean"),
        (EXTERNAL, "hub", "target: {name: hub-token}", "target: {name: 3}", "TF102 error: put quotes"),
        (EXTERNAL, "A_B", "target: {name: hub-token}", "target: {name: A_B}", "TF104 error: use lowercase letters"),
        (EXTERNAL, "hub-token", "secretKey: token", "secretKey: a b", "TF104 error: use letters, digits, dots"),
        (EXTERNAL, "hub-token", "secretKey: token, ", "", "TF103 error: "),
        (EXTERNAL, "hub-token", "remoteRef: {key: hub}", "remoteRef: hub", "TF102 error: write remoteRef: {key: hub}"),
        (EXTERNAL, "hub-token", "{key: hub}", "{key: hub, versoin: a}", "TF101 warning: did you mean"),
        (EXTERNAL, "hub-token", "name: vault", "name: vault, kind: Store", "TF104 error: allowed: Sec"),
        (SEALED, "llm-hub", "{token: AgB}", "{token: 3}", "TF102 error: put quotes"),
        (SEALED, "llm-hub", "encryptedData:", "encryptdData:", 'TF103 error: rename "encryptdData"'),
    ],
)
def test_what_is_wrong_in_a_secret_object_is_told_at_its_line(other, name, before, now, told):
    """A field that we do not know is a warning: External Secrets may be newer."""
    assert before in other
    found = diagnosed(job(volumes="", env=READS.format(name)), other.replace(before, now))
    assert any(f"{each['code']} {each['severity']}: {each['hint']}".startswith(told) for each in found), found


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ("[ReadWriteOnce]", "[ReadWriteOne]", 'TF104 error: did you mean "ReadWriteOnce"?'),
        ("resources:", "resource:", 'TF101 error: did you mean "resources"?'),
    ],
)
def test_what_is_wrong_in_a_claim_is_told_at_its_line(before, now, told):
    volume = "- {name: data, persistentVolumeClaim: {claimName: llm-data}}"
    (found,) = diagnosed(job(volumes=volume), CLAIM.replace(before, now))
    assert f"{found['code']} {found['severity']}: {found['hint']}".startswith(told)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_sound_secret_object_is_not_told(version):
    other = EXTERNAL.replace("/v1\n", f"/{version}\n")
    assert diagnosed(job(volumes="", env=READS.format("hub-token")), other) == []


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("finalizers: [a/b]", "TF107 info metadata.finalizers: is ignored: controllers in the cluster set it"),
        ("ownerReferences: []", "TF107 info metadata.ownerReferences: is ignored: controllers in the cluster set it"),
        ("uid: x", "TF107 info metadata.uid: is ignored: only the API server sets it"),
        ("lables: {a: b}", "TF101 error metadata.lables: unknown field"),
        ("creationTimestamp: null", ""),
    ],
)
@pytest.mark.parametrize("other", [CONFIG.replace(", creationTimestamp: null", ""), CLAIM])
def test_metadata_that_is_not_rendered_is_told(other, field, told):
    mine = job()
    found = diagnosed(mine, other.replace("metadata: {", f"metadata: {{{field}, "))
    assert [f"{each['code']} {each['severity']} {each['field']}: {each['message']}" for each in found] == [told][
        : bool(told)
    ]


def test_a_status_is_not_rendered():
    mine = job(volumes="", env=READS.format("hub-token"))
    (told,) = diagnosed(mine, EXTERNAL + "status: {binding: {name: x}}\n")
    assert (told["code"], told["field"]) == ("TF107", "status")
    assert all("status" not in tree for tree in objects(mine, EXTERNAL + "status: {binding: {name: x}}\n").values())
