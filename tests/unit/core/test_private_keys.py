"""Private keys in the clear are found in any text, and nothing else is taken for one."""

from __future__ import annotations

import json
from base64 import b64encode

import pyrage
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

from support.sealing import certificate
from trainform.core.secrets import SecretNeed, find_private_key
from trainform.keys.make import make_secret

CURVE = make_secret(SecretNeed.of("curve", "llm-curve", "ml")).values["curve.cert"]
RSA, EC, ED = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey
PLAIN = NoEncryption()
KEYS = {
    "PKCS 8": EC.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, PLAIN),
    "SEC 1": EC.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, PLAIN),
    "PKCS 1": RSA.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, PLAIN),
    "OpenSSH": ED.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, PLAIN),
    "age": str(pyrage.x25519.Identity.generate()).encode(),
    "CURVE": CURVE,
}
WRITTEN = {
    "raw file": lambda key: key,
    "block scalar": lambda key: b"value: |\n" + b"".join(b"    " + line + b"\n" for line in key.split(b"\n")),
    "double quotes": lambda key: b"value: " + json.dumps(key.decode()).encode(),
    "comment": lambda key: b"".join(b"# " + line + b"\n" for line in key.split(b"\n")),
}
ENCODED = {
    "base64": lambda key: b"data:\n  any: " + b64encode(key) + b"\n  other: aaaa\n",
    "wrapped base64": lambda key: b"data:\n  any: >-\n    " + b64encode(key)[:64] + b"\n    " + b64encode(key)[64:],
}
HARMLESS = {
    "certificate": certificate(),
    "certificate in base64": b"tls.crt: " + b64encode(certificate()),
    "public key of age": str(pyrage.x25519.Identity.generate().to_public()).encode(),
    "with a passphrase": EC.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"words")),
    "old format with one": RSA.private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(b"words")
    ),
    "only looked for": b"command: [grep, -----BEGIN PRIVATE KEY-----, file.pem]",
    "only named": b'AGE-SECRET-KEY-1..., secret-key = "$KEY"',
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("kind", KEYS)
def test_a_private_key_is_found(kind, written):
    assert find_private_key(b"first: line\n" + WRITTEN[written](KEYS[kind])) is not None


@pytest.mark.parametrize("encoded", ENCODED)
@pytest.mark.parametrize("kind", [kind for kind in KEYS if kind != "CURVE"])
def test_a_private_key_is_found_in_base64(kind, encoded):
    text = ENCODED[encoded](KEYS[kind])
    assert find_private_key(text) == text.index(b64encode(KEYS[kind])[:20])


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_is_no_private_key_in_the_clear(kind):
    assert find_private_key(HARMLESS[kind]) is None
