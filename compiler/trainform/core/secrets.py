"""The key Secrets that a job requires, and the encrypted files that hold them. MPI needs an SSH key pair, Flux a CURVE
certificate. No plaintext key is ever held here: a need is a name, and a key file is the output of `trainform keys`."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING, Literal, NamedTuple

from trainform.k8s.tree import Tree, metadata_of, table, text

if TYPE_CHECKING:
    from collections.abc import Iterable


KeyKind = Literal["ssh", "curve"]

_ENCRYPTED = "ENC[AES256_GCM,"
"""Prefix of every value encrypted by SOPS."""

KeyFiles = dict[tuple[str, str], "Tree"]
"""Encrypted Secrets by namespace and name: SealedSecrets, or SOPS-encrypted Secrets."""

_SHAPES: dict[KeyKind, tuple[str, tuple[str, ...]]] = {
    "ssh": ("kubernetes.io/ssh-auth", ("ssh-privatekey", "ssh-publickey")),
    "curve": ("Opaque", ("curve.cert",)),
}
"""Type and keys of a Secret. Source: kubeflow/trainer `pkg/constants` and its flux plugin."""


_NAMES: dict[KeyKind, str] = {"ssh": "mpi-ssh-auth", "curve": "flux-curve"}


def key_secret(kind: KeyKind, job: str) -> str:
    """The name of a job's key Secret, which a frozen manifest mounts as well."""
    return f"{job}-{_NAMES[kind]}"


def key_secrets(job: str) -> list[str]:
    """The names of all key Secrets that a job may have."""
    return [key_secret(kind, job) for kind in _NAMES]


class SecretNeed(NamedTuple):
    """A Secret that pods mount: its stable name, type, and required keys. The name never carries a content hash,
    because an encrypted Secret is bound to it."""

    name: str
    namespace: str
    type: str
    keys: tuple[str, ...]
    kind: KeyKind

    @classmethod
    def of(cls, kind: KeyKind, name: str, namespace: str) -> SecretNeed:
        return cls(name, namespace, *_SHAPES[kind], kind)

    @property
    def id(self) -> tuple[str, str]:
        """Namespace and name, which identify its key file."""
        return self.namespace, self.name

    @property
    def file(self) -> str:
        """The name of its key file. Namespaces contain no dot, so no two Secrets share a file."""
        return f"{self.namespace}.{self.name}.yaml"


_MARKS = (
    b"PRIVATE KEY",
    b"AGE-SECRET-KEY-",
    b"PuTTY-User-Key-File",
    b"secret-key",
    b"LS0tLS1CRUdJTi",
    b"QUdFLVNFQ1JFVC1LRVkt",
)
"""One of these is in every text with a private key; nearly all texts have none, and need no further search."""

_PRIVATE_KEY = (
    rb"-----BEGIN (?!ENCRYPTED)(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\[nr]|[\s#\"'+])*[A-Za-z0-9+/=]{16}"
    rb"|AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{20}"
    rb"|PuTTY-User-Key-File-\d+:[^\n]*\s+Encryption: none"
    rb"|secret-key\s*=\s*\\?[\"'][^\"'\s]{40}"
)
"""A private key of PEM, OpenSSH, PGP, age, PuTTY or CURVE that no passphrase protects, with the beginning of its body:
a command that only looks for such a line is none."""

_ENCODED = rb"(?:LS0tLS1CRUdJTi|QUdFLVNFQ1JFVC1LRVkt)[A-Za-z0-9+/=\s]+"
"""Base64 of what a key starts with, as in a Secret's `data`."""


def find_private_key(text: bytes) -> int | None:
    """Where in a file's text an unencrypted private key starts, plain or in base64; None if there is none."""
    if not any(mark in text for mark in _MARKS):
        return None
    found = [each.start() for each in [re.search(_PRIVATE_KEY, text)] if each]
    found += [each.start() for each in re.finditer(_ENCODED, text) if re.search(_PRIVATE_KEY, _decoded(each[0]))]
    return min(found, default=None)


def _decoded(text: bytes) -> bytes:
    """Base64 that may be followed by other words."""
    joined = b"".join(text.split()).partition(b"=")[0]
    return b64decode(joined[: len(joined) // 4 * 4])


def is_key_file(tree: Tree) -> bool:
    """Whether a document holds a job's keys: sealed, SOPS-encrypted, or (an error) in plaintext."""
    if tree.get("kind") == "SealedSecret":
        return True
    of_jobs = {key for _, keys in _SHAPES.values() for key in keys}
    return tree.get("kind") == "Secret" and ("sops" in tree or any(key in of_jobs for key, _ in _entries(tree)))


def holds_job_keys(tree: Tree) -> bool:
    """Whether a SealedSecret or Secret has a key that trainform itself asks for; others belong to a job's program."""
    names = {key for _, keys in _SHAPES.values() for key in keys}
    sealed = table(table(tree, "spec"), "encryptedData") if tree.get("kind") == "SealedSecret" else {}
    return any(key in names for key in (*sealed, *(key for key, _ in _entries(tree))))


def is_in_the_clear(tree: Tree) -> bool:
    """Whether a key file is a Secret with an unencrypted value."""
    encrypted = all(isinstance(value, str) and value.startswith(_ENCRYPTED) for _, value in _entries(tree))
    return tree.get("kind") == "Secret" and not (encrypted and "sops" in tree)


def _entries(tree: Tree) -> list[tuple[object, object]]:
    """Keys and values of a Secret; a key in both fields appears twice."""
    return [*table(tree, "data").items(), *table(tree, "stringData").items()]


def key_files(trees: Iterable[Tree]) -> KeyFiles:
    """The `trees` that hold keys and can be rendered: with an API version and a namespace; the first of each name."""
    found: KeyFiles = {}
    for tree in filter(is_key_file, trees):
        namespace, name = (metadata_of(tree).get(key) for key in ("namespace", "name"))
        if isinstance(namespace, str) and isinstance(name, str) and text(tree, "apiVersion"):
            found.setdefault((namespace, name), tree)
    return found
