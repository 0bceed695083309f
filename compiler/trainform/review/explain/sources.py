"""What a job's documents state, leaf by leaf of its objects. Readers want the line of the TrainJob, runtime, patch or
Environment where they can change a value, not the plugin that copied it. A plan's ledger records the copies; this
module looks them up in the documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.beside.companions import own_names, runtime_of
from trainform.k8s.tree import object_name, value_at
from trainform.review.explain.leaves import leaves, node_below, node_of, same
from trainform.review.explain.owner import Owner
from trainform.review.explain.trace import At

if TYPE_CHECKING:
    from trainform.core.plan import Plan
    from trainform.core.provenance import Key, Source
    from trainform.diagnostics import Path
    from trainform.k8s.tree import Tree
    from trainform.review.explain.leaves import Leaf
    from trainform.source import Document


class Stated(NamedTuple):
    """A value that a document states at `path`; `early` if it was copied before any plugin acted."""

    value: Any
    author: Owner
    document: Document
    path: Path
    early: bool

    def owner(self) -> Owner:
        """The author with file and line; requires parsing the file again."""
        return self.author._replace(file=self.document.file, line=self.document.position(self.path).line)


@dataclass(frozen=True, slots=True)
class Sources:
    """What the documents state for each leaf of a job's objects; later statements win."""

    plan: Plan
    stated: dict[At, list[Stated]] = field(default_factory=dict)

    def copy(self, source: Source, target: str, key: Key, value: Any = None, *, early: bool = False) -> None:
        """Like `add`, for a field of one of the plan's documents; no-op if it is the Environment and there is none."""
        origin, path = source
        name, document = {
            "trainjob": (self.plan.job.name, self.plan.job_document),
            "runtime": (self.plan.runtime.name, self.plan.runtime_document),
            "environment": (self.plan.destination.name, self.plan.destination.document),
        }[origin]
        if document is None:
            return
        author = Owner(origin, name)
        if path[:2] == ("spec", "runtimePatches"):
            author = Owner("patch", str(value_at(document.tree, (*path[:3], "manager"))))
        self.add(author, document, path, target, key, value, early=early)

    def add(
        self,
        author: Owner,
        document: Document,
        path: Path,
        target: str,
        key: Key = (),
        value: Any = None,
        *,
        early: bool = False,
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        """The elements at `path` of the document became those at `key` of the object `target`. Pass `value` if the
        element is written differently there; `renamed` maps names of list entries."""
        written = value_at(document.tree, path)
        if value is not None and not _says(written, value):
            return
        node = node_below(node_of(target.partition("/")[0]), key)
        for leaf in leaves(written if value is None else value, node, key, path):
            place = _renamed(leaf.key, renamed) if renamed else leaf.key
            stated = self.stated.setdefault((target, place), [])
            if not (stated and author.kind == "patch" and _is_address(leaf)):
                stated.append(Stated(leaf.value, author, document, leaf.path, early))

    def of(self, at: At, value: Any, *, copied: bool) -> Stated | None:
        """Who last stated `value`; with `copied`, among what plugins copy."""
        found = reversed(self.stated.get(at, []))
        return next((each for each in found if same(each.value, value) and not (copied and each.early)), None)

    def before(self, at: At, last: Stated | None) -> Iterator[Stated]:
        """Earlier statements about a leaf, up to the one that lasted; None means none did."""
        for each in self.stated.get(at, []):
            if each is last:
                return
            yield each


def sources_of(plan: Plan, objects: Sequence[Tree], documents: Iterable[Document]) -> Sources:
    """Everything that the documents state about `objects`, with the winner last. `documents` may contain companions and
    key files."""
    sources = Sources(plan)
    for tree in objects:
        name = object_name(tree)
        for source in (("environment", ("spec", "namespace")), ("trainjob", ("metadata", "namespace"))):
            sources.copy(source, name, ("metadata", "namespace"))
        sources.copy(("trainjob", ("metadata", "name")), name, ("metadata", "name"))
    for copy in plan.ledger.copies or ():
        target = copy.object or f"JobSet/{plan.name}"
        sources.copy(copy.source, target, copy.key, copy.value, early=not copy.actor)
    _add_whole_objects(sources, objects, list(documents))
    return sources


def _add_whole_objects(sources: Sources, objects: Sequence[Tree], documents: Sequence[Document]) -> None:
    """Encrypted Secrets, the job's companions, and those of its runtime under the names of the job's own copies."""
    plan = sources.plan
    for document in documents if plan.destination.document else ():
        for tree in objects:
            if tree is document.tree:
                sources.add(Owner("environment", plan.destination.name), document, (), object_name(tree))
    for target, document in plan.beside.items():
        sources.add(Owner("trainjob", plan.job.name), document, (), target)
    companions = [each for each in documents if runtime_of(each.tree) == plan.runtime.name]
    names = own_names((each.tree for each in companions), plan.name)
    for document in companions:
        target = f"{document.tree['kind']}/{names[document.tree['metadata']['name']]}"
        sources.add(Owner("runtime", plan.runtime.name), document, (), target, early=True, renamed=names)


def _says(written: Any, value: Any) -> bool:
    """Whether a document's value means `value`: the same in another spelling, or `true`, which requests it."""
    return written is True or (written is not None and str(written) == str(value))


def _is_address(leaf: Leaf) -> bool:
    """Whether a leaf only identifies a list entry."""
    entry = leaf.key[-2] if len(leaf.key) > 1 else ""
    return isinstance(entry, tuple) and entry[0] == str(leaf.value)


def _renamed(key: Key, names: Mapping[str, str]) -> Key:
    return tuple((names.get(part[0], part[0]), part[1]) if isinstance(part, tuple) else part for part in key)
