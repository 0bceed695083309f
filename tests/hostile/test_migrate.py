"""`trainform migrate` reads what strangers wrote: it writes nowhere else, and no input breaks it or takes long."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.attacks import Victim
from support.bounded import trainform
from support.migration import migrated

OLD: dict[str, Any] = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "PyTorchJob",
    "metadata": {"name": "old"},
    "spec": {
        "pytorchReplicaSpecs": {
            "Worker": {"template": {"spec": {"containers": [{"name": "pytorch", "image": "example/old:1"}]}}}
        }
    },
}


def old(**metadata: object) -> str:
    return json.dumps({**OLD, "metadata": {**OLD["metadata"], **metadata}})


@pytest.mark.parametrize("name", ["../outside/x", "/etc/x", "a/b", "..", "", "x\n", "con\u0000", "é", "a" * 300])
def test_a_name_leads_nowhere(victim: Victim, name: str):
    victim.write("old.json", old(name=name))
    before = victim.everything()
    assert victim.trainform("migrate --write old.json").code == 2
    assert victim.everything() == before


@pytest.mark.parametrize("namespace", ["../../outside", "/etc", "", 7, ["a"]])
def test_a_namespace_leads_nowhere(victim: Victim, namespace: object):
    victim.write("old.json", f"{old(namespace=namespace)}\n{old(namespace='b')}")
    before = victim.everything()
    victim.trainform("migrate --write old.json")
    assert victim.everything() == before


@pytest.mark.parametrize("path", ["jobs", "runtimes", "jobs/old.yaml"])
def test_a_link_is_not_written_through(victim: Victim, path: str):
    victim.link(path, victim.outside / ("secret.yaml" if path.endswith(".yaml") else ""))
    deadline = json.loads(old())
    deadline["spec"]["runPolicy"] = {"backoffLimit": 3}
    victim.write("old.json", json.dumps(deadline))
    before = victim.everything()
    assert victim.trainform("migrate --write old.json").code == 2
    assert victim.everything() == before


def test_a_link_is_not_read_through(victim: Victim):
    victim.link("old.yaml", victim.outside / "secret.yaml")
    ended = victim.trainform("migrate old.yaml")
    assert ended.code == 2
    assert "correct horse" not in ended.output


def test_a_private_key_is_an_error_and_is_not_shown(victim: Victim):
    key = f"    -----BEGIN RSA PRIVATE {'KEY'}-----\n    {'c2VjcmV0' * 8}\n"
    victim.write("old.yaml", f"{old()}\n---\nkind: ConfigMap\napiVersion: v1\ndata:\n  a: |\n{key}")
    ended = victim.trainform("migrate old.yaml")
    assert ended.code == 2
    assert "TF156" in ended.output
    assert "c2VjcmV0" not in ended.output


def test_a_job_of_another_name_does_not_replace_an_edited_one(victim: Victim):
    before = (victim.root / "jobs/llm.yaml").read_bytes()
    victim.write("old.json", old(name="llm"))
    assert victim.trainform("migrate --write old.json").code == 2
    assert (victim.root / "jobs/llm.yaml").read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        {"nprocPerNode": "9" * 5000},
        {"nprocPerNode": "²"},
        {"elasticPolicy": {"metrics": [{}], "maxReplicas": 10**30}},
        {"runPolicy": {"schedulingPolicy": [], "suspend": "yes"}},
        {"pytorchReplicaSpecs": {"Worker": None, "worker": 3, "MASTER": {"template": {"spec": {"containers": [7]}}}}},
        {"pytorchReplicaSpecs": []},
    ],
)
def test_odd_values_are_told(change: dict[str, Any]):
    found = migrated(json.dumps({**OLD, "spec": {**OLD["spec"], **change}}))
    assert found.diagnostics


def test_host_names_of_any_length_are_read():
    text = (
        json.dumps(OLD).replace("example/old:1", f"old-worker-{'9' * 5000}").replace('"name": "pytorch"', '"name": "p"')
    )
    assert migrated(text).jobs


@pytest.mark.parametrize(
    "text",
    [
        "{{" * 4_000_000,
        f"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: a}}\nspec: '{'{{' * 2_000_000}'\n",
        "\n".join(json.dumps({**OLD, "metadata": {"name": f"job-{number}"}}) for number in range(4000)),
    ],
    ids=["braces", "braces in a job", "four thousand jobs"],
)
def test_large_files_take_no_time(text: str):
    assert trainform("migrate", "-", stdin=text).is_bounded
