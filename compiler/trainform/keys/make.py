"""Keys in the forms in which pods look for them: what a key Secret holds before it is encrypted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainform.core.secrets import SecretNeed

_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


@dataclass(frozen=True, slots=True)
class KeySecret:
    """A Secret with its values, in the clear: it lives in memory only, and shows nothing of them."""

    need: SecretNeed
    values: Mapping[str, bytes] = field(repr=False)


def ssh_secret(need: SecretNeed, private_key: bytes, public_key: bytes) -> KeySecret:
    """A pair of SSH keys: PEM text, and the line of an `authorized_keys` file."""
    return KeySecret(need, dict(zip(need.keys, (private_key, public_key), strict=True)))


def curve_secret(need: SecretNeed, public_key: bytes, secret_key: bytes) -> KeySecret:
    """A CURVE certificate of two keys of 32 bytes each."""
    return KeySecret(need, dict(zip(need.keys, (_certificate(need, public_key, secret_key),), strict=True)))


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
    """ZeroMQ's base 85 of `data`, whose length is a multiple of four (else ValueError). Source: RFC 32."""
    if len(data) % 4:
        raise ValueError("the length is no multiple of four")
    return "".join(_digits(int.from_bytes(data[i : i + 4], "big")) for i in range(0, len(data), 4))


def _digits(number: int) -> str:
    return "".join(_Z85[number // 85**power % 85] for power in (4, 3, 2, 1, 0))
