"""Waves and protection against deletion, as annotations."""

from __future__ import annotations

import pytest

from trainform.api.environment import Environment
from trainform.core.gitops import engine_annotations, sync_wave

WAVE = "argocd.argoproj.io/sync-wave"
OPTIONS = "argocd.argoproj.io/sync-options"
PRUNE = "kustomize.toolkit.fluxcd.io/prune"


def environment(engine: str, protection: str = "none") -> Environment:
    gitops = {"engine": engine, "pruneProtection": protection}
    tree = {"kind": "Environment", "metadata": {"name": "prod"}, "spec": {"gitops": gitops}}
    return Environment.model_validate(tree)


def added_to(engine: str, protection: str = "none", kind: str = "JobSet", own: dict | None = None):
    metadata = {"name": "llm"} | ({"annotations": own} if own else {})
    return engine_annotations({"kind": kind, "metadata": metadata}, environment(engine, protection))


@pytest.mark.parametrize(
    "kind", ["ConfigMap", "ServiceAccount", "Role", "ExternalSecret", "SSHKey", "SealedSecret", "PodGroup"]
)
def test_what_a_jobset_needs_comes_before_it(kind):
    assert sync_wave(kind) < sync_wave("JobSet") == 0


@pytest.mark.parametrize("kind", ["PodGroup", "JobSet"])
@pytest.mark.parametrize("protection", ["none", "confirm"])
def test_without_an_engine_nothing_is_added(kind, protection):
    assert added_to("none", protection, kind) == {}


@pytest.mark.parametrize(
    ("kind", "protection", "own", "added"),
    [
        ("JobSet", "none", {}, {}),
        ("PodGroup", "none", {}, {WAVE: "-1"}),
        ("ConfigMap", "none", {WAVE: "-5"}, {}),
        ("JobSet", "confirm", {}, {OPTIONS: "Prune=confirm,Delete=confirm"}),
        ("PodGroup", "confirm", {}, {WAVE: "-1", OPTIONS: "Prune=confirm,Delete=confirm"}),
        ("JobSet", "confirm", {OPTIONS: "Validate=false"},
         {OPTIONS: "Validate=false,Prune=confirm,Delete=confirm"}),
        ("JobSet", "confirm", {OPTIONS: " Prune=false , "}, {OPTIONS: "Prune=false,Delete=confirm"}),
        ("JobSet", "confirm", {OPTIONS: "Prune=False"}, {OPTIONS: "Prune=False,Prune=confirm,Delete=confirm"}),
    ],
)  # fmt: skip
def test_argo_cd(kind, protection, own, added):
    assert added_to("argocd", protection, kind, own) == added


@pytest.mark.parametrize(
    ("protection", "own", "added"),
    [
        ("none", {}, {}),
        ("confirm", {}, {PRUNE: "disabled"}),
        ("confirm", {PRUNE: "enabled"}, {}),
    ],
)
def test_flux_cannot_ask_and_so_deletes_nothing_protected(protection, own, added):
    assert added_to("flux", protection, own=own) == added
