"""Making keys: the one place where chance comes in. They leave it encrypted or not at all."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from trainform.keys.make import KeySecret, curve_secret, ssh_secret
from trainform.keys.seal import RandomBytes, seal, sops_encrypt
from trainform.output.emitter import emit

if TYPE_CHECKING:
    from trainform.core.secrets import SecretNeed
    from trainform.k8s.tree import Tree

MODES = ("sealed-secret", "sops")
"""The modes of `spec.secrets` that need key files."""


@dataclass(frozen=True, slots=True)
class Sealing:
    """For whom an Environment encrypts: `certificate` (PEM) in mode sealed-secret, `recipients` in sops."""

    mode: str
    certificate: bytes = b""
    recipients: tuple[str, ...] = ()


def make_keys(
    needs: Iterable[SecretNeed],
    existing: Container[tuple[str, str]],
    sealing: Sealing,
    random_bytes: RandomBytes,
    now: str,
) -> list[tuple[str, str]]:
    """New keys for the `needs` that are not among `existing`: file name and text of each, encrypted.

    `now` is the time as RFC 3339 in UTC, which SOPS writes down. Raises SealingError when nothing can be
    encrypted for what `sealing` names.
    """
    missing = list({need.id: need for need in needs if need.id not in existing}.values())
    if missing:
        _require_libraries()
    return [(need.file, emit(_encrypted(_make(need), sealing, random_bytes, now))) for need in missing]


def _encrypted(secret: KeySecret, sealing: Sealing, random_bytes: RandomBytes, now: str) -> Tree:
    if sealing.mode == "sops":
        return sops_encrypt(secret, sealing.recipients, random_bytes, now)
    return seal(secret, sealing.certificate, random_bytes)


def _make(need: SecretNeed) -> KeySecret:
    if need.kind == "ssh":
        return ssh_secret(need, *_ssh_key_pair())
    return curve_secret(need, *_curve_key_pair())


def _ssh_key_pair() -> tuple[bytes, bytes]:
    """A private key as PEM and its public key as OpenSSH has it, of the kind that the controller makes."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP521R1())
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.TraditionalOpenSSL, form.NoEncryption())
    return private, key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH) + b"\n"


def _curve_key_pair() -> tuple[bytes, bytes]:
    """The public and the secret key of CURVE, which are keys of X25519."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    key = X25519PrivateKey.generate()
    return key.public_key().public_bytes_raw(), key.private_bytes_raw()


def _require_libraries() -> None:
    for name in ("cryptography", "pyrage"):
        if find_spec(name) is None:
            hint = 'pip install "trainform[secrets]"'
            raise click.ClickException(f"creating keys needs the package {name}: {hint}")
