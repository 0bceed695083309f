"""The keys that pods find in what an object provides: in a ConfigMap, or in the Secret that an object makes."""

from __future__ import annotations

from trainform.core.beside.placing import kind_of
from trainform.k8s.tree import Tree, table, tables, text

Keys = frozenset[str]


def keys_of(tree: Tree) -> Keys | None:
    """The keys; None if the object alone does not tell them."""
    if kind_of(tree) is None:
        return None
    spec = table(tree, "spec")
    match tree["kind"]:
        case "ConfigMap":
            return Keys((*table(tree, "data"), *table(tree, "binaryData")))
        case "Secret":
            return Keys((*table(tree, "data"), *table(tree, "stringData")))
        case "SealedSecret":
            return Keys((*table(spec, "encryptedData"), *table(table(spec, "template"), "data")))
        case "ExternalSecret":
            return _of_external_secret(spec)
    return None


def _of_external_secret(spec: Tree) -> Keys | None:
    """A template replaces what was fetched, unless it is merged into it. Whatever is fetched as a whole, or goes into a
    Secret of somebody else, has keys that only the cluster knows."""
    target = table(spec, "target")
    template = table(target, "template")
    is_its_own = text(target, "creationPolicy") in ("", "Owner", "Orphan")
    if spec.get("dataFrom") or template.get("templateFrom") or not is_its_own:
        return None
    made, fetched = Keys(table(template, "data")), Keys(text(each, "secretKey") for each in tables(spec, "data"))
    return made if made and text(template, "mergePolicy") != "Merge" else made | fetched
