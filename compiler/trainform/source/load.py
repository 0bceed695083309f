"""Loads the objects of a file, and its problems."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from trainform.diagnostics import Diagnostic, Path
from trainform.source.document import Document, Parsed
from trainform.source.json_text import read_json, split_values
from trainform.source.limits import MAX_DOCUMENTS, Expansion
from trainform.source.part import Part
from trainform.source.plain import plain_tree
from trainform.source.text import Source, decode, split_documents


class Loaded(NamedTuple):
    """Objects of a file in order, and its problems. Objects with problems of their own (such as a duplicate key) are
    included and are the problems' `place`."""

    documents: list[Document]
    diagnostics: list[Diagnostic]


def load(text: str | bytes, file: str, most: int = MAX_DOCUMENTS) -> Loaded:
    """Reads a YAML stream or JSON text as Kubernetes does. Empty documents are skipped, items of a `kind: List` become
    documents, and bad input never raises: a broken document does not hide the others. A file of more than `most`
    documents is refused."""
    source, problem = decode(text, file)
    return Loaded([], [problem]) if problem else load_source(source, most)


def load_source(source: Source, most: int = MAX_DOCUMENTS) -> Loaded:
    """`load` for decoded text."""
    loaded = Loaded([], [])
    if not _load_json(source, loaded, most):
        parts = list(islice(split_documents(source.text), most + 2))  # the first of them may be empty
        if len(parts) > most + 1:
            return _refused(source, most)
        expansion = Expansion()
        for start, part in parts:
            if len(loaded.documents) > most:
                break
            _add_objects(read_part(Part(source, start, part), expansion), loaded)
    return _refused(source, most) if len(loaded.documents) > most else loaded


def _refused(source: Source, most: int) -> Loaded:
    message = f"the file has more than {most:,} documents"
    return Loaded([], [Diagnostic("TF004", "error", message, "split it into several files", place=source)])


def _load_json(source: Source, loaded: Loaded, most: int) -> bool:
    """Loads a source of one JSON object, or of several in a row; False if the YAML parser must read it."""
    if not source.text.lstrip().startswith("{"):
        return False
    try:
        tree = read_json(source.text)
    except ValueError:
        return _load_json_values(source, loaded, most)
    _add_objects(Parsed(Part(source, 0, source.text), tree), loaded)
    return True


def _load_json_values(source: Source, loaded: Loaded, most: int) -> bool:
    try:
        values = split_values(source.text)
    except ValueError:
        return False
    expansion = Expansion()
    for start, text in values[: most + 1] if len(values) > 1 else ():
        part = Part(source, start, text)
        try:
            parsed = Parsed(part, read_json(text))
        except ValueError:
            parsed = read_part(part, expansion)
        _add_objects(parsed, loaded)
    return len(values) > 1


def read_part(part: Part, expansion: Expansion) -> Parsed:
    """Reads a YAML document; the tree of an empty one is None. `expansion` counts the aliases of its file."""
    tree = plain_tree(part.text)
    if tree is not None:
        return Parsed(part, tree)
    from trainform.source.parse import parse  # slow to import

    return parse(part, expansion)


def _add_objects(parsed: Parsed, loaded: Loaded) -> None:
    documents, problems = [], list(parsed.diagnostics)
    for prefix, item in _objects(parsed.tree):
        if isinstance(item, dict) and _is_list(item):
            problems.append(_not_a_list(item, parsed.part, prefix))
        elif isinstance(item, dict):
            documents.append(Document(item, parsed.part, prefix, parsed.ambiguous))
        elif item is not None:
            problems.append(_not_an_object(item, parsed.part, prefix))
    loaded.documents.extend(documents)
    if problems:
        by_prefix = {document.prefix: document for document in documents}
        sizes = {len(prefix) for prefix in by_prefix}
        loaded.diagnostics.extend(_placed(problem, parsed.part, by_prefix, sizes) for problem in problems)


def _objects(tree: Any, prefix: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The tree, or the items of a List, with paths from the document's root."""
    items = tree.get("items") if isinstance(tree, dict) and _is_list(tree) else tree
    if items is None:
        return
    if items is tree or not isinstance(items, list):
        yield prefix, tree
        return
    for index, item in enumerate(items):
        yield from _objects(item, (*prefix, "items", index))


def _is_list(tree: dict[str, Any]) -> bool:
    """Whether the object only wraps others, as in kubectl's output."""
    return tree.get("kind") == "List"


def _placed(problem: Diagnostic, part: Part, documents: dict[Path, Document], sizes: set[int]) -> Diagnostic:
    """The problem, assigned to the object that contains it; `sizes` are those of the objects' paths."""
    for size in sizes:
        if document := documents.get(problem.path[:size]):
            return problem._replace(place=document, path=problem.path[size:])
    return problem._replace(place=part.source)


def _not_an_object(item: object, part: Part, path: Path) -> Diagnostic:
    at = Document({}, part, path).position(())
    message = "not a Kubernetes object: expected a mapping with apiVersion, kind and metadata"
    hint = ""
    if isinstance(item, list):
        hint = "write its entries as separate documents with --- between them, or as items of a `kind: List`"
    elif isinstance(item, str) and item.startswith(("//", "/*")):
        hint = "start comments with #"
    return Diagnostic("TF009", "error", message, hint, path=path, at=at)


def _not_a_list(tree: dict[str, Any], part: Part, prefix: Path) -> Diagnostic:
    at = Document(tree, part, prefix).position(("items",))
    hint = "write a list: each object starts with `- `"
    return Diagnostic("TF102", "error", "must be a list of objects", hint, path=(*prefix, "items"), at=at)
