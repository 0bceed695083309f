"""GitOps engine annotations, and content-hash names that make a changed job a new object.

JobSet rejects most updates of a running job. Under `gitops.naming: content-hash` the JobSet and its objects are called
`<job>-<hash>`, so an engine creates the new job and prunes the old one instead of failing to update it. Key Secrets
keep the job's own name, which encrypted Secrets are bound to.
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
"""Prefixes of engine annotations, which do not affect what a job runs."""

CONFIRM = ("Prune=confirm", "Delete=confirm")
"""Sync options that make Argo CD (2.14 or later) ask before it prunes an object or deletes it with its Application."""

LAST_WAVE = 0


def annotate(plan: Plan) -> None:
    """Annotate a plan's finished objects for its Environment's engine."""
    if plan.destination.is_default:
        return
    for index, tree in enumerate(plan.objects):
        if added := engine_annotations(tree, plan.environment):
            metadata = tree["metadata"]
            annotations = {**(metadata.get("annotations") or {}), **added}
            plan.objects[index] = {**tree, "metadata": {**metadata, "annotations": annotations}}


def sync_wave(kind: str) -> int:
    """Argo CD's sync wave for `kind`: 0, the last, for JobSets; else -1. Within a wave Argo CD orders custom kinds by
    name only, and it waits for the health of every wave but the last. So what a JobSet needs comes first, and training
    itself blocks nothing."""
    return LAST_WAVE if kind == "JobSet" else LAST_WAVE - 1


def engine_annotations(tree: Tree, environment: Environment) -> dict[str, str]:
    """The annotations that `tree` gets for the engine of `environment`; none without an engine. Annotations set by the
    user are kept: the wave as is, sync options with ours appended. All objects of a job are protected, because a JobSet
    awaiting confirmation of its deletion still needs its hostfile and PodGroup."""
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


SYNC_OPTION_VALUES = {
    "ApplyOutOfSyncOnly": ("true", "false"),
    "ClientSideApplyMigration": ("true", "false"),
    "Delete": ("true", "false", "confirm"),
    "Force": ("true", "false"),
    "Prune": ("true", "false", "confirm"),
    "PruneLast": ("true", "false"),
    "Replace": ("true", "false"),
    "ServerSideApply": ("true", "false"),
    "SkipDryRunOnMissingResource": ("true", "false"),
    "Validate": ("true", "false"),
}
"""The sync options that an object may have, with their values, as Argo CD spells them."""


def sync_options(annotation: str) -> list[str]:
    """The options in an annotation, each once, as Argo CD reads them: blanks around one do not count, but those inside
    and upper case do. Source: gitops-engine `GetAnnotationCSVs`."""
    return list(dict.fromkeys(option for part in annotation.split(",") if (option := part.strip())))


def is_sync_option(option: str) -> bool:
    """Whether Argo CD heeds an option; any other one is ignored without a word."""
    name, _, value = option.partition("=")
    return value in SYNC_OPTION_VALUES.get(name, ())


def _with_confirmation(own: str) -> str:
    """The user's sync options, then those of `CONFIRM` about which they decide nothing."""
    options = sync_options(own)
    decided = {option.partition("=")[0] for option in options if is_sync_option(option)}
    return ",".join([*options, *(each for each in CONFIRM if each.partition("=")[0] not in decided)])


def _flux(own: dict[str, str]) -> dict[str, str]:
    """Flux cannot ask for confirmation, so its objects are never deleted: `kubectl delete` is the confirmation. A job
    left behind can still be deleted; one deleted by mistake is lost."""
    return {} if FLUX_PRUNE in own else {FLUX_PRUNE: "disabled"}


ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Characters of a hash, as in Kubernetes' generated names: valid in DNS labels, hard to confuse, and without vowels, so
that they spell no words."""

LENGTH = 8
"""Length of a hash. Short, because names of pods and claims contain it and are limited to 63 characters.

Two versions of a job clash with probability 1 in 27⁸ (2.8 × 10¹¹). Only consecutive versions matter, since older ones
are pruned: 4 in a million for a million edits. A clash acts like `naming: stable`: the engine updates in place, or
JobSet rejects the update.
"""

UNHASHED_KINDS = frozenset({"Secret", "SealedSecret", "ExternalSecret", "SSHKey", "PersistentVolumeClaim"})
"""Kinds that provide keys or room. New keys, another source for them, or more room are no reason to retrain."""


def content_hash(objects: Iterable[Tree]) -> str:
    """`LENGTH` characters of `ALPHABET`, from the SHA-256 of the objects' canonical JSON. Objects are hashed as the API
    server would store them, so spelling of quantities and explicit defaults do not matter. Neither do object order, key
    Secrets, claims and engine annotations."""
    from hashlib import sha256

    content = (_without_engine(admit(tree)) for tree in objects if tree["kind"] not in UNHASHED_KINDS)
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
