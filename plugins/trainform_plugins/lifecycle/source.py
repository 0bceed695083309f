"""Shared by all rules: which engine applies the job, and where to report a problem of a finished object."""

from __future__ import annotations

from typing import Any

from trainform.plugin import Path, Plan, Source, Tree, blame, value_at

ENGINES = {"argocd": "Argo CD", "flux": "Flux"}

_MISSING = object()


def engine_of(plan: Plan) -> str:
    """`argocd`, `flux`, or the empty string if no engine is set."""
    engine = "none" if plan.destination.is_default else plan.environment.spec.gitops.engine
    return "" if engine == "none" else engine


def report(plan: Plan, tree: Tree, path: Path, code: str, message: str, **words: Any) -> None:
    """Report a problem of a finished object. What neither job nor runtime contains comes from an Environment's
    patch."""
    document, found = blame(plan, tree, path)
    known = found[-1:] == path[-1:] and value_at(document.tree, found, _MISSING) is not _MISSING
    patched = plan.destination.document and plan.destination.patches and not known
    source: Source | None = ("environment", ("spec", "patches")) if patched else None
    plan.report_object(tree, path, code, message, source=source, **words)
