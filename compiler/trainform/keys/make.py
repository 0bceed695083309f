"""Generate key pairs as the Secrets that pods mount. Unencrypted, they exist only in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainform.core.secrets import SecretNeed

_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


@dataclass(frozen=True, slots=True)
class KeySecret:
    """A Secret with its values before encryption; its repr hides them."""

    need: SecretNeed
    values: Mapping[str, bytes] = field(repr=False)


def make_secret(need: SecretNeed) -> KeySecret:
    """A Secret with a new key pair of the kind that is needed."""
    if need.kind == "ssh":
        return ssh_secret(need, *_ssh_key_pair())
    return curve_secret(need, *_curve_key_pair())


def ssh_secret(need: SecretNeed, private_key: bytes, public_key: bytes) -> KeySecret:
    """An SSH key pair: the private key as PEM, the public key as a line of an `authorized_keys` file."""
    return KeySecret(need, dict(zip(need.keys, (private_key, public_key), strict=True)))


def curve_secret(need: SecretNeed, public_key: bytes, secret_key: bytes) -> KeySecret:
    """A CURVE certificate of two keys of 32 bytes each."""
    return KeySecret(need, dict(zip(need.keys, (_certificate(need, public_key, secret_key),), strict=True)))


def _ssh_key_pair() -> tuple[bytes, bytes]:
    """A private key as PEM and its OpenSSH public key, of the same type as the controller's."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP521R1())
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.TraditionalOpenSSL, form.NoEncryption())
    return private, key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH) + b"\n"


def _curve_key_pair() -> tuple[bytes, bytes]:
    """The public and the secret key of CURVE, which are X25519 keys."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    key = X25519PrivateKey.generate()
    return key.public_key().public_bytes_raw(), key.private_bytes_raw()


def _certificate(need: SecretNeed, public_key: bytes, secret_key: bytes) -> bytes:
    """The file that `flux keygen` writes, which Flux reads line by line. Source: flux-core's `cert.c`."""
    lines = (
        "#  ZeroMQ CURVE **Secret** Certificate",
        "#  DO NOT DISTRIBUTE",
        "",
        "metadata",
        f'    name = "{need.name}"',
        "curve",
        f'    public-key = "{z85(public_key)}"',
        f'    secret-key = "{z85(secret_key)}"',
        "",
    )
    return "\n".join(lines).encode()


def z85(data: bytes) -> str:
    """`data` in ZeroMQ's base 85. Raises ValueError unless its length is a multiple of four. Source: RFC 32."""
    if len(data) % 4:
        raise ValueError("the length is no multiple of four")
    return "".join(_digits(int.from_bytes(data[i : i + 4], "big")) for i in range(0, len(data), 4))


def _digits(number: int) -> str:
    return "".join(_Z85[number // 85**power % 85] for power in (4, 3, 2, 1, 0))
