"""Problems as the `results` of a KRM function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trainform.diagnostics import Diagnostic, dotted
from trainform.diagnostics.order import folded
from trainform.k8s.labels import annotations_of
from trainform.k8s.tree import Tree, metadata_of
from trainform.source import Document

PATHS = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
INDEXES = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")
"""Annotations for an item's file (`PATHS`) and its place there (`INDEXES`); older names come second."""


def function_results(diagnostics: Iterable[Diagnostic]) -> list[Tree]:
    """A result for each problem: severity, message, object, field, the object's original file, and the problem's code
    as `tags.code`. Line numbers of stdin are omitted, as nobody has that text."""
    return [_result(each) for each in folded(diagnostics)]


def _result(diagnostic: Diagnostic) -> Tree:
    hint = f"\nhelp: {diagnostic.hint}" if diagnostic.hint else ""
    result: Tree = {"message": diagnostic.message + hint, "severity": diagnostic.severity}
    tree = diagnostic.place.tree if isinstance(diagnostic.place, Document) else {}
    if reference := _reference(tree):
        result["resourceRef"] = reference
    if diagnostic.path:
        result["field"] = {"path": dotted(diagnostic.path)}
    if file := _file(annotations_of(tree)):
        result["file"] = file
    return {**result, "tags": {"code": diagnostic.code}}


def _reference(tree: Tree) -> Tree:
    named = metadata_of(tree)
    fields = [(tree, "apiVersion"), (tree, "kind"), (named, "namespace"), (named, "name")]
    return {key: owner[key] for owner, key in fields if isinstance(owner.get(key), str)}


def _file(noted: dict[str, Any]) -> Tree:
    path = next((noted[key] for key in PATHS if isinstance(noted.get(key), str)), None)
    if path is None:
        return {}
    index = next((noted[key] for key in INDEXES if isinstance(noted.get(key), str)), "")
    return {"path": path, "index": int(index)} if index.isascii() and index.isdigit() else {"path": path}
