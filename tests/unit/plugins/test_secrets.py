"""Key Secrets: what each mode of an Environment renders for MPI and Flux jobs, and what it refuses."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from support.sealing import certificate, recipient
from support.streams import Tree, compiled, errors, job
from trainform.core.compile import CompiledJob
from trainform.core.secrets import SecretNeed
from trainform.keys.make import curve_secret, ssh_secret
from trainform.keys.seal import seal, sops_encrypt

SCHEMAS = json.loads((Path(__file__).parents[2] / "support" / "external_secrets.json").read_text())

SSH = SecretNeed.of("ssh", "llm-mpi-ssh-auth", "ml")
CURVE = SecretNeed.of("curve", "llm-flux-curve", "ml")
MPI = job("llm", "deepspeed-distributed")
FLUX = job("llm", "flux-distributed", trainer={"numNodes": 2, "command": ["lmp"]})
SECRETS = ("SSHKey", "ExternalSecret", "SealedSecret", "Secret")


def environment(mode: str, *, engine: str = "none", **secrets: Any) -> Tree:
    return {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "Environment",
        "metadata": {"name": "prod"},
        "spec": {"secrets": {"mode": mode, **secrets}, "gitops": {"engine": engine}},
    }


EXTERNAL = environment("external-secret")
SEALED = environment("sealed-secret", certificate="keys/cert.pem")


def sops(*owners: str, **fields: Any) -> Tree:
    return environment("sops", recipients=[recipient(owner) for owner in owners or ("me",)], **fields)


def sealed_file(need: SecretNeed = SSH) -> Tree:
    make = ssh_secret if need.kind == "ssh" else curve_secret
    return seal(make(need, bytes(32), bytes(32)), certificate(), os.urandom, datetime(2026, 11, 27, tzinfo=UTC))


def sops_file(*owners: str) -> Tree:
    secret = ssh_secret(SSH, b"private", b"public")
    return sops_encrypt(secret, [recipient(owner) for owner in owners or ("me",)], os.urandom, "2026-11-27T12:00:00Z")


def compiled_job(*objects: Tree) -> CompiledJob:
    (only,) = compiled(*objects).jobs
    return only


def rendered(*objects: Tree) -> list[Tree]:
    """What a job that compiles gets for its keys."""
    compilation = compiled(*objects)
    assert errors(compilation) == []
    return [tree for tree in compilation.jobs[0].objects if tree["kind"] in SECRETS]


@pytest.mark.parametrize("train_job", [MPI, FLUX], ids=["mpi", "flux"])
def test_by_reference_nothing_is_rendered_but_the_secret_is_named(train_job):
    result = compiled_job(train_job, environment("reference"))
    assert [tree["kind"] for tree in result.objects if tree["kind"] in SECRETS] == []
    (info,) = [told for told in result.diagnostics if told.code == "TF320"]
    assert info.severity == "info"


def test_external_secrets_make_the_keys_once_and_for_all():
    generator, secret = rendered(MPI, EXTERNAL)
    assert generator["metadata"] == secret["metadata"] == {"name": SSH.name, "namespace": "ml"}
    assert secret["spec"]["refreshPolicy"] == "CreatedOnce"
    target = secret["spec"]["target"]
    assert (target["name"], target["immutable"]) == (SSH.name, True)
    assert target["template"]["type"] == "kubernetes.io/ssh-auth"
    assert target["template"]["data"] == {
        "ssh-privatekey": "{{ .privateKey }}",
        "ssh-publickey": "{{ .publicKey }}",
    }
    (source,) = secret["spec"]["dataFrom"]
    assert source["sourceRef"]["generatorRef"]["name"] == generator["metadata"]["name"]


STORE = {"name": "vault", "kind": "ClusterSecretStore"}


@pytest.mark.parametrize(("train_job", "need"), [(MPI, SSH), (FLUX, CURVE)], ids=["mpi", "flux"])
def test_a_store_has_the_keys_of_either_kind(train_job, need):
    (secret,) = rendered(train_job, environment("external-secret", store=STORE))
    assert secret["spec"]["secretStoreRef"] == STORE
    remote = [(each["secretKey"], each["remoteRef"]["key"]) for each in secret["spec"]["data"]]
    assert remote == [(key, f"ml-{need.name}") for key in need.keys]


@pytest.mark.parametrize("secrets", [{}, {"store": STORE}, {"store": {"name": "vault"}}])
def test_external_secrets_accept_what_is_rendered(secrets):
    for tree in rendered(MPI, environment("external-secret", **secrets)):
        schema = {"$ref": f"#/$defs/{tree['kind']}", "$defs": SCHEMAS["$defs"]}
        assert list(Draft202012Validator(schema).iter_errors(tree)) == []


@pytest.mark.parametrize(("train_job", "need"), [(MPI, SSH), (FLUX, CURVE)], ids=["mpi", "flux"])
def test_a_sealed_secret_is_copied(train_job, need):
    file = sealed_file(need)
    assert rendered(train_job, SEALED, file) == [file]


def test_a_secret_of_sops_is_copied():
    file = sops_file("me", "you")
    assert rendered(MPI, sops("you", engine="flux"), file) == [file]


def changed(tree: Tree, *path: str, to: Any) -> Tree:
    """The tree with another value at `path`."""
    head, *rest = path
    return {**tree, head: changed(tree[head], *rest, to=to) if rest else to}


def copied_from_another_job() -> Tree:
    file = sealed_file(SecretNeed.of("ssh", "other-mpi-ssh-auth", "ml"))
    return changed(file, "metadata", "name", to=SSH.name)


PLAIN = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": SSH.name, "namespace": "ml"},
    "type": "kubernetes.io/ssh-auth",
    "stringData": {"ssh-privatekey": "-----BEGIN EC PRIVATE KEY-----\nMIHc", "ssh-publickey": "ecdsa AAAA"},
}


def in_namespace_of_environment(tree: Tree) -> Tree:
    """An Environment for the namespace `ml`, which jobs and key files need not name to be found."""
    return changed(tree, "spec", to={**tree["spec"], "namespace": "ml"})


def half_encrypted() -> Tree:
    return changed(sops_file(), "data", "ssh-privatekey", to="LS0tLS1CRUdJTiBFQyBQUklW")


@pytest.mark.parametrize(
    ("objects", "code", "message"),
    [
        ((FLUX, EXTERNAL), "TF326", "External Secrets cannot generate the CURVE certificate"),
        ((MPI, environment("external-secret", store={"kind": "Vault"})), "TF326", "does not name a store"),
        ((MPI, sops(engine="argocd"), sops_file()), "TF326", "Argo CD cannot decrypt"),
        ((MPI, SEALED), "TF324", "Secret llm-mpi-ssh-auth in namespace ml has no key file"),
        ((FLUX, sops()), "TF324", "Secret llm-flux-curve in namespace ml has no key file"),
        ((MPI, SEALED, changed(sealed_file(), "metadata", "namespace", to="other")), "TF324", "has no key file"),
        ((MPI, SEALED, copied_from_another_job()), "TF325", "was sealed for ml/other-mpi-ssh-auth"),
        ((MPI, SEALED, changed(sealed_file(), "spec", "encryptedData", to={})), "TF325", "lacks ssh-privatekey"),
        ((MPI, SEALED, changed(sealed_file(), "spec", to=None)), "TF325", "lacks ssh-privatekey"),
        ((MPI, SEALED, sops_file()), "TF325", "is a Secret, but this mode needs a SealedSecret"),
        ((MPI, sops(), sealed_file()), "TF325", "is a SealedSecret, but this mode needs a Secret"),
        ((MPI, sops("me", "you"), sops_file()), "TF325", "is not encrypted for age1"),
        ((MPI, sops(), changed(sops_file(), "sops", to="?")), "TF325", "is not encrypted for"),
        ((MPI, sops(), changed(sops_file(), "data", to={})), "TF325", "lacks ssh-privatekey and ssh-publickey"),
        (
            (MPI, in_namespace_of_environment(sops()), changed(sops_file(), "metadata", to={"name": SSH.name})),
            "TF325",
            "does not set a namespace",
        ),
        ((MPI, sops(), PLAIN), "TF156", "unencrypted"),
        ((MPI, SEALED, PLAIN), "TF156", "unencrypted"),
        ((MPI, environment("reference"), PLAIN), "TF156", "unencrypted"),
        ((MPI, sops(), half_encrypted()), "TF156", "unencrypted"),
    ],
)
def test_what_is_refused(objects, code, message):
    (error,) = errors(compiled(*objects))
    assert error.code == code
    assert message in error.message


@pytest.mark.parametrize("version", [None, "", ["bitnami.com/v1alpha1"]])
def test_a_key_file_without_an_api_version_is_none(version):
    file = sealed_file()
    file = {key: value for key, value in file.items() if key != "apiVersion"} | (
        {} if version is None else {"apiVersion": version}
    )
    codes = {error.code for error in errors(compiled(MPI, SEALED, file))}
    assert "TF324" in codes
    assert len(codes) == 2  # and what is wrong with the file


@pytest.mark.parametrize("file", [None, copied_from_another_job()])
def test_the_command_that_mends_it_is_named(file):
    (error,) = errors(compiled(MPI, SEALED, *filter(None, [file])))
    assert "trainform keys ml/llm" in error.hint


def test_a_key_in_the_clear_is_in_no_message():
    told = compiled_job(MPI, sops(), PLAIN).diagnostics
    assert told
    for diagnostic in told:
        shown = f"{diagnostic.message} {diagnostic.hint} {diagnostic.file} {diagnostic.position}"
        assert "PRIVATE KEY" not in shown
        assert "MIHc" not in shown


def test_a_job_without_keys_is_left_alone():
    assert rendered(job("llm", "torch-distributed"), SEALED) == []
