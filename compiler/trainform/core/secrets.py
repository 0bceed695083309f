"""The key Secrets that a job cannot run without, and the files that hold them encrypted.

MPI needs a pair of SSH keys, Flux a CURVE certificate. Nothing here ever holds a key in the clear: a need is
a name, and a key file is what `trainform keys` encrypted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from trainform.k8s.tree import Tree, metadata_of, table

if TYPE_CHECKING:
    from collections.abc import Iterable


KeyKind = Literal["ssh", "curve"]

_ENCRYPTED = "ENC[AES256_GCM,"
"""What every value that SOPS encrypted begins with."""

KeyFiles = dict[tuple[str, str], "Tree"]
"""Encrypted Secrets by namespace and name of the Secret: SealedSecrets, or Secrets as SOPS writes them."""

_SHAPES: dict[KeyKind, tuple[str, tuple[str, ...]]] = {
    "ssh": ("kubernetes.io/ssh-auth", ("ssh-privatekey", "ssh-publickey")),
    "curve": ("Opaque", ("curve.cert",)),
}
"""Type and keys of a Secret. Source: kubeflow/trainer `pkg/constants` and its flux plugin."""


class SecretNeed(NamedTuple):
    """A Secret that pods mount: its stable name, type, and the keys that they look for.

    The name never carries a content hash: an encrypted Secret is bound to it.
    """

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
        """What its key file is found by: namespace and name."""
        return self.namespace, self.name

    @property
    def file(self) -> str:
        """The name of its key file. A namespace has no dot, so no two Secrets share a file."""
        return f"{self.namespace}.{self.name}.yaml"


def is_key_file(tree: Tree) -> bool:
    """Whether a document holds keys of a job: sealed, encrypted by SOPS, or (a fault) in the clear."""
    if tree.get("kind") == "SealedSecret":
        return True
    of_jobs = {key for _, keys in _SHAPES.values() for key in keys}
    return tree.get("kind") == "Secret" and ("sops" in tree or any(key in of_jobs for key, _ in _entries(tree)))


def is_in_the_clear(tree: Tree) -> bool:
    """Whether a key file is a Secret with a value that SOPS did not encrypt."""
    encrypted = all(isinstance(value, str) and value.startswith(_ENCRYPTED) for _, value in _entries(tree))
    return tree.get("kind") == "Secret" and not (encrypted and "sops" in tree)


def _entries(tree: Tree) -> list[tuple[object, object]]:
    """Keys and values of a Secret; a key in both fields comes twice."""
    return [*table(tree, "data").items(), *table(tree, "stringData").items()]


def key_files(trees: Iterable[Tree]) -> KeyFiles:
    """Those of `trees` that hold keys and name their namespace; the first of each name."""
    found: KeyFiles = {}
    for tree in filter(is_key_file, trees):
        namespace, name = (metadata_of(tree).get(key) for key in ("namespace", "name"))
        if isinstance(namespace, str) and isinstance(name, str):
            found.setdefault((namespace, name), tree)
    return found
