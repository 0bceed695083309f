"""What an object tells the engine that applies it, and names by which a changed job is a new object.

JobSet refuses most changes of a running job. Under `gitops.naming: content-hash` the JobSet and all that belongs
to it are called `<job>-<hash>`: an engine makes the new job and prunes the old one, where it would otherwise fail
to update it. The key Secrets keep the job's own name, which encrypted Secrets are bound to.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainform.k8s.defaults import admit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainform.api import Environment
    from trainform.core.plan import Plan
    from trainform.k8s.tree import Tree

SYNC_WAVE = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
FLUX_PRUNE = "kustomize.toolkit.fluxcd.io/prune"

PREFIXES = ("argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/")
"""What the annotations begin with that speak to an engine. They say nothing of what a job runs."""

CONFIRM = ("Prune=confirm", "Delete=confirm")
"""Sync options by which Argo CD (2.14 or later) asks before it prunes an object or deletes it with its Application."""

LAST_WAVE = 0


def annotate(plan: Plan) -> None:
    """Annotate the finished objects of a plan for its Environment's engine."""
    if plan.destination.is_default:
        return
    for index, tree in enumerate(plan.objects):
        if added := engine_annotations(tree, plan.environment):
            metadata = tree["metadata"]
            annotations = {**(metadata.get("annotations") or {}), **added}
            plan.objects[index] = {**tree, "metadata": {**metadata, "annotations": annotations}}


def sync_wave(kind: str) -> int:
    """The wave in which Argo CD applies objects of `kind`: 0, the last, for JobSets; else -1.

    Argo CD orders custom kinds of one wave by name only, and waits for the health of every wave but the last:
    what a JobSet needs comes first, and training itself holds nothing up.
    """
    return LAST_WAVE if kind == "JobSet" else LAST_WAVE - 1


def engine_annotations(tree: Tree, environment: Environment) -> dict[str, str]:
    """The annotations that the rendered object `tree` gets for the engine of `environment`.

    Empty without an engine. Annotations that the user set are kept: the wave as it is, sync options with ours
    added. All objects of a job are protected, because a JobSet that waits for the confirmation of its deletion
    still needs its hostfile and its PodGroup.
    """
    gitops = environment.spec.gitops
    own: dict[str, str] = tree["metadata"].get("annotations") or {}
    protected = gitops.prune_protection == "confirm"
    if gitops.engine == "argocd":
        return _argocd(tree["kind"], own, protected)
    if gitops.engine == "flux" and protected:
        return _flux(own)
    return {}


def _argocd(kind: str, own: dict[str, str], protected: bool) -> dict[str, str]:
    annotations: dict[str, str] = {}
    wave = sync_wave(kind)
    if wave != LAST_WAVE and SYNC_WAVE not in own:
        annotations[SYNC_WAVE] = str(wave)
    if protected:
        annotations[SYNC_OPTIONS] = _with_confirmation(own.get(SYNC_OPTIONS, ""))
    return annotations


def _with_confirmation(own: str) -> str:
    """The user's sync options, then those of `CONFIRM` that the user decided nothing about."""
    options = [option for part in own.split(",") if (option := part.strip())]
    decided = {option.partition("=")[0] for option in options}
    return ",".join([*options, *(each for each in CONFIRM if each.partition("=")[0] not in decided)])


def _flux(own: dict[str, str]) -> dict[str, str]:
    """Flux cannot ask for confirmation. The closest it has is to never delete: `kubectl delete` is the confirmation.

    A running job that is deleted by mistake is lost; one that is left behind can still be deleted.
    """
    return {} if FLUX_PRUNE in own else {FLUX_PRUNE: "disabled"}


ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The characters of a hash, those of Kubernetes' own generated names: valid in DNS labels, hard to confuse, and
without vowels, so that they spell no words."""

LENGTH = 8
"""Characters of a hash. Few, because the names of pods and claims contain it and may have 63 characters in all.

Two versions of one job clash with a probability of 1 in 27⁸, about 2.8 × 10¹¹; only those that follow each other
can hurt, since older ones are pruned. A million edits bring one clash with a probability of 4 in a million. It would
do what `naming: stable` does: the engine updates the object in place, or JobSet refuses that.
"""

KEY_KINDS = frozenset({"Secret", "SealedSecret", "ExternalSecret", "SSHKey"})
"""Objects that bring keys. Fresh keys, or another way to them, are no reason to train anew."""


def content_hash(objects: Iterable[Tree]) -> str:
    """`LENGTH` characters of `ALPHABET`, by the SHA-256 of the objects' canonical JSON.

    Objects are hashed as the API server would store them, so that the spelling of a quantity or an explicit default
    does not change the hash. Nor do the order of objects, key Secrets and annotations for an engine.
    """
    from hashlib import sha256

    content = (_without_engine(admit(tree)) for tree in objects if tree["kind"] not in KEY_KINDS)
    canonical = sorted(json.dumps(tree, sort_keys=True, separators=(",", ":")) for tree in content)
    number = int.from_bytes(sha256("\n".join(canonical).encode()).digest())
    digits = []
    for _ in range(LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(digits)


def _without_engine(tree: Tree) -> Tree:
    metadata: dict[str, Any] = tree["metadata"]
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if not key.startswith(PREFIXES)}
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**tree, "metadata": {**rest, "annotations": kept} if kept else rest}
