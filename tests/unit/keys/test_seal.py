"""Encrypted key Secrets open for those that they are meant for, and show nothing to others."""

from __future__ import annotations

import os
from base64 import b64decode
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from support.sealing import certificate, cluster_key, recipient, sops_decrypt, unseal
from trainform.core.secrets import SecretNeed
from trainform.keys.make import KeySecret, ssh_secret
from trainform.keys.seal import SealingError, seal, sops_encrypt
from trainform.output.emitter import emit

NEED = SecretNeed.of("ssh", "llm-mpi-ssh-auth", "ml")
PRIVATE, PUBLIC = b"-----BEGIN EC PRIVATE KEY-----\nMIHc\n-----END EC PRIVATE KEY-----\n", b"ecdsa AAAA\n"
NOW = "2026-11-27T12:00:00Z"
TODAY = datetime(2026, 11, 27, 12, tzinfo=UTC)


def secret() -> KeySecret:
    return ssh_secret(NEED, PRIVATE, PUBLIC)


def sops_file(tmp_path, owners=("me",), **changes):
    tree = sops_encrypt(secret(), [recipient(owner) for owner in owners], os.urandom, NOW)
    file = tmp_path / "secret.yaml"
    file.write_text(emit({**tree, **changes}))
    return file


def test_a_sealed_secret_opens_under_its_name():
    sealed = seal(secret(), certificate(), os.urandom, TODAY)
    assert unseal(sealed, "ml", NEED.name) == {"ssh-privatekey": PRIVATE, "ssh-publickey": PUBLIC}


@pytest.mark.parametrize(("namespace", "name"), [("other", NEED.name), ("ml", "other")])
def test_a_sealed_secret_opens_under_no_other_name(namespace, name):
    sealed = seal(secret(), certificate(), os.urandom, TODAY)
    with pytest.raises(ValueError, match="Decryption failed"):
        unseal(sealed, namespace, name)


def test_a_sealed_secret_becomes_an_immutable_secret_of_the_type_that_ssh_wants():
    sealed = seal(secret(), certificate(), os.urandom, TODAY)
    metadata = {"name": NEED.name, "namespace": "ml"}
    assert sealed["apiVersion"] == "bitnami.com/v1alpha1"
    assert sealed["metadata"] == metadata
    assert sealed["spec"]["template"] == {
        "immutable": True,
        "metadata": metadata,
        "type": "kubernetes.io/ssh-auth",
    }


def test_each_value_has_a_session_key_of_its_own():
    asked: list[int] = []

    def random_bytes(count: int) -> bytes:
        asked.append(count)
        return os.urandom(count)

    seal(secret(), certificate(), random_bytes, TODAY)
    assert asked == [32, 32]


def pem_of_private_key() -> bytes:
    return cluster_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    ("pem", "message"),
    [
        (b"", "is not a PEM certificate"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is not a PEM certificate"),
        (certificate(ec.generate_private_key(ec.SECP256R1())), "has no RSA key"),
        (pem_of_private_key(), "contains a private key"),
    ],
    ids=["empty", "garbage", "of another kind of key", "a private key"],
)
def test_certificates_that_nothing_can_be_sealed_for(pem, message):
    with pytest.raises(SealingError, match=message):
        seal(secret(), pem, os.urandom, TODAY)


@pytest.mark.parametrize(
    ("now", "message"),
    [
        (datetime(2025, 12, 31, 23, 59, tzinfo=UTC), "is not valid before 2026-01-01 00:00 UTC"),
        (datetime(2026, 1, 1, tzinfo=UTC), ""),
        (datetime(2026, 1, 31, tzinfo=UTC), ""),
        (datetime(2026, 1, 31, 0, 0, 1, tzinfo=UTC), "expired on 2026-01-31 00:00 UTC"),
    ],
    ids=["a minute early", "first moment", "last moment", "a second late"],
)
def test_a_certificate_must_be_valid_now(now, message):
    pem = certificate(days=30)
    if message:
        with pytest.raises(SealingError, match=message):
            seal(secret(), pem, os.urandom, now)
    else:
        assert seal(secret(), pem, os.urandom, now)["kind"] == "SealedSecret"


@pytest.mark.parametrize("owner", ["me", "you"])
def test_sops_opens_it_for_each_recipient(tmp_path, owner):
    tree = sops_decrypt(sops_file(tmp_path, ("me", "you")), owner)
    assert {key: b64decode(value) for key, value in tree.pop("data").items()} == {
        "ssh-privatekey": PRIVATE,
        "ssh-publickey": PUBLIC,
    }
    assert tree == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": NEED.name, "namespace": "ml"},
        "type": "kubernetes.io/ssh-auth",
        "immutable": True,
    }


def test_sops_opens_it_for_nobody_else(tmp_path):
    with pytest.raises(AssertionError, match="Failed to get the data key"):
        sops_decrypt(sops_file(tmp_path), "somebody")


def test_sops_opens_it_with_a_label_that_a_patch_added(tmp_path):
    metadata = {"name": NEED.name, "namespace": "ml", "labels": {"team": "a"}}
    assert sops_decrypt(sops_file(tmp_path, metadata=metadata))["metadata"] == metadata


def test_sops_finds_out_when_a_value_was_taken_away(tmp_path):
    file = sops_file(tmp_path)
    lines = file.read_text().splitlines()
    kept = [line for line in lines if "ssh-publickey" not in line]
    assert len(kept) == len(lines) - 1
    file.write_text("\n".join(kept))
    with pytest.raises(AssertionError, match="MAC mismatch"):
        sops_decrypt(file)


@pytest.mark.parametrize("text", ["age1", "age1qqqq", "ssh-ed25519 AAAA"])
def test_recipients_that_nothing_can_be_encrypted_for(text):
    with pytest.raises(SealingError, match="is not a public age key"):
        sops_encrypt(secret(), [text], os.urandom, NOW)


def test_neither_form_shows_anything_of_a_private_key(tmp_path):
    sealed = emit(seal(secret(), certificate(), os.urandom, TODAY))
    for text in (sealed, sops_file(tmp_path).read_text()):
        assert "PRIVATE" not in text
        assert "MIHc" not in text
