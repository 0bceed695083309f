"""Encrypt key Secrets for a repository, as SealedSecrets or like SOPS for age. Needs the extra `secrets`. Session keys
and nonces come from the caller; RSA-OAEP and age also use their libraries' randomness."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    from trainform.k8s.tree import Tree
    from trainform.keys.make import KeySecret

RandomBytes = Callable[[int], bytes]
"""Returns that many unpredictable bytes, like `os.urandom`."""

MODES = ("sealed-secret", "sops")
"""The modes of `spec.secrets` that need key files."""

_KEY_BYTES = 32
_SOPS_NONCE_BYTES = 32
_TAG_BYTES = 16

_SOPS_REGEX = "^(data|stringData)$"
_SOPS_VERSION = "3.9.0"
"""The first version of SOPS that knows `mac_only_encrypted`."""


class SealingError(Exception):
    """The Environment's certificate or recipients are unusable. The message reveals nothing of the keys."""


@dataclass(frozen=True, slots=True)
class Sealing:
    """An Environment's recipients: `certificate` (PEM) in mode sealed-secret, `recipients` in mode sops."""

    mode: str
    certificate: bytes = b""
    recipients: tuple[str, ...] = ()


def encrypt(secret: KeySecret, sealing: Sealing, random_bytes: RandomBytes, now: datetime) -> Tree:
    """The encrypted document. `now` is in UTC: SOPS records it, and a certificate must be valid then. Raises
    SealingError."""
    if sealing.mode == "sops":
        return sops_encrypt(secret, sealing.recipients, random_bytes, now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return seal(secret, sealing.certificate, random_bytes, now)


def seal(secret: KeySecret, certificate: bytes, random_bytes: RandomBytes, now: datetime) -> Tree:
    """The SealedSecret that only the cluster of `certificate` (PEM) can decrypt, under this name and namespace. Raises
    SealingError if `certificate` is no certificate, holds no RSA key, or is not valid at `now`."""
    need, public_key = secret.need, _rsa_key(certificate, now)
    label = f"{need.namespace}/{need.name}".encode()
    metadata = {"name": need.name, "namespace": need.namespace}
    sealed = {key: _hybrid(value, public_key, label, random_bytes) for key, value in secret.values.items()}
    return {
        "apiVersion": "bitnami.com/v1alpha1",
        "kind": "SealedSecret",
        "metadata": metadata,
        "spec": {
            "encryptedData": sealed,
            "template": {"immutable": True, "metadata": dict(metadata), "type": need.type},
        },
    }


def _rsa_key(certificate: bytes, now: datetime) -> RSAPublicKey:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    if b"PRIVATE KEY" in certificate:
        raise SealingError("contains a private key: only the certificate belongs in a repository")
    try:
        found = x509.load_pem_x509_certificate(certificate)
        key = found.public_key()
    except ValueError:
        raise SealingError("is not a PEM certificate") from None
    if now < found.not_valid_before_utc:
        raise SealingError(f"is not valid before {found.not_valid_before_utc:%Y-%m-%d %H:%M} UTC")
    if now > found.not_valid_after_utc:
        raise SealingError(f"expired on {found.not_valid_after_utc:%Y-%m-%d %H:%M} UTC")
    if not isinstance(key, RSAPublicKey):
        raise SealingError("has no RSA key: it does not come from a Sealed Secrets controller")
    return key


def _hybrid(value: bytes, key: RSAPublicKey, label: bytes, random_bytes: RandomBytes) -> str:
    """A session key encrypted with `key`, then `value` encrypted with the session key. The nonce is zero, as each
    session key is used once. Source: sealed-secrets `pkg/crypto`."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding

    session_key = random_bytes(_KEY_BYTES)
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), label)
    wrapped = key.encrypt(session_key, oaep)
    sealed = _aes_gcm(session_key, bytes(12), value, b"")
    return b64encode(len(wrapped).to_bytes(2, "big") + wrapped + sealed).decode()


def sops_encrypt(secret: KeySecret, recipients: Sequence[str], random_bytes: RandomBytes, now: str) -> Tree:
    """The Secret as `sops --encrypt --age` writes it, for public age keys; `now` as RFC 3339 in UTC. The MAC covers
    only encrypted values, so patches may add labels. Raises SealingError if a recipient is no age key."""
    need, data_key = secret.need, random_bytes(_KEY_BYTES)
    plain = {key: b64encode(value).decode() for key, value in secret.values.items()}
    data = {key: _enc(text, data_key, f"data:{key}:", random_bytes) for key, text in plain.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": need.name, "namespace": need.namespace},
        "type": need.type,
        "immutable": True,
        "data": data,
        "sops": {
            "age": [{"recipient": each, "enc": _for_recipient(data_key, each)} for each in recipients],
            "lastmodified": now,
            "mac": _enc(_mac(plain.values()), data_key, now, random_bytes),
            "encrypted_regex": _SOPS_REGEX,
            "mac_only_encrypted": True,
            "version": _SOPS_VERSION,
        },
    }


def _mac(values: Iterable[str]) -> str:
    """SOPS's digest of encrypted values in their order, which starts with the SHA-256 of `sops`."""
    digest = hashlib.sha512(hashlib.sha256(b"sops").digest())
    for value in values:
        digest.update(value.encode())
    return digest.hexdigest().upper()


def _enc(text: str, data_key: bytes, context: str, random_bytes: RandomBytes) -> str:
    """A string as SOPS encrypts it; `context` is its path, or the time of the MAC. Source: SOPS `aes`."""
    nonce = random_bytes(_SOPS_NONCE_BYTES)
    sealed = _aes_gcm(data_key, nonce, text.encode(), context.encode())
    parts = {"data": sealed[:-_TAG_BYTES], "iv": nonce, "tag": sealed[-_TAG_BYTES:]}
    fields = ",".join(f"{name}:{b64encode(part).decode()}" for name, part in parts.items())
    return f"ENC[AES256_GCM,{fields},type:str]"


def _for_recipient(data_key: bytes, recipient: str) -> str:
    import pyrage

    try:
        key = pyrage.x25519.Recipient.from_str(recipient)
    except pyrage.RecipientError:
        raise SealingError(f'"{recipient}" is not a public age key') from None
    armored: bytes = pyrage.encrypt(data_key, [key], armored=True)
    return armored.decode()


def _aes_gcm(key: bytes, nonce: bytes, plain: bytes, context: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key).encrypt(nonce, plain, context)
