"""Shared by all rules: which engine applies the job."""

from __future__ import annotations

from trainform.plugin import Plan

ENGINES = {"argocd": "Argo CD", "flux": "Flux"}


def engine_of(plan: Plan) -> str:
    """`argocd`, `flux`, or the empty string if no engine is set."""
    engine = "none" if plan.destination.is_default else plan.environment.spec.gitops.engine
    return "" if engine == "none" else engine
