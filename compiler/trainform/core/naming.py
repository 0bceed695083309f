"""Names that carry a hash of what they name, so that a changed job is a new object.

JobSet refuses most changes of a running job. Under `gitops.naming: content-hash` the JobSet and all that belongs
to it are called `<job>-<hash>`: an engine makes the new job and prunes the old one, where it would otherwise fail
to update it. The key Secrets keep the job's own name, which encrypted Secrets are bound to.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from trainform.core.engine import PREFIXES
from trainform.k8s.defaults import admit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainform.core.plan import Plan
    from trainform.k8s.tree import Tree

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""What a hash is written in: the characters of Kubernetes' own generated names. DNS labels take them all, none
looks like another, and without vowels they spell no words."""

LENGTH = 8
"""Characters of a hash, dearly bought: pods and claims carry the name, and have 63 for everything.

Two versions of one job clash with a probability of 1 in 27⁸, about 2.8 × 10¹¹; only those that follow each other
can hurt, since older ones are pruned. A million edits bring one clash with a probability of 4 in a million. It would
do what `naming: stable` does: the engine updates the object in place, or JobSet refuses that.
"""

KEY_KINDS = frozenset({"Secret", "SealedSecret", "ExternalSecret", "SSHKey"})
"""Objects that bring keys. Fresh keys, or another way to them, are no reason to train anew."""


def hashed_name(plan: Plan) -> str:
    """`<job>-<hash>` for a plan whose objects are built under the job's own name, and patched."""
    return f"{plan.name}-{content_hash(plan.objects)}"


def content_hash(objects: Iterable[Tree]) -> str:
    """`LENGTH` characters of `ALPHABET`, by the SHA-256 of the objects' canonical JSON.

    Objects count as the API server would store them, so that another spelling of a quantity, or a default
    written out, is no change; neither is their order, a key Secret, or an annotation for an engine.
    """
    content = sorted(_content(tree) for tree in objects if tree["kind"] not in KEY_KINDS)
    digest = sha256("\n".join(content).encode()).digest()
    return _spelled(int.from_bytes(digest))


def _content(tree: Tree) -> str:
    """One object as canonical JSON: sorted keys, no blanks, ASCII."""
    return json.dumps(_without_engine(admit(tree)), sort_keys=True, separators=(",", ":"))


def _without_engine(tree: Tree) -> Tree:
    metadata: dict[str, Any] = tree["metadata"]
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if not key.startswith(PREFIXES)}
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**tree, "metadata": {**rest, "annotations": kept} if kept else rest}


def _spelled(number: int) -> str:
    digits = []
    for _ in range(LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(digits)
