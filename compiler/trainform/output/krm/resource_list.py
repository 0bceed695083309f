"""The list that a KRM function reads. Source: kustomize's Configuration Functions Specification,
`cmd/config/docs/api-conventions/functions-spec.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainform.diagnostics import Diagnostic, Path
from trainform.k8s.labels import annotations_of
from trainform.k8s.tree import Tree
from trainform.source import Document, load
from trainform.source.limits import MAX_DOCUMENTS
from trainform.source.part import Part

API_VERSION = "config.kubernetes.io/v1"
KIND = "ResourceList"
_CONFIG: Path = ("functionConfig",)

_ORCHESTRATION = (
    "config.kubernetes.io/",
    "internal.config.kubernetes.io/",
    "config.k8s.io/",
    "kustomize.config.k8s.io/",
)
"""Annotation prefixes by which an orchestrator tracks an object's file, its place there, and itself."""


@dataclass(slots=True)
class ResourceList:
    """The stdin input: a `ResourceList`, or any other list of objects. `part` is its text, None if it is no list;
    `tree` the whole list; `config` its `functionConfig`."""

    part: Part | None = None
    tree: Tree = field(default_factory=lambda: {"apiVersion": API_VERSION, "kind": KIND, "items": []})
    items: list[Document] = field(default_factory=list)
    config: Document | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def documents(self) -> list[Document]:
        """The items to compile; none of a list that is too long, which is an error."""
        return self.items if len(self.items) <= MAX_DOCUMENTS else []


def read_list(data: bytes, file: str) -> ResourceList:
    """Split a list into separate documents. Never raises; errors are in its `diagnostics`."""
    documents, problems = load(data, file)
    if len(documents) != 1 or not str(documents[0].tree.get("kind")).endswith("List"):
        return _plain_list(documents, problems)
    whole = documents[0]
    items = whole.tree.get("items") or []
    found = ResourceList(whole.part, whole.tree, diagnostics=problems)
    for index, item in enumerate(items if isinstance(items, list) else [items]):
        if isinstance(item, dict):
            found.items.append(Document(item, whole.part, ("items", index), whole.ambiguous))
        else:
            message = "this is not a Kubernetes object: a mapping with apiVersion, kind and metadata is due"
            found.diagnostics.append(Diagnostic("TF009", "error", message, path=("items", index), place=whole))
    if isinstance(config := whole.tree.get("functionConfig"), dict):
        found.config = Document(config, whole.part, _CONFIG, whole.ambiguous)
    if len(found.items) > MAX_DOCUMENTS:
        message = f"the list has more than {MAX_DOCUMENTS:,} items"
        found.diagnostics.append(Diagnostic("TF004", "error", message, "run the function on fewer", place=whole))
    found.diagnostics += (_without_files(each) for each in found.items if _is_generator(each))
    inner = {document.prefix: document for document in (*found.items, *filter(None, [found.config]))}
    found.diagnostics = [_within(problem, whole, inner) for problem in found.diagnostics]
    return found


def _plain_list(documents: list[Document], problems: list[Diagnostic]) -> ResourceList:
    """A `kind: List`, whose items the front end has already split; anything else is an error."""
    parts = {id(document.part): document.part for document in documents}
    if len(parts) == 1 and all(len(document.prefix) == 2 for document in documents):
        head: Tree = {"apiVersion": "v1", "kind": "List", "items": [document.tree for document in documents]}
        return ResourceList(documents[0].part, head, documents, None, problems)
    message = f"one {KIND} ({API_VERSION}) or List is due on stdin"
    place = documents[0] if documents else None
    wrong = Diagnostic("TF720", "error", message, "run this as a KRM function; see docs/ci.md", place=place)
    return ResourceList(diagnostics=[*problems, *([] if problems else [wrong])])


def _is_generator(item: Document) -> bool:
    return item.tree.get("kind") == "ConfigMapGenerator" and str(item.tree.get("apiVersion")).startswith(
        "trainform.dev/"
    )


def _without_files(item: Document) -> Diagnostic:
    hint = "write a ConfigMap, or run trainform in the repository"
    return Diagnostic("TF648", "error", "a function has no files beside it that could be read", hint, ("files",), item)


def _within(problem: Diagnostic, whole: Document, inner: Mapping[Path, Document]) -> Diagnostic:
    """Move a problem of the list to the object whose part of the list it concerns."""
    prefix = problem.path[:1] if problem.path[:1] == _CONFIG else problem.path[:2]
    document = inner.get(prefix) if problem.place is whole else None
    return problem._replace(place=document, path=problem.path[len(prefix) :]) if document else problem


def orchestrated(tree: Tree, earlier: Any) -> Tree:
    """`tree` with the orchestrator's location annotations of `earlier`, the object that it replaces."""
    kept = {key: value for key, value in annotations_of(earlier).items() if key.startswith(_ORCHESTRATION)}
    if not kept:
        return tree
    metadata = tree["metadata"]
    return {**tree, "metadata": {**metadata, "annotations": {**annotations_of(tree), **kept}}}
