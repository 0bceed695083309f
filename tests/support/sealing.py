"""The other side of sealing: a cluster's key, age's, and what opens what was encrypted for them."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from base64 import b64decode
from functools import cache
from pathlib import Path
from typing import Any

import pyrage
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding

SOPS = Path(sys.executable).with_name("sops")


@cache
def cluster_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def certificate(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | None = None, days: int = 36500) -> bytes:
    """A certificate as `kubeseal --fetch-cert` prints it: signed by itself, without names, valid for
    `days` from 2026-01-01."""
    key = key or cluster_key()
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    builder = (
        x509.CertificateBuilder(x509.Name([]), x509.Name([]), key.public_key(), 1)
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=days))
    )
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def unseal(sealed: dict[str, Any], namespace: str, name: str) -> dict[str, bytes]:
    """What the controller decrypts of a SealedSecret that it meets under this name."""
    values = sealed["spec"]["encryptedData"]
    label = f"{namespace}/{name}".encode()
    return {key: _unseal(b64decode(value), label) for key, value in values.items()}


def _unseal(data: bytes, label: bytes) -> bytes:
    size = int.from_bytes(data[:2], "big")
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), label)
    session_key = cluster_key().decrypt(data[2 : 2 + size], oaep)
    return AESGCM(session_key).decrypt(bytes(12), data[2 + size :], None)


@cache
def age_key(owner: str = "me") -> pyrage.x25519.Identity:
    return pyrage.x25519.Identity.generate()


def recipient(owner: str = "me") -> str:
    return str(age_key(owner).to_public())


def sops_decrypt(file: Path, owner: str = "me") -> dict[str, Any]:
    """What the real `sops` makes of a file; AssertionError with its words where it refuses."""
    environment = {**os.environ, "SOPS_AGE_KEY": str(age_key(owner)), "HOME": str(file.parent)}
    ran = subprocess.run([SOPS, "decrypt", file], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    tree: dict[str, Any] = yaml.safe_load(ran.stdout)
    return tree
