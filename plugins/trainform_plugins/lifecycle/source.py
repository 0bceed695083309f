"""What all rules ask: which engine applies the job, and who set a field of a finished object."""

from __future__ import annotations

from typing import Any, TypedDict

from trainform.plugin import Path, Place, Plan, Tree, blame

ENGINES = {"argocd": "Argo CD", "flux": "Flux"}


def engine_of(plan: Plan) -> str:
    """`argocd`, `flux`, or the empty string where no engine is named."""
    engine = "none" if plan.destination.is_default else plan.environment.spec.gitops.engine
    return "" if engine == "none" else engine


class Found(TypedDict):
    """Where to point: the source, and the finished object that shows it."""

    place: Place
    path: Path
    object: str
    object_path: Path


def found(plan: Plan, tree: Tree, path: Path) -> Found:
    """The element at `path` of a finished object: what neither job nor runtime has comes from a patch of the
    Environment."""
    document, source = blame(plan, tree, path)
    place: Place = document
    known = source[-1:] == path[-1:] and _exists(document.tree, source)
    if plan.destination.document and plan.destination.patches and not known:
        place, source = plan.destination.document, ("spec", "patches")
    name = f"{tree['kind']}/{tree['metadata']['name']}"
    return {"place": place, "path": source, "object": name, "object_path": path}


def _exists(tree: Any, path: Path) -> bool:
    try:
        for part in path:
            tree = tree[part]
    except (KeyError, IndexError, TypeError):
        return False
    return True
