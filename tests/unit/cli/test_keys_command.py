"""`trainform keys`: what is missing is made, encrypted, and nothing else is touched."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from pathlib import Path

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ec import SECP521R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_ssh_public_key,
)

from support.sealing import certificate, recipient, sops_decrypt, unseal
from trainform.core.secrets import SecretNeed
from trainform.keys.files import make_keys
from trainform.keys.seal import Sealing

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: ml}}
spec:
  runtimeRef: {{name: {runtime}}}
  trainer: {{numNodes: 2, command: [train]}}
"""

SSH_FILE = "environments/prod/keys/ml.mpi-mpi-ssh-auth.yaml"
CURVE_FILE = "environments/prod/keys/ml.lammps-flux-curve.yaml"


def environment(root: Path, secrets: str, name: str = "prod", more: str = "") -> None:
    folder = root / "environments" / name
    (folder / "keys").mkdir(parents=True, exist_ok=True)
    (folder / "keys" / "cert.pem").write_bytes(certificate())
    (folder / "environment.yaml").write_text(
        "apiVersion: trainform.dev/v1alpha1\nkind: Environment\n"
        f"metadata: {{name: {name}}}\nspec:\n  secrets: {{{secrets}}}\n{more}"
    )


SEALED = "mode: sealed-secret, certificate: keys/cert.pem"


def sops(*owners: str) -> str:
    return f"mode: sops, recipients: [{', '.join(map(recipient, owners or ('me',)))}]"


@pytest.fixture
def jobs(root):
    for name, runtime in (("mpi", "deepspeed-distributed"), ("lammps", "flux-distributed")):
        (root / "jobs" / f"{name}.yaml").write_text(JOB.format(name=name, runtime=runtime))
    return root


def test_sealed_secrets_for_the_cluster(jobs, trainform):
    environment(jobs, SEALED)
    ran = trainform("keys")
    assert (ran.code, ran.err) == (0, "")
    assert sorted(ran.out.splitlines()) == [f"wrote {CURVE_FILE}", f"wrote {SSH_FILE}"]
    file = yaml.safe_load((jobs / SSH_FILE).read_text())
    values = unseal(file, "ml", "mpi-mpi-ssh-auth")
    private = load_pem_private_key(values["ssh-privatekey"], None)
    assert isinstance(private, EllipticCurvePrivateKey)
    assert isinstance(private.curve, SECP521R1)
    assert values["ssh-privatekey"].startswith(b"-----BEGIN EC PRIVATE KEY-----")
    public = load_ssh_public_key(values["ssh-publickey"])
    assert public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo) == (
        private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )


def test_secrets_that_sops_opens(jobs, trainform):
    environment(jobs, sops())
    assert trainform("keys").code == 0
    secret = sops_decrypt(jobs / CURVE_FILE)
    assert b"secret-key" in b64decode(secret["data"]["curve.cert"])


@pytest.mark.parametrize("secrets", [SEALED, sops()], ids=["sealed-secret", "sops"])
def test_what_was_made_renders(jobs, trainform, secrets):
    environment(jobs, secrets)
    assert trainform("render").code == 2
    assert trainform("keys").code == 0
    ran = trainform("render")
    assert ran.code == 0, ran.err
    rendered = {path.name for path in (jobs / "rendered" / "prod").rglob("*secret-*.yaml")}
    assert len(rendered) == 2


def test_nothing_of_a_private_key_is_on_disk_or_printed(jobs, trainform):
    environment(jobs, SEALED)
    environment(jobs, sops(), name="dev")
    printed = [trainform("keys"), trainform("keys", "--format", "json"), trainform("render")]
    told = "".join(ran.out + ran.err for ran in printed)
    files = [path.read_bytes() for path in jobs.rglob("*") if path.is_file()]
    assert len(files) > 8
    for text in (told.encode(), *files):
        assert b"PRIVATE KEY" not in text
        assert b"secret-key" not in text


def test_what_is_there_stays_as_it_is(jobs, trainform):
    environment(jobs, sops())
    trainform("keys", "mpi")
    before = (jobs / SSH_FILE).read_bytes()
    ran = trainform("keys")
    assert ran.out == f"wrote {CURVE_FILE}\n"
    assert (jobs / SSH_FILE).read_bytes() == before
    assert trainform("keys").out == "no key is missing\n"


def test_only_the_jobs_and_environments_asked_for(jobs, trainform):
    environment(jobs, SEALED)
    environment(jobs, sops(), name="dev")
    ran = trainform("keys", "ml/mpi", "--env", "dev")
    assert (ran.code, ran.out) == (0, "wrote environments/dev/keys/ml.mpi-mpi-ssh-auth.yaml\n")


def test_an_environment_without_the_job_asked_for_needs_nothing(jobs, trainform):
    environment(jobs, SEALED)
    environment(jobs, sops(), name="dev", more='  jobs: {paths: ["jobs/none/**"]}\n')
    ran = trainform("keys", "ml/mpi")
    assert (ran.code, ran.out) == (0, f"wrote {SSH_FILE}\n"), ran.err


@pytest.mark.parametrize("secrets", ["mode: reference", "mode: external-secret, store: {name: vault}"])
def test_modes_without_key_files(jobs, trainform, secrets):
    environment(jobs, secrets)
    ran = trainform("keys")
    assert (ran.code, ran.out) == (0, "no key is missing\n"), ran.err


def test_the_result_as_json(jobs, trainform):
    environment(jobs, SEALED)
    result = json.loads(trainform("keys", "mpi", "--format", "json").out)
    assert result["kind"] == "KeysResult"
    assert result["wrote"] == [SSH_FILE]
    assert result["diagnostics"] == []


def test_a_foreign_file_in_the_way_is_left_alone(jobs, trainform):
    environment(jobs, SEALED)
    (jobs / SSH_FILE).write_text("# mine\n")
    ran = trainform("keys", "mpi")
    assert ran.code == 2
    assert "TF706" in ran.err
    assert (jobs / SSH_FILE).read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("secrets", "code", "message"),
    [
        ("mode: sealed-secret, certificate: missing.pem", "TF701", "cannot be read"),
        ("mode: sealed-secret, certificate: environment.yaml", "TF708", "is not a PEM certificate"),
        ("mode: sops, recipients: [age1qqqq]", "TF708", '"age1qqqq" is not a public age key'),
        ("mode: sops", "TF155", "is required by mode sops"),
    ],
)
def test_nothing_to_encrypt_for(jobs, trainform, secrets, code, message):
    environment(jobs, secrets)
    ran = trainform("keys")
    assert ran.code == 2
    assert code in ran.err
    assert message in ran.err
    assert not list(jobs.rglob("keys/*.yaml"))


def test_a_key_file_that_does_not_fit_is_told_and_the_others_are_made(jobs, trainform):
    environment(jobs, sops())
    trainform("keys", "mpi")
    environment(jobs, sops("me", "you"))
    ran = trainform("keys")
    assert ran.code == 2
    assert "TF325" in ran.err
    assert ran.out == f"wrote {CURVE_FILE}\n"


def test_a_key_in_the_clear_is_told_without_showing_it(jobs, trainform):
    environment(jobs, SEALED)
    (jobs / SSH_FILE).write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: mpi-mpi-ssh-auth, namespace: ml}\n"
        "stringData:\n  ssh-privatekey: hidden treasure\n"
    )
    ran = trainform("keys")
    assert ran.code == 2
    assert "TF156" in ran.err
    assert "treasure" not in ran.err + ran.out


@pytest.mark.parametrize("command", ["render", "check", "validate", "diff --base ."])
@pytest.mark.parametrize("place", [SSH_FILE, "environments/prod/old.yaml", "jobs/own.yaml"])
def test_a_key_in_the_clear_is_an_error_though_no_job_is_compiled(jobs, trainform, command, place):
    environment(jobs, "mode: reference")
    assert trainform("render").code == 0
    (jobs / place).write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: mpi-mpi-ssh-auth, namespace: ml}\n"
        "stringData:\n  ssh-privatekey: hidden treasure\n"
    )
    ran = trainform(*command.split())
    assert ran.code == 2
    assert f"{place}: error TF156: holds an unencrypted private key" in ran.err + ran.out
    assert "treasure" not in ran.err + ran.out


AGE = "AGE-SECRET-KEY-1" + "Q" * 58


@pytest.mark.parametrize("command", ["render", "check", "validate"])
@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("environments/prod/keys/id_age", "{key}\n"),
        (
            "environments/prod/facts.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{any: {key}}}\n",
        ),
        ("jobs/own.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData: {{any: {key}}}\n"),
        ("runtimes/own.yaml", "# {key}\n"),
        ("jobs/new.yaml.j2", "# {key}\n"),
    ],
)
def test_a_private_key_is_an_error_in_any_file_that_is_read(jobs, trainform, command, place, text):
    environment(jobs, "mode: reference")
    assert trainform("render").code == 0
    assert trainform("check").code == 0
    (jobs / place).parent.mkdir(exist_ok=True)
    (jobs / place).write_text(text.format(key=AGE))
    ran = trainform(command)
    line = text[: text.index("{key}")].count("\n") + 1
    assert ran.code == 2
    assert f"{place}:{line}:1: error TF156: holds an unencrypted private key" in ran.err + ran.out
    assert "QQQQ" not in ran.err + ran.out


def test_a_broken_key_file_is_told_without_showing_its_lines(jobs, trainform):
    environment(jobs, SEALED)
    (jobs / SSH_FILE).write_text("stringData: {ssh-privatekey: hidden treasure]\n")
    ran = trainform("keys")
    assert ran.code == 2
    assert f"{SSH_FILE}:1:" in ran.err
    assert "treasure" not in ran.err + ran.out


def test_errors_of_a_job_asked_for_are_told(jobs, trainform):
    environment(jobs, SEALED)
    (jobs / "jobs" / "mpi.yaml").write_text(JOB.format(name="mpi", runtime="deepsped"))
    assert trainform("keys").code == 0
    ran = trainform("keys", "mpi")
    assert ran.code == 2
    assert "TF201" in ran.err


@pytest.mark.parametrize("package", ["cryptography", "pyrage"])
def test_the_extra_is_named_where_it_is_missing(jobs, trainform, monkeypatch, package):
    environment(jobs, SEALED)
    monkeypatch.setitem(sys.modules, package, None)
    ran = trainform("keys")
    assert ran.code == 2
    assert f"needs the package {package}" in ran.err
    assert 'pip install "trainform[secrets]"' in ran.err


def test_two_jobs_with_one_secret_share_its_file():
    need = SecretNeed.of("ssh", "llm-mpi-ssh-auth", "ml")
    sealing = Sealing("sealed-secret", certificate())
    assert len(make_keys([need, need], (), sealing)) == 1


def test_a_link_that_leads_out_is_not_followed(jobs, trainform, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    environment(jobs, sops())
    keys = jobs / "environments" / "prod" / "keys"
    (keys / "cert.pem").unlink()
    keys.rmdir()
    keys.symlink_to(outside)
    ran = trainform("keys")
    assert ran.code == 2
    assert list(outside.iterdir()) == []
