"""Live objects as the facts that are written: described as the loader reads them, without what is declared by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from trainform import source
from trainform.core.inputs import key_of
from trainform.diagnostics.escape import one_line
from trainform.diagnostics.order import counted
from trainform.k8s.fact_kinds import FACT_VERSIONS
from trainform.k8s.pulled.clean import as_fact
from trainform.k8s.pulled.pools import labels_named_by, pools_of, unready
from trainform.k8s.schema.facts import WARNINGS, check
from trainform.k8s.tree import Tree, metadata_of, name_of, text

if TYPE_CHECKING:
    from trainform.core.cluster.facts import ObjectKey
    from trainform.source import Document
    from trainform.workspace.live.fetch import LiveFacts

Facts = dict[str, list[Tree]]
"""By kind."""

DECLARED_WHOLE = {"NodePool": ("Node", "NodePool"), "Configuration": ("Configuration",)}
"""What is not written at all if one of these kinds is declared by hand: there is no telling which nodes a pool stands
for, and a cluster has one configuration."""


def facts_to_write(live: LiveFacts, by_hand: Sequence[Document], namespace: str, notes: list[str]) -> Facts:
    """The facts of a cluster, and notes about what is left out. `namespace` is that of facts which name none."""
    return _sound(_without_declared(_described(live, notes), by_hand, namespace, notes), notes)


def _described(live: LiveFacts, notes: list[str]) -> Facts:
    """The facts by kind: nodes as pools, Kueue's configuration with a name."""
    facts = {kind: [as_fact(tree) for tree in trees] for kind, trees in live.objects.items() if kind != "Node"}
    nodes = live.objects.get("Node", [])
    if nodes:
        named = labels_named_by(tree for trees in facts.values() for tree in trees)
        facts["NodePool"] = pools_of(nodes, named)
        if waiting := unready(nodes):
            many = counted(len(nodes), "node")
            notes.append(f"{waiting} of {many} not ready or cordoned at the moment: counted all the same")
    if live.configuration:
        configuration = _configuration(live.configuration)
        facts["Configuration"] = [configuration] if configuration else []
        if configuration is None:
            notes.append("Kueue's configuration is left out: it is not a Configuration of a version that is known")
    return facts


def _configuration(given: str) -> Tree | None:
    """The only document of Kueue's own file, with the name that facts need; None if it cannot be read."""
    loaded = source.load(given.encode(errors="replace"), "Kueue's configuration")
    tree = loaded.documents[0].tree if len(loaded.documents) == 1 and not loaded.diagnostics else {}
    if text(tree, "kind") != "Configuration" or text(tree, "apiVersion") not in FACT_VERSIONS["Configuration"]:
        return None
    return as_fact({**tree, "metadata": {"name": "kueue"}})


def _without_declared(
    facts: Mapping[str, Sequence[Tree]], by_hand: Sequence[Document], namespace: str, notes: list[str]
) -> Facts:
    """What is declared by hand stays, and is not written a second time."""
    declared: dict[ObjectKey, Document] = {key_of(each, namespace): each for each in by_hand}
    left: Facts = {}
    for kind, trees in facts.items():
        whole = sorted({each.file for key, each in declared.items() if key[0] in DECLARED_WHOLE.get(kind, ())})
        if whole:
            notes.append(f"no {kind} is written: {', '.join(whole)} declares {' or '.join(DECLARED_WHOLE[kind])}")
            continue
        left[kind] = []
        for tree in trees:
            document = declared.get((kind, text(metadata_of(tree), "namespace"), name_of(tree)))
            if document is None:
                left[kind].append(tree)
            else:
                notes.append(f"{kind} {_shown(tree)} stays as {document.file} declares it")
    return left


def _sound(facts: Mapping[str, Sequence[Tree]], notes: list[str]) -> Facts:
    """The facts that the loader takes; another one would make every job fail."""
    left: Facts = {}
    for kind, trees in facts.items():
        left[kind] = []
        for tree in trees:
            errors = [each.message for each in check(tree) if each.code not in WARNINGS]
            if not _is_text(tree):
                errors.append("holds half of a character")
            if errors:
                notes.append(f"{kind} {_shown(tree)} is left out: {one_line(errors[0])}")
            else:
                left[kind].append(tree)
    return left


def _is_text(tree: Tree) -> bool:
    """Whether YAML can hold it: JSON may have lone surrogates."""
    try:
        json.dumps(tree, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(tree: Tree) -> str:
    namespace = text(metadata_of(tree), "namespace")
    return one_line(f"{namespace}/{name_of(tree)}" if namespace else name_of(tree))
