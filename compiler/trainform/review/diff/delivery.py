"""What GitOps engines do with a change of rendered objects, with the bootstrap that `trainform init` writes.

Pruning follows the annotations of the object that is to be pruned. A JobSet in a queue of Kueue is special: Argo CD
leaves alone what Kueue may change in it, and Flux creates it and never updates it.
"""

from __future__ import annotations

from typing import Literal

from trainform.core.gitops import FLUX_PRUNE, SYNC_OPTIONS
from trainform.diagnostics import Path
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import Tree, metadata_of, table
from trainform.review.capacity.demand import QUEUE_LABEL
from trainform.review.diff.update_rules import is_free_while_suspended

Engine = Literal["none", "argocd", "flux"]

Pruning = Literal["automatic", "confirmed", "never"]
"""How an engine removes an object that is no longer in git: at once, once somebody confirms it, or not at all."""

FLUX_SSA = "kustomize.toolkit.fluxcd.io/ssa"

CLAIMS: Path = ("spec", "volumeClaimPolicies")
"""Argo CD keeps the whole list, because an ignore rule reaches into it."""

SUSPEND: Path = ("spec", "suspend")


def pruning(tree: Tree) -> Pruning:
    """How an applied object is pruned."""
    annotations = table(metadata_of(tree), "annotations")
    if str(annotations.get(FLUX_PRUNE, "")).lower() == "disabled":
        return "never"
    options = {option.strip().lower() for option in str(annotations.get(SYNC_OPTIONS, "")).split(",")}
    if "prune=false" in options:
        return "never"
    return "confirmed" if "prune=confirm" in options else "automatic"


def holds_back(engine: Engine, before: Tree, after: Tree, path: Path) -> bool:
    """Whether the engine does not apply a change of an existing JobSet's field at `path`. It takes effect when the
    JobSet is deleted, as the engine then creates it anew."""
    if engine == "flux":
        return (
            _is_queued(after) or str(table(metadata_of(after), "annotations").get(FLUX_SSA)).lower() == "ifnotpresent"
        )
    return engine == "argocd" and (_is_kueues(before, after, path) or _reaches_claims(before, path))


def _is_kueues(before: Tree, after: Tree, path: Path) -> bool:
    return (_is_queued(before) or _is_queued(after)) and is_free_while_suspended(path)


def _reaches_claims(before: Tree, path: Path) -> bool:
    return path[:2] == CLAIMS and bool(table(before, "spec").get("volumeClaimPolicies"))


def leaves_to_kueue(before: Tree, after: Tree, path: Path) -> bool:
    """Whether a change of a JobSet's field has no effect, now or later: Kueue decides whether it is suspended."""
    return path == SUSPEND and _is_queued(before) and _is_queued(after)


def _is_queued(jobset: Tree) -> bool:
    return QUEUE_LABEL in labels_of(jobset)
