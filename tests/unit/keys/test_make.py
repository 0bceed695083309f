"""Keys as pods look for them."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from trainform.core.secrets import SecretNeed
from trainform.keys.make import curve_secret, ssh_secret, z85

SSH = SecretNeed.of("ssh", "llm-mpi-ssh-auth", "ml")
CURVE = SecretNeed.of("curve", "llm-flux-curve", "ml")


def test_z85_is_that_of_its_specification():
    assert z85(bytes([0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B])) == "HelloWorld"


def test_z85_has_no_padding():
    with pytest.raises(ValueError, match="multiple of four"):
        z85(b"abc")


def test_a_curve_key_is_one_of_x25519():
    """The pair of keys in the manual of libzmq's zmq_curve(7)."""
    secret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
    public = X25519PrivateKey.from_private_bytes(from_z85(secret)).public_key().public_bytes_raw()
    assert z85(public) == "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"


def from_z85(text: str) -> bytes:
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    words = (text[i : i + 5] for i in range(0, len(text), 5))
    return b"".join(
        sum(alphabet.index(digit) * 85 ** (4 - i) for i, digit in enumerate(word)).to_bytes(4, "big") for word in words
    )


def test_the_certificate_is_a_file_that_flux_reads():
    secret = curve_secret(CURVE, bytes(32), b"\xff" * 32)
    assert secret.values["curve.cert"].decode().splitlines() == [
        "#  ZeroMQ CURVE **Secret** Certificate",
        "#  DO NOT DISTRIBUTE",
        "",
        "metadata",
        '    name = "llm-flux-curve"',
        "curve",
        f'    public-key = "{"0" * 40}"',
        f'    secret-key = "{"%nSc0" * 8}"',
    ]


def test_a_secret_in_memory_shows_nothing_of_its_keys():
    shown = repr(ssh_secret(SSH, b"-----BEGIN EC PRIVATE KEY-----", b"ecdsa-sha2-nistp521"))
    assert "PRIVATE" not in shown
    assert "ecdsa" not in shown
