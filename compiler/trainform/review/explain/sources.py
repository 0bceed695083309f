"""What the documents of a job state, leaf by leaf of the objects that it becomes.

Whoever reads a rendered value wants to know where to change it: not the plugin that copied it, but the line of
the TrainJob, runtime, patch or Environment that it was copied from. All such copies stand in this one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.k8s.tree import value_at
from trainform.review.explain.leaves import Key, Leaf, leaves, node_below, node_of, same
from trainform.review.explain.owner import Owner, OwnerKind
from trainform.review.explain.trace import At

if TYPE_CHECKING:
    from trainform.diagnostics import Path
    from trainform.source import Document


class Author(NamedTuple):
    """Who wrote a part of a document."""

    kind: OwnerKind
    name: str
    document: Document


class Stated(NamedTuple):
    """A value that a document states; `early` where plugins find it in the template, and do not copy it."""

    value: Any
    author: Author
    path: Path
    early: bool

    def owner(self) -> Owner:
        """With its file and line, which takes a second parse of the file."""
        kind, name, document = self.author
        return Owner(kind, name, None, document.file, document.position(self.path).line)


@dataclass(frozen=True, slots=True)
class Sources:
    """What is stated of each leaf: what comes later wins."""

    stated: dict[At, list[Stated]] = field(default_factory=dict)

    def copy(
        self,
        author: Author,
        source: Path,
        target: str,
        key: Key,
        *,
        early: bool = False,
        spelled: Callable[[Any], Any] | None = None,
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        """The elements at `source` of the author's document become those at `key` of the object `target`.

        `spelled` says how a value is written there, where that differs, `renamed` what list entries are called.
        """
        tree = value_at(author.document.tree, source)
        node = node_below(node_of(target.partition("/")[0]), key)
        for leaf in leaves(tree, node, key, source):
            value = spelled(leaf.value) if spelled else leaf.value
            place = _renamed(leaf.key, renamed) if renamed else leaf.key
            stated = self.stated.setdefault((target, place), [])
            if not (stated and author.kind == "patch" and _is_address(leaf)):
                stated.append(Stated(value, author, leaf.path, early))

    def of(self, at: At, value: Any, *, copied: bool) -> Stated | None:
        """Who stated `value` last; with `copied`, among what plugins copy."""
        found = reversed(self.stated.get(at, []))
        return next((each for each in found if same(each.value, value) and not (copied and each.early)), None)

    def before(self, at: At, last: Stated | None) -> Iterator[Stated]:
        """What was stated of a leaf, up to the one that lasted; None means: none of them did."""
        for each in self.stated.get(at, []):
            if each is last:
                return
            yield each


def _is_address(leaf: Leaf) -> bool:
    """Whether a leaf says no more than which entry of a list is meant."""
    entry = leaf.key[-2] if len(leaf.key) > 1 else ""
    return isinstance(entry, tuple) and entry[0] == str(leaf.value)


def _renamed(key: Key, names: Mapping[str, str]) -> Key:
    return tuple((names.get(part[0], part[0]), part[1]) if isinstance(part, tuple) else part for part in key)
